// Before anything is drawn: the theme that was chosen here last time.
try {
  const theme = localStorage.getItem("theme");
  if (theme) document.documentElement.dataset.theme = theme;
} catch {
  // No storage, as with some browsers' file: pages: the system's choice.
}
