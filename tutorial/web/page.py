"""One executed notebook as the article of a web page.

nbconvert does the work, with the template `templates/lesson`; here stands
what it leaves to do: maths without a script, links between pages, anchors.
"""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import unquote

from bs4 import BeautifulSoup, Tag
from jinja2 import pass_context
from latex2mathml.converter import convert
from nbconvert import HTMLExporter
from nbconvert.filters.markdown_mistune import (
    IPythonRenderer,
    MarkdownWithMath,
)
from nbformat import NotebookNode
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from traitlets.config import Config

from tutorial.steps import Step, all_steps

CONFIG = Config(
    HTMLExporter={
        "template_name": "lesson",
        "extra_template_basedirs": [str(Path(__file__).parent / "templates")],
    },
    NbConvertBase={
        "display_data_priority": ["image/png", "text/html", "text/plain"]
    },
    ExtractOutputPreprocessor={
        "enabled": True,
        "extract_output_types": {"image/png"},
        "output_filename_template": "{unique_key}_{cell_index}_{index}"
        "{extension}",
    },
)
KINDS = {
    "step.diff()": "viewer",
    'import sys; sys.path.insert(0, "..")': "setup",
}
VIEWER = "<!-- viewer -->"


@dataclass(frozen=True)
class Lesson:
    """What a page shows of a notebook."""

    facts: str  # the source section, how long it takes: HTML
    article: str  # HTML, with VIEWER where the change is to be seen
    figures: dict[str, bytes]  # path in the site: PNG


class MathRenderer(IPythonRenderer):
    """Markdown with MathML, which a browser draws by itself."""

    def inline_math(self, body):
        return mathml(body, "inline")

    def block_math(self, body):
        return mathml(body, "block")


def mathml(body: str, display: str) -> str:
    """With the thin space of TeX between log and what it is of."""
    return re.sub(
        "(<mi>(?:log|sin|cos)</mi>)(?=<(?:mi|msub|mfrac)>)",
        r'\1<mspace width="0.17em" />',
        convert(body, display=display),
    )


class LessonExporter(HTMLExporter):
    @pass_context
    def markdown2html(self, context, source):
        return markdown(source)


@cache
def exporter() -> LessonExporter:
    return LessonExporter(config=CONFIG)


def markdown(source: str) -> str:
    renderer = MathRenderer(escape=False, anchor_link_text="#")
    return MarkdownWithMath(renderer=renderer).render(source)


def lesson(step: Step, notebook: NotebookNode) -> Lesson:
    """The article of an executed notebook of this step."""
    head, *cells, _ = notebook.cells  # head and foot are the page's own here
    _, _, facts, _ = head.source.split("\n\n")
    demo = step.demo_file.read_text(encoding="utf-8").strip()
    for cell in cells:
        first_line = cell.source.split("\n")[0]
        kind = "demo" if cell.source == demo else KINDS.get(first_line)
        cell.metadata["kind"] = kind
    resources = {
        "unique_key": f"{step.number:02d}",
        "output_files_dir": "figures",
        "viewer": VIEWER,
        "demo": numbered(demo),
    }
    shown = NotebookNode(notebook, cells=cells)
    html, resources = exporter().from_notebook_node(shown, resources)
    soup = BeautifulSoup(html, "html.parser")
    finish(soup)
    link_steps(soup, step)
    keep_whole(soup)
    return Lesson(markdown(facts), str(soup), resources["outputs"])


def numbered(code: str) -> str:
    return highlight(code, PythonLexer(), HtmlFormatter(linenos="inline"))


def finish(soup: BeautifulSoup) -> None:
    """What is the same everywhere in an article."""
    for link in soup.find_all("a", href=True):
        link["href"] = (
            link["href"].replace(".ipynb", ".html").removeprefix("../")
        )
    for anchor in soup.find_all("a", class_="anchor-link"):
        anchor["aria-label"] = "이 제목으로 가는 링크"
        anchor.parent["id"] = unquote(anchor.parent["id"])
        anchor["href"] = "#" + anchor.parent["id"]
    for header in soup.find_all("th"):
        if not header.get_text(strip=True):
            header.name = "td"  # the empty corner heads nothing
    for wide in soup.find_all(["table", "math"]):
        if wide.name == "table" or wide.get("display") == "block":
            wide.wrap(soup.new_tag("div", attrs={"class": "scroll"}))
    for part in soup.find_all(is_scrolled):
        part["tabindex"] = "0"  # a keyboard reaches what is off the edge


def link_steps(soup: BeautifulSoup, own: Step) -> None:
    """`6단계에서 보았듯이` leads to step 6."""
    pages = {s.number: f"{s.name}.html" for s in all_steps() if s != own}
    for text in soup.find_all(string=re.compile(r"\d단계")):
        if text.find_parent(["a", "code", "pre", "summary"]):
            continue
        parts = []
        for piece in re.split(r"(\d+단계)", text):
            number = re.fullmatch(r"(\d+)단계", piece)
            if number and int(number[1]) in pages:
                href = pages[int(number[1])]
                link = soup.new_tag("a", href=href, attrs={"class": "step"})
                link.string = piece
                parts.append(link)
            else:
                parts.append(piece)
        text.replace_with(*parts)


def keep_whole(soup: BeautifulSoup) -> None:
    """No new line inside `-inf`, Pre-LN or a shape: they are short, and
    read as something else when they are parted."""
    for code in soup.find_all("code"):
        text = code.get_text()
        if len(text) <= 12 and not code.find_parent("pre"):
            code["class"] = "whole"
    for cell in soup.find_all("td"):
        if re.fullmatch(r"\([\d, ]{,14}\)", cell.get_text()):
            cell["class"] = "whole"
    word = r"(?<![A-Za-z-])([A-Za-z]{1,6}-[A-Za-z]{1,6})(?![A-Za-z-])"
    for text in soup.find_all(string=re.compile(word)):
        if text.find_parent(["code", "pre", "math", "svg"]):
            continue
        parts = re.split(word, text)
        for i in range(1, len(parts), 2):
            whole = soup.new_tag("span", attrs={"class": "whole"})
            whole.string = parts[i]
            parts[i] = whole
        text.replace_with(*parts)


def is_scrolled(tag: Tag) -> bool:
    return tag.name == "pre" or "scroll" in tag.get("class", [])
