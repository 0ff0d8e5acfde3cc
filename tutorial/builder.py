"""From `lesson.md` and `demo.py` to an executed notebook.

Jupytext reads the lesson, this file adds what is the same on every page (the
head, the first cell, the way onward), nbclient executes it.
"""

import hashlib
from collections import Counter
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import (
    CellExecutionError,
    CellTimeoutError,
    DeadKernelError,
)
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tutorial import transformer_map
from tutorial.errors import TutorialError
from tutorial.steps import ROOT, Step, all_steps, neighbours
from tutorial.viewer import Diff

NOTEBOOKS = ROOT / "notebooks"
CONTENTS = "00_contents"
CELL_TIMEOUT = 120  # seconds
READING_SPEED = 350  # characters of prose a minute, with a look at the code

FIRST_CELL = """\
import sys; sys.path.insert(0, "..")
from tutorial import lesson  # 실패하면: 이 저장소에서 make lab으로 연다
step = lesson({number})  # 여기부터 `transformer`는 {number}단계의 파일이다"""

# What JupyterLab itself stores: without it, opening marks the file as changed.
METADATA = {
    "kernelspec": {
        "display_name": "Python 3 (ipykernel)",
        "language": "python",
        "name": "python3",
    },
    "language_info": {
        "codemirror_mode": {"name": "ipython", "version": 3},
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "name": "python",
        "nbconvert_exporter": "python",
        "pygments_lexer": "ipython3",
        "version": "3.11.7",
    },
}


def notebook_file(step: Step) -> Path:
    return NOTEBOOKS / f"{step.name}.ipynb"


def build(step: Step) -> NotebookNode:
    """The step's notebook, not yet executed."""
    text = step.lesson_file.read_text(encoding="utf-8")
    lesson = jupytext.reads(text, fmt="md:myst")
    for cell in lesson.cells:
        if cell.metadata.pop("load", None) == "demo.py":
            cell.source = step.demo_file.read_text(encoding="utf-8").strip()
    first = new_code_cell(FIRST_CELL.format(number=step.number))
    cells = [head(step, lesson), first, *lesson.cells, foot(step)]
    return with_ids(new_notebook(cells=cells, metadata=METADATA))


def build_contents() -> NotebookNode:
    """The contents page: every step that exists and what it adds."""
    rows = ["| | 단계 | 원본 | `transformer.py` |", "|---|---|---|---|"]
    for step in all_steps():
        before, _ = neighbours(step)
        title = f"[{step.title}]({step.name}.ipynb)"
        counts = Diff(before, step).counts()
        cells = [f"{step.number:02d}", title, step.source_link, f"`{counts}`"]
        rows.append("| " + " | ".join(cells) + " |")
    last = all_steps()[-1]
    text = f"# 차례\n\n{map_image(last)}\n\n" + "\n".join(rows)
    cells = [new_markdown_cell(text)]
    return with_ids(new_notebook(cells=cells, metadata=METADATA))


def head(step: Step, lesson: NotebookNode) -> NotebookNode:
    seconds = step.front_matter["run_seconds"]
    text = [
        f"# {step.label} · {step.title}",
        navigation(step),
        f"원본: {step.source_link} · 읽기 약 {reading_minutes(lesson)}분 · "
        f"실행 약 {seconds}초",
        map_image(step),
    ]
    return new_markdown_cell("\n\n".join(text))


def foot(step: Step) -> NotebookNode:
    return new_markdown_cell(navigation(step))


def navigation(step: Step) -> str:
    before, after = neighbours(step)
    links = [f"[차례]({CONTENTS}.ipynb)"]
    if before:
        links.insert(0, f"[← {before.title}]({before.name}.ipynb)")
    if after:
        links.append(f"[{after.title} →]({after.name}.ipynb)")
    return " · ".join(links)


def map_image(step: Step) -> str:
    alt = transformer_map.description(step.number)
    return f"![{alt}](maps/{step.number:02d}.png)"


def reading_minutes(lesson: NotebookNode) -> int:
    prose = [c.source for c in lesson.cells if c.cell_type == "markdown"]
    characters = sum(len("".join(text.split())) for text in prose)
    return max(1, round(characters / READING_SPEED))


def with_ids(notebook: NotebookNode) -> NotebookNode:
    """Give each cell an id that depends on its text only."""
    seen = Counter()
    for cell in notebook.cells:
        key = (cell.cell_type, cell.source)
        seen[key] += 1
        text = "\0".join([*key, str(seen[key])])
        cell.id = hashlib.sha256(text.encode("utf-8")).hexdigest()[:8]
    nbformat.validate(notebook)
    return notebook


def execute(notebook: NotebookNode, name: str) -> None:
    """Run all cells as a reader in `notebooks/` would; add their outputs."""
    client = NotebookClient(
        notebook,
        timeout=CELL_TIMEOUT,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,  # else one print may be stored as two
        extra_arguments=["--log-level=ERROR"],  # no note on TCP per notebook
        resources={"metadata": {"path": str(NOTEBOOKS)}},
    )
    try:
        client.execute()
    except CellExecutionError:
        pass  # the cell holds its error, which is named below
    except (CellTimeoutError, DeadKernelError) as error:
        raise TutorialError(f"{name}.ipynb: {error}") from None
    except (AssertionError, AttributeError):
        if client.km is None:  # its kernel is gone: nbclient took a Ctrl-C
            raise KeyboardInterrupt from None
        raise
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for number, cell in enumerate(code, 1):
        for output in cell.outputs:
            where = f"{name}.ipynb, 코드 셀 {number}"
            if output.output_type == "error":
                what = f"{output.ename}: {output.evalue}"
                raise TutorialError(f"{where}: {what}")
            if output.get("name") == "stderr":
                raise TutorialError(f"{where}: 경고가 찍혔다: {output.text}")
    notebook.metadata["language_info"] = METADATA["language_info"]


def serialised(notebook: NotebookNode) -> bytes:
    return (nbformat.writes(notebook) + "\n").encode("utf-8")
