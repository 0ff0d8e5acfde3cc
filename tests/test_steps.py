"""Steps, activation and what a notebook can ask of `step`."""

import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tests.notebooks import cell_of_demo, printed
from tests.snapshots import each_step
from tutorial import lesson, steps
from tutorial.errors import TutorialError
from tutorial.steps import all_steps, find_step, neighbours
from tutorial.viewer import top_level


def test_steps_are_numbered_without_a_gap():
    numbers = [step.number for step in all_steps()]
    assert numbers == list(range(1, len(numbers) + 1))


@pytest.mark.parametrize("number", [0, 19, -1, "7"])
def test_an_unknown_step_lists_the_valid_ones(number):
    with pytest.raises(TutorialError, match="있는 단계: 1, 2, 3"):
        lesson(number)


def test_neighbours():
    before, after = neighbours(find_step(2))
    assert (before.number, after.number) == (1, 3)
    assert neighbours(all_steps()[0])[0] is None
    assert neighbours(all_steps()[-1])[1] is None


@each_step
def test_title_and_source(step):
    assert step.title
    assert step.source_link.startswith("[")
    assert steps.SOURCE_PAGE + "#" in step.source_link


def test_a_lesson_makes_its_snapshot_the_transformer():
    """Also after another step was active in the same kernel."""
    for number in (7, 2, 9):
        lesson(number)
        import transformer

        text = find_step(number).snapshot
        assert set(top_level(text)) <= set(vars(transformer))
        assert hasattr(transformer, "Encoder") == (number >= 7)
        assert transformer.__file__ == str(find_step(number).snapshot_file)


def test_executed_steps_can_lie_elsewhere(tmp_path, monkeypatch):
    folder = tmp_path / "01_attention"
    folder.mkdir()
    (folder / "transformer.py").write_text("x = 1\n", encoding="utf-8")
    monkeypatch.setenv(steps.EXECUTED_STEPS, str(tmp_path))
    step = lesson(1)
    assert sys.modules["transformer"].x == 1
    assert "def attention" in repr(step.diff())


def test_broken_replaces_one_piece_of_the_step():
    module = lesson(1).broken(" / math.sqrt(d_k)", "")
    assert module.attention is not sys.modules["transformer"].attention


@pytest.mark.parametrize(
    "piece", ["no such code", "query", "3.2.1).\n    Shapes"]
)
def test_broken_wants_a_piece_that_occurs_once(piece):
    with pytest.raises(TutorialError, match="꼭 한 번"):
        lesson(1).broken(piece, "")


def test_a_check_looks_at_its_own_step(capsys):
    """Also when another lesson was opened since."""
    step = lesson(3)
    lesson(1)
    step.check(1, lambda x, h: x.unflatten(-1, (h, -1)).transpose(1, 2))
    assert "맞다" in capsys.readouterr().out
    assert not hasattr(sys.modules["transformer"], "clones")


def test_a_check_leaves_torch_as_it_was(capsys):
    def disturb(query, key, value):
        torch.manual_seed(3)
        torch.set_default_dtype(torch.float64)
        torch.set_grad_enabled(False)

    state = torch.get_rng_state()
    lesson(1).check(1, disturb)
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.get_default_dtype() == torch.float32
    assert torch.is_grad_enabled()


def test_a_long_error_of_an_answer_is_cut(capsys):
    def fail(query, key, value):
        raise RuntimeError("x" * 5000)

    lesson(1).check(1, fail)
    assert "RuntimeError" in (said := capsys.readouterr().out)
    assert len(said) < 300


def test_a_new_process_imports_the_same_step():
    lesson(7)
    first = Path(sys.path[0])
    lesson(2)
    assert Path(sys.path[0]) == find_step(2).folder
    assert str(first) not in sys.path


def test_the_code_of_a_broken_step_can_be_shown():
    broken = lesson(1).broken("softmax(dim=-1)", "softmax(dim=-2)")
    assert "softmax(dim=-2)" in inspect.getsource(broken.attention)


@each_step
def test_a_snapshot_keeps_the_names_of_the_one_before(step):
    before, _ = neighbours(step)
    if before:
        assert set(top_level(before.snapshot)) <= set(top_level(step.snapshot))


@each_step
def test_the_demo_runs_alone_and_prints_what_the_notebook_shows(
    step, tmp_path
):
    """In a clean process with nothing but the two files beside it, and what
    they look for above; warnings are errors, the console Korean Windows."""
    for name in ("data", "models", "tutorial"):
        (tmp_path / name).symlink_to(steps.ROOT / name)
    for path in (step.snapshot_file, step.demo_file):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    result = subprocess.run(
        [sys.executable, "-B", "-W", "error", "demo.py"],
        cwd=tmp_path,
        env={**clean_environment(), "PYTHONIOENCODING": "cp949"},
        capture_output=True,
    )
    assert result.stderr.decode("cp949", "replace") == ""
    output = result.stdout.decode("cp949").replace("\r\n", "\n")
    # A line of progress is rewritten; what stays is behind the last return.
    lines = [line.split("\r")[-1] for line in output.split("\n")]
    assert lines == printed(cell_of_demo(step)).split("\n")


def clean_environment():
    return {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}


def test_a_kernel_without_the_packages_says_so(tmp_path):
    """`-S` hides what is installed, as another kernel would."""
    result = subprocess.run(
        [sys.executable, "-S", "-c", "from tutorial import lesson"],
        cwd=steps.ROOT,
        env={**clean_environment(), "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
    )
    assert "torch가 없다" in result.stderr and ".venv" in result.stderr
