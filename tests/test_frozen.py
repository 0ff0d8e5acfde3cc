"""Frozen snapshots, and carrying a fix through them."""

import shutil
import subprocess

import pytest

from tutorial import files, frozen, steps
from tutorial.errors import TutorialError
from tutorial.steps import all_steps, find_step


def test_the_snapshots_are_as_they_were_frozen():
    assert frozen.problems() == []


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A repository of its own with the same snapshots."""
    for step in all_steps():
        folder = tmp_path / "steps" / step.name
        folder.mkdir(parents=True)
        shutil.copy(step.snapshot_file, folder)
    shutil.copy(frozen.SUMS, tmp_path / "steps")
    shutil.copy(frozen.ROOT_FILE, tmp_path)
    for command in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=x", "-c", "user.email=x", "commit", "-qm", "x"],
    ):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    monkeypatch.setattr(steps, "STEPS", tmp_path / "steps")
    monkeypatch.setattr(frozen, "ROOT", tmp_path)
    monkeypatch.setattr(frozen, "SUMS", tmp_path / "steps" / "SHA256SUMS")
    monkeypatch.setattr(frozen, "ROOT_FILE", tmp_path / "transformer.py")
    return tmp_path


def edit(number, old, new):
    path = find_step(number).snapshot_file
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8", newline="\n")


def all_texts(folder):
    return {p: p.read_bytes() for p in folder.rglob("*.py")} | {
        frozen.SUMS: frozen.SUMS.read_bytes()
    }


def test_a_changed_snapshot_is_named(checkout):
    edit(4, "(3.3)", "(3.4)")
    (problem,) = frozen.problems()
    assert problem.startswith("04_feed_forward/transformer.py")


def test_a_missing_snapshot_and_another_root_file_are_named(checkout):
    shutil.rmtree(find_step(9).folder)
    problems = "\n".join(frozen.problems())
    assert "09_full_model/transformer.py: 없다" in problems
    assert "transformer.py: 08_decoder/transformer.py와 다르다" in problems


def test_a_clean_edit_reaches_every_later_step(checkout):
    edit(3, "(batch, h, q, k)", "(batch, h, q, k) !")
    changed = frozen.carry(3)
    assert [step.number for step in changed] == [4, 5, 6, 7, 8, 9]
    for step in all_steps():
        found = "(batch, h, q, k) !" in step.snapshot
        assert found == (step.number >= 3)
    assert frozen.problems() == []
    assert frozen.carry(3) == [], "a second time changes nothing"


def test_edits_of_several_steps_are_carried_together(checkout):
    edit(3, "(batch, h, q, k)", "(batch, h, q, k) !")
    edit(6, "Pre-LN: x", "Pre-norm: x")
    frozen.carry(3)
    text = all_steps()[-1].snapshot
    assert "(batch, h, q, k) !" in text and "Pre-norm: x" in text


def test_a_conflict_changes_nothing_and_says_where(checkout):
    signature = "def attention(query, key, value"
    edit(2, f"{signature}, mask=None):", f"{signature}, mask=None, *, x=1):")
    before = all_texts(checkout)
    with pytest.raises(TutorialError, match="03_multi_head/.* 11번째 줄"):
        frozen.carry(2)
    assert all_texts(checkout) == before

    both = f"{signature}, mask=None, dropout=None, *, x=1):"
    edit(3, f"{signature}, mask=None, dropout=None):", both)
    assert [step.number for step in frozen.carry(2)] == [4, 5, 6, 7, 8, 9]
    assert both in all_steps()[-1].snapshot
    assert frozen.problems() == []


@pytest.mark.parametrize("moment", range(8))
def test_an_interruption_leaves_nothing_half_done(
    checkout, monkeypatch, moment
):
    edit(3, "(batch, h, q, k)", "(batch, h, q, k) !")
    before = all_texts(checkout)
    calls, replace = [], files.os.replace

    def interrupted(source, target):
        calls.append(target)
        if len(calls) == moment + 1:
            raise KeyboardInterrupt
        replace(source, target)

    monkeypatch.setattr(files.os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        frozen.carry(3)
    assert all_texts(checkout) == before
    assert not list(checkout.rglob("*.new"))
    monkeypatch.undo()


def test_a_full_disk_leaves_the_old_files(tmp_path, monkeypatch):
    old = tmp_path / "a"
    old.write_bytes(b"old")

    def full(path, data):
        raise OSError("no space left")

    monkeypatch.setattr(files.Path, "write_bytes", full)
    with pytest.raises(OSError):
        files.write_all({old: b"new", tmp_path / "b": b"new"})
    assert [p.name for p in tmp_path.iterdir()] == ["a"]
    assert old.read_bytes() == b"old"
