"""`make matrix` and `make repeat` notice what they are there to notice."""

import os
import re
from contextlib import contextmanager

import pytest

from tests import matrix, repeat
from tutorial.steps import find_step


@pytest.fixture(autouse=True)
def results_elsewhere(monkeypatch, tmp_path):
    monkeypatch.setattr(matrix, "digest", lambda: "of this course")
    monkeypatch.setattr(matrix, "RESULTS", tmp_path)
    monkeypatch.setattr(repeat, "RESULTS", tmp_path / "repeat.jsonl")


def only(monkeypatch, **parts):
    """Let rows run these items only."""
    chosen = {part: (matrix.PARTS[part][0], parts[part]) for part in parts}
    monkeypatch.setattr(matrix, "PARTS", chosen)


@contextmanager
def damaged():
    with matrix.checkout("damaged") as setting:
        snapshot = setting.folder / "steps/01_attention/transformer.py"
        text = snapshot.read_text(encoding="utf-8")
        assert text.count("softmax(dim=-1)") == 1
        text = text.replace("softmax(dim=-1)", "softmax(dim=-2)")
        snapshot.write_text(text, encoding="utf-8")
        yield setting


def test_a_row_with_differences_is_red(monkeypatch, capsys):
    frozen = ("-m", "tutorial", "frozen")
    step = [find_step(1)]
    only(monkeypatch, notebooks=step, demos=step, commands=[frozen])
    rows = {"damaged": (list(matrix.PARTS), damaged)}
    monkeypatch.setattr(matrix, "ROWS", rows)
    assert matrix.main([]) == 1
    _, row, total = capsys.readouterr().out.splitlines()
    assert row.split()[:10] == ["damaged", *["0", "of", "1"] * 3]
    assert re.search(r"01_attention: [2-9] cells, mismatch '.*' - .* \+ ", row)
    assert total.startswith("0 rows without a difference, 1 with one")
    (kept,) = matrix.kept(matrix.RESULTS / "results.jsonl")
    notebook, demo, command = kept["differences"]
    assert demo.startswith("01_attention: ") and " in place of " in demo
    assert command.startswith("-m tutorial frozen: exit code 1")


def test_a_row_without_a_difference_is_not_run_again(monkeypatch, capsys):
    settings = []

    @contextmanager
    def counted():
        settings.append(matrix.Setting())
        yield settings[-1]

    only(monkeypatch, commands=[("-c", "print('같다')")])
    monkeypatch.setattr(matrix, "ROWS", {"same": (["commands"], counted)})
    assert matrix.main([]) == matrix.main(["same"]) == 0
    assert len(settings) == 1
    assert capsys.readouterr().out.count("1 of 1") == 2
    monkeypatch.setattr(matrix, "digest", lambda: "of another course")
    matrix.main([])
    assert len(settings) == 2


@pytest.mark.parametrize(
    "name, reason",
    [
        ("aten-avx512", "has no avx512"),
        ("euc-kr", "Debian's package locales"),
        ("no-network", "unshare is missing"),
    ],
)
def test_a_row_that_cannot_be_tried_is_not_green(
    name, reason, monkeypatch, tmp_path, capsys
):
    """On a machine without wide instructions and without any program."""
    monkeypatch.setattr(matrix, "levels", lambda: ["default"])
    monkeypatch.setenv("PATH", str(tmp_path))
    assert matrix.main([name]) == 0
    _, row, total = capsys.readouterr().out.splitlines()
    assert row.startswith(f"{name} ") and row.endswith(reason)
    assert "cannot be tried here: " in row
    assert total.startswith("0 rows without a difference, 0 with one, 1 ")


def test_an_unknown_row_is_named(capsys):
    with pytest.raises(SystemExit):
        matrix.main(["no-such"])
    assert "no such row: no-such; there are threads" in capsys.readouterr().err


def test_a_run_that_fails_is_red_and_stays_so(monkeypatch, capsys):
    command = [*repeat.PYTEST, "--no-such-option"]
    monkeypatch.setattr(repeat, "PYTEST", command)
    monkeypatch.setattr(repeat, "RUNS", 1)
    assert repeat.main() == 1
    monkeypatch.setattr(repeat, "run", None)
    assert repeat.main() == 1
    assert capsys.readouterr().out.count("0 of 1 runs are green") == 2


def test_the_load_ends_in_any_case(monkeypatch):
    started = []

    def recorded(*arguments, popen=repeat.subprocess.Popen):
        started.append(popen(*arguments))
        return started[-1]

    monkeypatch.setattr(repeat.subprocess, "Popen", recorded)
    with pytest.raises(KeyboardInterrupt), repeat.load():
        assert [process.poll() for process in started] == [None] * len(started)
        raise KeyboardInterrupt
    assert len(started) == os.cpu_count()
    assert all(process.poll() is not None for process in started)
