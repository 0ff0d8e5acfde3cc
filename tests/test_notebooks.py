"""A committed notebook is what its source builds, no more and no less."""

import json
import re

import nbformat
import pytest
from bs4 import BeautifulSoup

from tests.notebooks import code_cells, committed
from tests.snapshots import each_step
from tutorial import builder
from tutorial.errors import TutorialError
from tutorial.steps import Step, all_steps, find_step


def without_outputs(notebook):
    kept = ("cell_type", "id", "metadata", "source")
    return [{k: cell[k] for k in kept} for cell in notebook.cells]


@each_step
def test_notebook_and_source_agree(step):
    assert without_outputs(committed(step)) == without_outputs(
        builder.build(step)
    ), "run `make notebooks`"


def test_contents_page_agrees():
    path = builder.NOTEBOOKS / f"{builder.CONTENTS}.ipynb"
    assert path.read_bytes() == builder.serialised(builder.build_contents())


def test_there_is_a_notebook_for_each_step_and_no_other():
    found = {path.stem for path in builder.NOTEBOOKS.glob("*.ipynb")}
    assert found == {s.name for s in all_steps()} | {builder.CONTENTS}


@each_step
def test_stored_as_jupyter_stores(step):
    """No kernel of this machine, no timing, what JupyterLab would add."""
    raw = builder.notebook_file(step).read_text(encoding="utf-8")
    assert json.loads(raw)["metadata"] == builder.METADATA
    assert raw == nbformat.writes(committed(step)) + "\n"


ALLOWED = {
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


@each_step
def test_markup_survives_a_notebook_that_is_not_trusted(step):
    """Only tags, attributes and styles that Jupyter's sanitiser keeps."""
    rich = [
        output.data["text/html"]
        for cell in code_cells(step)
        for output in cell.outputs
        if "text/html" in output.get("data", {})
    ]
    assert rich, "no diff"
    for html in rich:
        for tag in BeautifulSoup(html, "html.parser").find_all():
            assert set(tag.attrs) <= ALLOWED[tag.name]
            style = tag.get("style", "")
            assert not re.search(r"var\(|position|(?<!-)color:", style)


def lesson_folder(tmp_path, body, demo="print(1)\n"):
    folder = tmp_path / "01_attention"
    folder.mkdir()
    front = '---\ntitle: "T"\nsource: {name: N, anchor: a}\nrun_seconds: 1\n'
    text = f"{front}---\n\n{body}"
    (folder / "lesson.md").write_text(text, encoding="utf-8")
    (folder / "demo.py").write_text(demo, encoding="utf-8")
    return Step(1, folder)


def test_a_build_has_stable_cells(tmp_path):
    cell = "```{code-cell} python\n%s\n```\n\n"
    demo, same = cell % ":load: demo.py", cell % "x = 1"
    body = f"글\n\n{demo}둘째\n\n{same}{same}"
    step = lesson_folder(tmp_path, body)
    cells = builder.build(step).cells
    assert cells == builder.build(step).cells
    ids = [cell.id for cell in cells]
    assert len(set(ids)) == len(ids)
    sources = [cell.source for cell in cells]
    assert sources[3] == "print(1)" and sources[5:7] == ["x = 1", "x = 1"]
    step.lesson_file.write_text(
        step.lesson_file.read_text(encoding="utf-8").replace("둘째", "셋째"),
        encoding="utf-8",
    )
    changed = [cell.id for cell in builder.build(step).cells]
    assert sum(a != b for a, b in zip(ids, changed, strict=True)) == 1


def test_a_failing_cell_is_named():
    notebook = builder.build(find_step(1))
    notebook.cells[-2:] = [nbformat.v4.new_code_cell("1 / 0")]
    notebook.cells[2:-1] = []
    with pytest.raises(TutorialError, match="x.ipynb.* 2: ZeroDivisionError"):
        builder.execute(notebook, "x")


def test_a_warning_stops_the_build():
    notebook = builder.build(find_step(1))
    code = "import sys; print('□', file=sys.stderr)"
    notebook.cells = [nbformat.v4.new_code_cell(code)]
    with pytest.raises(TutorialError, match="□"):
        builder.execute(notebook, "x")
