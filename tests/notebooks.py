"""Reading notebooks, above all the committed ones."""

from functools import lru_cache

import nbformat
from markdown_it import MarkdownIt
from markdown_it.token import Token
from nbformat import NotebookNode

from tutorial import builder
from tutorial.steps import Step


@lru_cache
def committed(step: Step) -> NotebookNode:
    path = builder.notebook_file(step)
    return nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)


def cells(notebook: NotebookNode, kind: str) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == kind]


def code_cells(step: Step) -> list[NotebookNode]:
    return cells(committed(step), "code")


def tokens(notebook: NotebookNode) -> list[Token]:
    """What its Markdown holds."""
    parser = MarkdownIt().enable("table")
    blocks = [
        token
        for cell in cells(notebook, "markdown")
        for token in parser.parse(cell.source)
    ]
    return [t for block in blocks for t in (block, *(block.children or []))]


def cell_of_demo(step: Step):
    source = step.demo_file.read_text(encoding="utf-8").strip()
    (cell,) = [c for c in code_cells(step) if c.source == source]
    return cell


def printed(cell) -> str:
    return "".join(o.text for o in cell.outputs if o.get("name") == "stdout")


def section(step: Step, heading: str) -> str:
    """The prose under one `## ` heading of the lesson."""
    text = step.lesson_file.read_text(encoding="utf-8")
    _, rest = text.split(f"\n## {heading}\n")
    return rest.split("\n## ")[0]
