"""The mistakes that `tests/mutants.py` makes are those that people make."""

import os
import random
import subprocess
import sys

import pytest

from tests import mutants
from tutorial.steps import ROOT, Step, find_step


@pytest.fixture
def written(tmp_path):
    """A step of its own with this file."""

    def write(text, number=1):
        step = Step(number, tmp_path / f"{number:02d}_tiny")
        step.folder.mkdir(exist_ok=True)
        step.snapshot_file.write_text(text, encoding="utf-8")
        mutants.drawn.cache_clear()  # real snapshots do not change
        return step

    return write


@pytest.mark.parametrize(
    "code, expected",
    [
        ("y = -x", ["-x -> x"]),
        ("y = a + b", ["+ -> -"]),
        ("y = a @ b", ["@ -> *"]),
        ("y += x", ["+ -> -", "y += x -> pass"]),
        ("y = a < b", ["< -> <="]),
        ("y = a is not None", ["is not -> is"]),
        ("y = a and b", ["and -> or"]),
        ("y = 0.5", ["0.5 -> 1.5"]),
        ("y = True", ["True -> False"]),
        ("y = f(x, dim=-1)", ["dim=-1 -> ", "-1 -> 1", "1 -> 2"]),
        ("y = f(a, b, c)", ["a, b -> b, a"]),
        ("y = f(x)", ["f(x) -> x"]),
        ("y = f(*x).g()", ["f(*x).g() -> f(*x)"]),
        ("x.f()", ["x.f() -> pass"]),
        ("y = a if b else c", ["b -> (not (b))"]),
        ("while x: y", ["x -> (not (x))"]),
        ("y = '한글' + x", ["+ -> -"]),
        ("y = x  # +1 or -1", []),
    ],
)
def test_small_changes(written, code, expected):
    found = mutants.mutants(written(f"{code}\n"))
    assert sorted(f"{m.old} -> {m.new}" for m in found) == sorted(expected)
    for mutant in found:
        assert mutant.text != f"{code}\n"
        assert str(mutant).startswith("line 1: ")


@pytest.mark.parametrize(
    "code",
    [
        'raise ValueError(f"{a + 1} is not {b}" * 2)',
        'y = f"{a + 1}"',
        "def f(x: 1 + 1) -> 2: pass",
    ],
)
def test_what_is_only_read_stays_as_it_is(written, code):
    assert mutants.mutants(written(f"{code}\n")) == []


def test_only_what_a_step_added_is_damaged(written):
    before = find_step(1).snapshot
    step = written(f"{before}\n\ndef double(x):\n    return 2 * x\n", 2)
    last = len(step.snapshot.splitlines())
    assert {mutant.line for mutant in mutants.mutants(step)} == {last}
    changed = written(before.replace("dim=-1", "dim=-2"), 2)
    (line,) = {mutant.line for mutant in mutants.mutants(changed)}
    assert "dim=-2" in changed.snapshot.splitlines()[line - 1]


def test_each_is_another_program(written):
    found = mutants.mutants(find_step(3))
    assert len({mutant.text for mutant in found}) == len(found)
    assert find_step(3).snapshot not in {mutant.text for mutant in found}


def test_the_draw_is_the_same_each_time(monkeypatch):
    monkeypatch.setattr(mutants, "EACH", 5)
    step = find_step(3)
    drawn = [mutant.id for mutant in mutants.drawn(step)]
    assert len(drawn) == 5 < len(mutants.mutants(step))
    random.seed(1)
    assert [mutant.id for mutant in mutants.drawn(step)] == drawn
    code = (
        "from tests import mutants; from tutorial.steps import find_step\n"
        "mutants.EACH = 5\n"
        "print(*(mutant.id for mutant in mutants.drawn(find_step(3))))"
    )
    other = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": "1"},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert other.stdout.split() == drawn


def test_an_interrupted_run_goes_on_where_it_stopped(
    written, tmp_path, monkeypatch
):
    step = written("y = a + b\ny = c - d\ny = e * f\n")
    tried, interrupted = [], [2]

    def caught(step, text):
        tried.append(text)
        if len(tried) in interrupted:
            raise KeyboardInterrupt
        return {"tests": True, "notebook": False}

    monkeypatch.setattr(mutants, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(mutants, "caught", caught)
    with pytest.raises(KeyboardInterrupt):
        mutants.run(step)
    known = len(mutants.rows(step))
    assert known < 3
    tried.clear()
    interrupted.clear()
    mutants.run(step)
    assert len(tried) == 3 - known, "what is known is not tried again"
    assert len(mutants.rows(step)) == 3
    mutants.run(step)
    assert len(tried) == 3 - known, "nothing was left"


def test_what_survived_is_tried_again_unless_it_is_harmless(
    written, tmp_path, monkeypatch
):
    step, what = written("y = a + b\n"), "line 1: '+' -> '-'"
    monkeypatch.setattr(mutants, "RESULTS", tmp_path / "results")

    def run(tests):
        caught = {"tests": tests, "notebook": False}
        monkeypatch.setattr(mutants, "caught", lambda *_: caught)
        mutants.run(step)
        (row,) = mutants.rows(step)
        return row["tests"]

    assert not run(tests=False)
    monkeypatch.setattr(mutants, "HARMLESS", {step.name: {what: "a reason"}})
    assert not run(tests=True), "a harmless one is not tried again"
    monkeypatch.setattr(mutants, "HARMLESS", {})
    assert run(tests=True)
    assert run(tests=False), "one that was caught is not tried again"


def test_results_of_mutants_that_are_no_more_do_not_count(
    written, tmp_path, monkeypatch
):
    monkeypatch.setattr(mutants, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(
        mutants, "caught", lambda *_: {"tests": True, "notebook": True}
    )
    mutants.run(written("y = a + b\n"))
    assert len(mutants.rows(written("y = a + b\n"))) == 1
    assert mutants.rows(written("y = a * b\n")) == []
