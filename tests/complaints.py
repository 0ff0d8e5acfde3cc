"""What is wrong with a notebook or a folder: a sentence each, or none.

Tests ask this of what is committed, `test_goes_red` of damaged copies.
"""

import os
import re
import zipfile
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from bs4 import BeautifulSoup
from nbformat import NotebookNode

from tests.notebooks import cells, printed, section, tokens
from tutorial import builder
from tutorial.steps import Step

FOLDS = {"<details>", "</details>", "<summary>", "</summary>"}
KEPT_BY_JUPYTER = {
    "p": set(),
    "code": set(),
    "b": set(),
    "i": set(),
    "a": {"href"},
    "details": {"open"},
    "summary": {"style"},
    "pre": {"style"},
    "ins": {"style"},
    "del": {"style"},
}
PICKLES = {".pt", ".pth", ".pkl", ".pickle", ".bin"}
MADE_HERE = {".git", ".venv", "build"}


def not_as_built(step: Step, notebook: NotebookNode) -> list[str]:
    """Cells that differ, apart from outputs, from what the source builds."""
    kept = ("cell_type", "id", "metadata", "source")
    found, expected = (
        [{key: cell[key] for key in kept} for cell in book.cells]
        for book in (notebook, builder.build(step))
    )
    return [
        f"cell {number} is not what the source builds: run `make notebooks`"
        for number, (a, b) in enumerate(zip_longest(found, expected), 1)
        if a != b
    ]


def not_run(notebook: NotebookNode) -> list[str]:
    """Code cells that did not run in order, without error or warning."""
    found = []
    for number, cell in enumerate(cells(notebook, "code"), 1):
        name = f"code cell {number}"
        if cell.execution_count != number:
            found.append(f"{name} has not run, or not in its turn")
        for output in cell.outputs:
            if output.output_type == "error":
                found.append(f"{name} stopped: {output.ename}")
            if output.get("name") == "stderr":
                found.append(f"{name} warned: {output.text}")
    return found


def not_printed(step: Step, notebook: NotebookNode) -> list[str]:
    """Numbers in code font in the claims that no cell prints."""
    claims = section(step, "실행 결과에서 볼 것")
    in_code_font = re.findall(r"`([^`]+)`", claims)
    numbers = [text for text in in_code_font if re.search(r"\d", text)]
    output = "\n".join(printed(cell) for cell in cells(notebook, "code"))
    found = []
    for number in numbers:
        alone = rf"(?<![\w.,^/−-]){re.escape(number)}(?![\w/^]|[.,]\d)"
        # In ASCII mode a particle such as 개 is not part of the word.
        if not re.search(alone, output, re.ASCII):
            found.append(f"{number} is not printed")
    return found


def foreign_text(notebook: NotebookNode) -> list[str]:
    """HTML in the text, but for bare folds: GitHub or VS Code drop it."""
    html = [t.content for t in tokens(notebook) if t.type.startswith("html_")]
    tags = set(re.findall(r"<[^>]*>", "\n".join(html)))
    return [f"{tag} in the text" for tag in sorted(tags - FOLDS)]


def foreign_output(notebook: NotebookNode) -> list[str]:
    """Tags, attributes and styles that Jupyter's sanitiser drops."""
    found = []
    for html in markup(notebook):
        for tag in BeautifulSoup(html, "html.parser").find_all():
            if tag.name not in KEPT_BY_JUPYTER:
                found.append(f"<{tag.name}> in an output")
                continue
            for name in sorted(set(tag.attrs) - KEPT_BY_JUPYTER[tag.name]):
                found.append(f"<{tag.name} {name}> in an output")
            style = tag.get("style", "")
            if re.search(r"var\(|position|(?<!-)color:", style):
                found.append(f'style="{style}" in an output')
    return found


def markup(notebook: NotebookNode) -> Iterator[str]:
    for cell in cells(notebook, "code"):
        for output in cell.outputs:
            if "text/html" in output.get("data", {}):
                yield output.data["text/html"]


def pickled(folder: Path) -> list[str]:
    """Files whose loading could run any code, by name or by content."""
    found = []
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(set(folders) - MADE_HERE)
        for path in (Path(here, name) for name in sorted(files)):
            if path.suffix in PICKLES or holds_a_pickle(path):
                name = path.relative_to(folder).as_posix()
                found.append(f"{name} is pickled")
    return found


def holds_a_pickle(path: Path) -> bool:
    content = path.read_bytes()
    if re.fullmatch(rb"\x80[\x02-\x05].*\.", content, re.DOTALL):
        return True
    if not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:  # what torch.save writes
        return any(name.endswith(".pkl") for name in archive.namelist())
