"""The checks can fail: whatever is damaged, something says what it is.

A changed snapshot, too: see `test_frozen`.
"""

import pickle
import shutil
from copy import deepcopy
from importlib import import_module

import pytest
import torch

from tests import complaints, mutants
from tests.nbval import check, check_files
from tests.notebooks import cells, committed, printed
from tutorial import builder
from tutorial.steps import ROOT, Step, all_steps, find_step

FIRST = find_step(1)

# Each step.  Only what notebooks execute is damaged: what they show is still
# the committed text, so the diff of a damaged file can never be what turns
# the check red.


def damages():
    for step in all_steps():
        module = import_module(f"tests.mistakes.step_{step.number:02d}")
        for number, (old, new) in enumerate(module.DAMAGES, 1):
            yield pytest.param(step, old, new, id=f"{step.name}-{number}")


@pytest.mark.parametrize("step, old, new", list(damages()))
def test_a_damaged_step_is_caught_by_a_printed_result(step, old, new):
    assert step.snapshot.count(old) == 1
    text = step.snapshot.replace(old, new)
    with mutants.executed(step, text) as where:
        green, output = check([step], **where)
    assert not green
    assert "mismatch 'stdout'" in output
    assert "mismatch 'text/html'" not in output


def test_every_step_is_damaged():
    damaged = [parameters.values[0] for parameters in damages()]
    assert sorted(set(s.number for s in damaged)) == [
        step.number for step in all_steps()
    ]


def test_a_changed_comment_is_no_mistake():
    """What looks for mistakes must not take a harmless change for one."""
    comment, other = "  # (..., q, k)", "  # for each query, each key"
    assert FIRST.snapshot.count(comment) == 1
    text = FIRST.snapshot.replace(comment, other)
    assert not any(mutants.caught(FIRST, text).values())


# A notebook and its source


@pytest.fixture
def notebook():
    """A copy of a committed one, to damage."""
    return deepcopy(committed(FIRST))


@pytest.fixture
def source(tmp_path):
    """A copy of what it is built from, to damage."""
    return Step(1, shutil.copytree(FIRST.folder, tmp_path / FIRST.name))


def edit(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8", newline="\n")


def test_the_copies_are_sound(notebook, source):
    assert complaints.not_as_built(source, notebook) == []
    assert complaints.not_run(notebook) == []
    assert complaints.not_printed(source, notebook) == []
    assert complaints.foreign_text(notebook) == []
    assert complaints.foreign_output(notebook) == []


def test_an_output_edited_by_hand_is_caught(notebook, tmp_path):
    cell = next(c for c in cells(notebook, "code") if "22.6" in printed(c))
    (output,) = cell.outputs
    output.text = output.text.replace("22.6", "22.7")
    path = tmp_path / "notebooks" / "edited.ipynb"
    path.parent.mkdir()
    path.write_bytes(builder.serialised(notebook))
    (tmp_path / "tutorial").symlink_to(ROOT / "tutorial")
    green, said = check_files([path])
    assert not green
    assert "mismatch 'stdout'" in said and "22.7" in said


def test_a_lesson_edited_without_a_rebuild_is_caught(notebook, source):
    edit(source.lesson_file, "## 왜 √d_k로 나누는가", "## 왜 나누는가")
    (complaint,) = complaints.not_as_built(source, notebook)
    assert "run `make notebooks`" in complaint


def test_a_number_that_no_cell_prints_is_caught(notebook, source):
    edit(source.lesson_file, "편차는 `22.6`이다", "편차는 `22.7`이다")
    assert complaints.not_printed(source, notebook) == ["22.7 is not printed"]


def test_a_part_of_a_printed_number_is_not_printed(notebook, source):
    edit(source.lesson_file, "편차는 `22.6`이다", "편차는 `2.6`이다")
    assert complaints.not_printed(source, notebook) == ["2.6 is not printed"]


def test_a_cell_that_never_ran_is_caught(notebook):
    cell = cells(notebook, "code")[3]
    cell.execution_count, cell.outputs = None, []
    (complaint,) = complaints.not_run(notebook)
    assert complaint.startswith("code cell 4 has not run")


@pytest.mark.parametrize("before", ["\n\n", " "], ids=["block", "inline"])
def test_a_script_in_the_text_is_caught(notebook, before):
    cells(notebook, "markdown")[1].source += f"{before}<script>1</script>"
    complaint = "<script> in the text"
    assert complaint in complaints.foreign_text(notebook)


def test_a_script_in_an_output_is_caught(notebook):
    output = next(
        output
        for cell in cells(notebook, "code")
        for output in cell.outputs
        if "text/html" in output.get("data", {})
    )
    output.data["text/html"] += "<script>1</script>"
    complaint = "<script> in an output"
    assert complaints.foreign_output(notebook) == [complaint]


# The repository


def test_a_pickled_file_is_caught(tmp_path):
    """By its name; and by what it holds, whatever its name."""
    (tmp_path / "old.pt").touch()
    (tmp_path / "vocab.json").write_bytes(pickle.dumps(["a", "b"]))
    torch.save(torch.ones(1), tmp_path / "weights")
    (tmp_path / "notes.txt").write_text("no pickle.", encoding="utf-8")
    assert complaints.pickled(tmp_path) == [
        "old.pt is pickled",
        "vocab.json is pickled",
        "weights is pickled",
    ]
