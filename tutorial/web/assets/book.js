"use strict";

const $ = (selector, within = document) => within.querySelector(selector);
const $$ = (selector, within = document) => [
  ...within.querySelectorAll(selector),
];

// An element: make("a", { href: "#L3", class: "no" }, "3", ...)
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== false && value !== null)
      element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

const scripts = {};

// Scripts, unlike fetch, also load from file: pages.
function load(name) {
  scripts[name] ??= new Promise((resolve, reject) => {
    const src = `assets/${name}`;
    document.head.append(
      make("script", { src, onload: resolve, onerror: reject }),
    );
  });
  return scripts[name];
}

// ---------------------------------------------------------------- theme

const dark = matchMedia("(prefers-color-scheme: dark)");

function theme() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ?? (dark.matches ? "dark" : "light");
}

function labelTheme() {
  const light = theme() === "light";
  $("[data-action=theme]").textContent = light ? "어둡게" : "밝게";
}

function switchTheme() {
  const next = theme() === "light" ? "dark" : "light";
  document.documentElement.dataset.theme = next;
  try {
    localStorage.setItem("theme", next);
  } catch {
    // Then it holds for this page.
  }
  labelTheme();
}

// --------------------------------------------------------------- search

// Particles follow a Korean word (어텐션을) and words are joined
// (셀프어텐션), so each end of a word in Hangul is found, too: with a search
// by prefix, that is any part of it.  Code is found by its parts as well.
function words(text) {
  const found = new Set();
  for (const [word] of text.matchAll(/[\p{L}\p{N}_]+/gu)) {
    found.add(word);
    for (const part of word.split(/_|(?<=[a-z])(?=[A-Z])/)) found.add(part);
    for (const [hangul] of word.matchAll(/[가-힣]{2,}/g))
      for (let i = 0; i < hangul.length - 1; i++) found.add(hangul.slice(i));
  }
  return [...found].filter(Boolean);
}

let index;

async function prepareSearch() {
  await Promise.all([load("minisearch.js"), load("search-index.js")]);
  index ??= new MiniSearch({
    fields: ["title", "text"],
    tokenize: words,
    searchOptions: {
      boost: { title: 4 },
      combineWith: "AND",
      prefix: true,
      tokenize: (text) => text.match(/[\p{L}\p{N}_]+/gu) ?? [],
    },
  });
  if (!index.documentCount) index.addAll(SECTIONS);
}

// Some text around the first place where a word of the query stands.
function excerpt(text, terms) {
  const low = text.toLowerCase();
  const places = terms.map((t) => low.indexOf(t)).filter((i) => i >= 0);
  const start = Math.max(0, Math.min(...places, text.length) - 30);
  const piece = text.slice(start, start + 120);
  return (start ? "…" : "") + marked(piece, terms);
}

function marked(text, terms) {
  const safe = make("span", {}, text).innerHTML;
  const wanted = terms.map((t) => t.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return safe.replace(
    new RegExp(wanted.join("|") || "$^", "gi"),
    (found) => `<mark>${found}</mark>`,
  );
}

function showResults(query, list, status) {
  const terms = query.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
  const results = terms.length ? index.search(query) : [];
  list.replaceChildren(
    ...results.slice(0, 30).map(({ id }) => {
      const { url, place, title, text } = SECTIONS[id];
      const line = make("span", { class: "excerpt" });
      line.innerHTML = excerpt(text, terms);
      const link = make("a", { href: url, onclick: closeDialogs });
      link.append(
        make("span", { class: "place" }, place),
        make("strong", {}, title),
        line,
      );
      return make("li", {}, link);
    }),
  );
  status.textContent = terms.length ? `${results.length}곳을 찾았다` : "";
  if (terms.length && !results.length)
    status.textContent = "찾은 곳이 없다. 더 짧은 낱말로 찾아보자.";
}

async function openSearch() {
  const list = make("ol", { class: "results" });
  const status = make("p", { role: "status" });
  const input = make("input", {
    type: "search",
    "aria-label": "찾을 말",
    placeholder: "찾을 말: 마스크, subsequent_mask",
    autocomplete: "off",
  });
  openDialog("찾기", input, status, list);
  try {
    await prepareSearch();
  } catch {
    status.textContent = "찾아보기 파일(assets/)을 읽지 못했다.";
    return;
  }
  input.addEventListener("input", () =>
    showResults(input.value, list, status),
  );
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") $("a", list)?.click();
  });
  showResults(input.value, list, status);
}

// ---------------------------------------------------- dialogs and keys

function openDialog(title, ...content) {
  closeDialogs();
  const close = make(
    "button",
    { type: "button", onclick: closeDialogs, "aria-label": "닫기" },
    "×",
  );
  const head = make("div", { class: "head" }, make("h2", {}, title), close);
  const dialog = make("dialog", { "aria-label": title }, head, ...content);
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close(); // beside it
  });
  document.body.append(dialog);
  dialog.showModal();
  $("input", dialog)?.focus();
}

function closeDialogs() {
  for (const dialog of $$("dialog")) dialog.close();
}

const KEYS = [
  ["ArrowLeft", "←", "앞 과", () => $("a[rel=prev]")?.click()],
  ["ArrowRight", "→", "다음 과", () => $("a[rel=next]")?.click()],
  ["c", "c", "차례", () => $("a.home").click()],
  ["/", "/", "찾기", openSearch],
  ["d", "d", "바뀐 곳과 파일 전체를 오가기", () => viewer?.switchMode()],
  ["t", "t", "밝게, 어둡게", switchTheme],
  ["?", "?", "이 목록", openKeys],
];

function openKeys() {
  const list = make("dl", { class: "keys" });
  for (const [, sign, meaning] of KEYS)
    list.append(
      make("dt", {}, make("kbd", {}, sign)),
      make("dd", {}, meaning),
    );
  openDialog("단축키", list);
}

function onKey(event) {
  const writing = event.target.closest("input, select, textarea");
  const scrolling =
    event.key.startsWith("Arrow") && isWide(event.target.closest("[tabindex]"));
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (writing || scrolling || $("dialog")) return;
  const action = KEYS.find(([key]) => key === event.key)?.[3];
  if (!action) return;
  event.preventDefault();
  action();
}

// The arrow keys move what is wider than its frame, if it has the focus.
function isWide(element) {
  return element && element.scrollWidth > element.clientWidth;
}

// --------------------------------------------------------- diff viewer

const SIGN = { "+": "+", "-": "−", " ": " " };
const TAG = { "+": "ins", "-": "del", " ": "span" };
const CONTEXT = 3; // as in the static diff
const FOLD = 6;

// All lines of two files, as [sign, line in old, line in new], from 1.
function compare(old, next) {
  const rows = [];
  const from = COURSE.files[old].lines.length;
  const to = COURSE.files[next].lines.length;
  let a = 0;
  let b = 0;
  for (const [i, j, n] of [...equalBlocks(old, next), [from, to, 0]]) {
    while (a < i) rows.push(["-", ++a, null]);
    while (b < j) rows.push(["+", null, ++b]);
    for (let k = 0; k < n; k++) rows.push([" ", ++a, ++b]);
  }
  return rows;
}

function equalBlocks(old, next) {
  if (old === next) return [[0, 0, COURSE.files[old].lines.length]];
  return COURSE.equal[`${old}-${next}`] ?? []; // nothing, with the empty file
}

function codeOf(file, line) {
  return COURSE.pool[COURSE.files[file].lines[line - 1]];
}

function numberHtml(n, link) {
  if (!n || !link) return `<span class="no">${n ?? ""}</span>`;
  return `<a class="no" id="L${n}" href="#L${n}" tabindex="-1">${n}</a>`;
}

function rowHtml(sign, numbers, code) {
  const tag = TAG[sign];
  return (
    `<${tag} class="row">${numbers}` +
    `<span class="sign">${SIGN[sign]}</span>` +
    `<span class="code">${code}\n</span></${tag}>`
  );
}

// Names of functions and classes that lines first to last of a file touch.
function namesInside(file, first, last) {
  const inside = COURSE.files[file].names
    .filter(([, start, end]) => start <= last && end >= first)
    .map(([name]) => name);
  if (!inside.length) return "머리말";
  if (inside.length > 3) return `${inside[0]} … ${inside.at(-1)}`;
  return inside.join(", ");
}

// [rows, folded] stretches: unchanged lines far from a change are folded.
function stretches(rows) {
  const near = new Set();
  rows.forEach(([sign], i) => {
    if (sign !== " ")
      for (let j = i - CONTEXT; j <= i + CONTEXT; j++) near.add(j);
  });
  const found = [];
  rows.forEach((row, i) => {
    const shown = near.has(i);
    if (found.at(-1)?.shown !== shown) found.push({ shown, rows: [] });
    found.at(-1).rows.push(row);
  });
  return found.map(({ shown, rows }) => [
    rows,
    !shown && rows.length >= FOLD,
  ]);
}

class Viewer {
  constructor(section) {
    this.section = section;
    this.listing = $(".listing", section);
    this.old = Number(section.dataset.old);
    this.new = Number(section.dataset.new);
    this.mode = "change";
    this.beside = false;
    this.addTools();
  }

  addTools() {
    const button = (text, onclick, attributes = {}) =>
      make("button", { type: "button", onclick, ...attributes }, text);
    this.modes = {
      change: button("바뀐 곳", () => this.show({ mode: "change" })),
      file: button("파일 전체", () => this.show({ mode: "file" })),
    };
    this.select = make("select", {
      onchange: () => this.show({ old: Number(this.select.value) }),
    });
    this.besideButton = button(
      "나란히",
      () => this.show({ beside: !this.beside }),
      { class: "beside" },
    );
    this.foldButton = button("모두 펼치기", () => this.foldAll());
    const tools = make("div", { class: "tools", role: "group" });
    tools.setAttribute("aria-label", "코드 변화 보는 법");
    tools.append(
      this.modes.change,
      this.modes.file,
      make("label", {}, "견줄 단계 ", this.select),
      this.besideButton,
      this.foldButton,
      copyButton(() => this.text()),
    );
    this.listing.before(tools);
    this.listing.addEventListener("toggle", () => this.label(), true);
    this.label();
    this.fillSelect();
  }

  // The titles come from the shared file, which is large: it is loaded when
  // the page is there already.
  async fillSelect() {
    await load("diffs.js");
    this.select.replaceChildren(
      ...COURSE.files.map(({ name, title }, number) =>
        make(
          "option",
          { value: number, selected: number === this.old },
          title ? `${String(number).padStart(2, "0")} ${title}` : name,
        ),
      ),
    );
    this.section.dataset.ready = "";
    if (/^#L\d+$/.test(location.hash)) this.toLine(location.hash);
  }

  async show(change) {
    Object.assign(this, change);
    await load("diffs.js");
    const html = {
      change: () => (this.beside ? this.besideHtml() : this.changeHtml()),
      file: () => this.fileHtml(),
    }[this.mode]();
    this.listing.innerHTML = html;
    this.label();
  }

  switchMode() {
    return this.show({ mode: this.mode === "file" ? "change" : "file" });
  }

  label() {
    for (const [mode, button] of Object.entries(this.modes))
      button.setAttribute("aria-pressed", mode === this.mode);
    this.besideButton.setAttribute("aria-pressed", this.beside);
    this.besideButton.disabled = this.mode === "file";
    this.select.disabled = this.mode === "file";
    this.foldButton.hidden = !$("details", this.listing);
    const closed = $("details:not([open])", this.listing);
    this.foldButton.textContent = closed ? "모두 펼치기" : "모두 접기";
    if (!this.rows) return;
    const count = (sign) => this.rows.filter(([s]) => s === sign).length;
    const total = COURSE.files[this.new].lines.length;
    $(".counts code", this.section).textContent =
      `+${count("+")} −${count("-")} · 파일 전체 ${total}줄`;
  }

  parts(html) {
    this.rows = compare(this.old, this.new);
    return stretches(this.rows)
      .map(([rows, folded]) => {
        const pre = `<pre>${html(rows)}</pre>`;
        if (!folded) return pre;
        const names = namesInside(this.new, rows[0][2], rows.at(-1)[2]);
        return (
          `<details><summary>⋯ ${names} ${rows.length}줄</summary>` +
          `${pre}</details>`
        );
      })
      .join("");
  }

  changeHtml() {
    return this.parts((rows) =>
      rows
        .map(([sign, a, b]) =>
          rowHtml(
            sign,
            numberHtml(a) + numberHtml(b, true),
            b ? codeOf(this.new, b) : codeOf(this.old, a),
          ),
        )
        .join(""),
    );
  }

  // Removed and added lines of one change stand in one row.
  besideHtml() {
    const half = (sign, number, code) =>
      number === undefined
        ? `<span class="half none"></span>`
        : `<span class="half">${rowHtml(
            sign,
            numberHtml(number, code.link),
            code.html,
          )}</span>`;
    const left = (sign, a) =>
      half(sign, a, { html: a && codeOf(this.old, a) });
    const right = (sign, b) =>
      half(sign, b, { html: b && codeOf(this.new, b), link: true });
    return this.parts((rows) => {
      const html = [];
      for (let i = 0; i < rows.length; ) {
        const removed = [];
        const added = [];
        while (rows[i]?.[0] === "-") removed.push(rows[i++][1]);
        while (rows[i]?.[0] === "+") added.push(rows[i++][2]);
        for (let k = 0; k < Math.max(removed.length, added.length); k++)
          html.push(
            `<span class="pair">${left("-", removed[k])}` +
              `${right("+", added[k])}</span>`,
          );
        if (rows[i]?.[0] === " ") {
          const [, a, b] = rows[i++];
          html.push(
            `<span class="pair">${left(" ", a)}${right(" ", b)}</span>`,
          );
        }
      }
      return html.join("");
    });
  }

  fileHtml() {
    const { lines, born } = COURSE.files[this.new];
    const rows = lines.map((_, i) => {
      const own = born[i] === this.new;
      const step = String(born[i]).padStart(2, "0");
      const origin =
        `<a class="no" href="${COURSE.files[born[i]].name}.html" ` +
        `tabindex="-1" title="${born[i]}단계에서 생긴 줄">${step}</a>`;
      return rowHtml(
        own ? "+" : " ",
        origin + numberHtml(i + 1, true),
        codeOf(this.new, i + 1),
      );
    });
    return `<pre>${rows.join("")}</pre>`;
  }

  foldAll() {
    const all = $$("details", this.listing);
    const open = all.some((details) => !details.open);
    for (const details of all) details.open = open;
    this.label();
  }

  async text() {
    await load("diffs.js");
    const holder = document.createElement("pre");
    holder.innerHTML = this.fileHtml();
    return codeIn(holder);
  }

  async toLine(hash) {
    if (!$(hash)) await this.show({ mode: "file" });
    const line = $(hash);
    if (!line) return;
    const folded = line.closest("details");
    if (folded) folded.open = true;
    this.label();
    goTo(line);
  }
}

function goTo(line) {
  $(".row.here")?.classList.remove("here");
  line.closest(".row").classList.add("here");
  const { top, bottom } = line.getBoundingClientRect();
  if (top < 60 || bottom > innerHeight) line.scrollIntoView({ block: "center" });
}

function codeIn(listing) {
  return $$(".code", listing)
    .map((code) => code.textContent)
    .join("");
}

function copyButton(text) {
  const button = make("button", { type: "button" }, "파일 복사");
  button.addEventListener("click", async () => {
    await copyText(await text());
    button.textContent = "복사했다";
    setTimeout(() => (button.textContent = "파일 복사"), 2000);
  });
  return button;
}

// navigator.clipboard is there on secure pages only.
async function copyText(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = make("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

// --------------------------------------------------------------- start

let viewer;

function start() {
  $("header .tools").hidden = false;
  labelTheme();
  dark.addEventListener("change", labelTheme);
  const actions = { search: openSearch, theme: switchTheme, keys: openKeys };
  for (const button of $$("[data-action]"))
    button.addEventListener("click", actions[button.dataset.action]);
  document.addEventListener("keydown", onKey);
  const section = $(".viewer:not(.file)");
  if (section) viewer = new Viewer(section);
  const file = $(".viewer.file");
  if (file) $(".counts", file).append(copyButton(() => codeIn(file)));
  const toHash = () => {
    if (!/^#L\d+$/.test(location.hash)) return;
    if (viewer) viewer.toLine(location.hash);
    else if ($(location.hash)) goTo($(location.hash));
  };
  addEventListener("hashchange", toHash);
  if (!viewer) toHash();
  addEventListener("beforeprint", () => {
    for (const details of $$("details")) details.open = true;
  });
}

start();
