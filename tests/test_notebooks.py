"""A committed notebook is what its source builds, no more and no less."""

import json

import nbformat
import pytest

from tests import complaints
from tests.notebooks import committed
from tests.snapshots import each_step
from tutorial import builder
from tutorial.errors import TutorialError
from tutorial.steps import Step, all_steps, find_step


@each_step
def test_notebook_and_source_agree(step):
    assert complaints.not_as_built(step, committed(step)) == []


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


@each_step
def test_markup_survives_a_notebook_that_is_not_trusted(step):
    assert list(complaints.markup(committed(step))), "no diff"
    assert complaints.foreign_output(committed(step)) == []


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
