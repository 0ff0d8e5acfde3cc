"""The web edition of the committed notebooks, built once for all tests."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from bs4 import BeautifulSoup

from tutorial import web
from tutorial.builder import NOTEBOOKS
from tutorial.steps import all_steps

LESSONS = [f"{step.name}.html" for step in all_steps()]
PAGES = ["index.html", *LESSONS, web.FILE_PAGE]


@cache
def kept() -> TemporaryDirectory:
    """It goes when this process does."""
    folder = TemporaryDirectory(
        prefix="한글 site-", ignore_cleanup_errors=True
    )
    web.build(NOTEBOOKS, Path(folder.name) / "site")
    return folder


def site() -> Path:
    return Path(kept().name) / "site"


@cache
def ids(page: str) -> list[str]:
    return [tag["id"] for tag in soup(page).find_all(id=True)]


@cache
def soup(page: str) -> BeautifulSoup:
    text = (site() / page).read_text(encoding="utf-8")
    return BeautifulSoup(text, "html.parser")
