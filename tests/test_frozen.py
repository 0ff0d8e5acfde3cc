"""Frozen snapshots, and carrying a fix through them."""

import os
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
    """A repository of its own with the same snapshots; git's variables and
    the user's settings must not lead it to another."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
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
    *_, before, last = all_steps()
    shutil.rmtree(last.folder)
    problems = "\n".join(frozen.problems())
    assert f"{last.name}/transformer.py: 없다" in problems
    assert f"transformer.py: {before.name}/transformer.py와 다르다" in problems


def test_a_clean_edit_reaches_every_later_step(checkout):
    edit(3, "(batch, h, q, k)", "(batch, h, q, k) !")
    later = [step for step in all_steps() if step.number > 3]
    assert frozen.carry(3) == later
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


SIGNATURE = "def attention(query, key, value, mask=None"


def conflicting_edit():
    edit(2, f"{SIGNATURE}):", f"{SIGNATURE}, *, x=1):")
    edit(2, "import math\n", "import math\n\n# one\n# two\n# three\n")


def test_a_conflict_changes_nothing_and_says_where(checkout):
    conflicting_edit()
    before = all_texts(checkout)
    with pytest.raises(TutorialError, match="03_multi_head/.* 11번째 줄") as e:
        frozen.carry(2)
    assert "--solved 3" in str(e.value) and SIGNATURE in str(e.value)
    assert all_texts(checkout) == before


def test_a_solved_conflict_is_carried_on(checkout):
    conflicting_edit()
    for number, gained in ((3, ""), (17, ", need_weights=True")):
        signature = f"{SIGNATURE}, dropout=None{gained}"
        edit(number, f"{signature}):", f"{signature}, *, x=1):")
    later = [
        step.number
        for step in all_steps()
        if step.number > 3 and step.number != 17
    ]
    changed = [step.number for step in frozen.carry(2, solved=[3, 17])]
    assert changed == later
    assert f"{signature}, *, x=1):" in all_steps()[-1].snapshot
    assert frozen.problems() == []


def test_another_edit_is_not_taken_for_a_solution(checkout):
    conflicting_edit()
    edit(3, "(batch, h, q, k)", "(batch, h, q, k) !")
    with pytest.raises(TutorialError, match="03_multi_head"):
        frozen.carry(2)


def test_a_change_of_mind_is_not_lost_silently(checkout):
    edit(3, "(batch, h, q, k)", "(batch, h, q, k) !")
    frozen.carry(3)
    edit(3, "(batch, h, q, k) !", "(batch, h, q, k) ?")
    with pytest.raises(TutorialError, match="04_feed_forward"):
        frozen.carry(3)


def test_new_steps_that_are_not_committed_are_carried_too(checkout):
    last = all_steps()[-1]
    for number in (last.number + 1, last.number + 2):
        folder = last.folder.with_name(f"{number:02d}_new")
        folder.mkdir()
        shutil.copy(last.snapshot_file, folder)
    edit(3, "(batch, h, q, k)", "(batch, h, q, k) !")
    frozen.carry(3)
    for step in all_steps()[-2:]:
        assert "(batch, h, q, k) !" in step.snapshot
    assert frozen.problems() == []


def test_a_new_last_step_is_frozen(checkout):
    last = all_steps()[-1]
    folder = last.folder.with_name(f"{last.number + 1:02d}_new")
    folder.mkdir()
    shutil.copy(last.snapshot_file, folder)
    assert frozen.problems() != []
    assert frozen.carry(last.number + 1) == []
    assert frozen.problems() == []


def test_nothing_to_carry_is_said(checkout):
    with pytest.raises(TutorialError, match="고침이 없다"):
        frozen.carry(3)


def test_the_step_with_the_edit_is_named(checkout):
    edit(3, "(batch, h, q, k)", "(batch, h, q, k) !")
    with pytest.raises(TutorialError, match="carry 3부터"):
        frozen.carry(5)


def test_without_a_commit_nothing_is_carried(checkout):
    edit(3, "(batch, h, q, k)", "(batch, h, q, k) !")
    shutil.rmtree(checkout / ".git")
    before = all_texts(checkout)
    with pytest.raises(TutorialError, match="커밋이 없다"):
        frozen.carry(3)
    assert all_texts(checkout) == before


def test_line_ends_of_windows_are_mended(checkout):
    edit(3, "(batch, h, q, k)", "(batch, h, q, k) !")
    path = find_step(3).snapshot_file
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    frozen.carry(3)
    assert not any(b"\r" in text for text in all_texts(checkout).values())
    assert frozen.problems() == []


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("moment", range(8))
def test_an_interruption_leaves_nothing_half_done(
    checkout, monkeypatch, moment, late
):
    """Ctrl-C right before or right after one of the files is replaced."""
    edit(3, "(batch, h, q, k)", "(batch, h, q, k) !")
    before = all_texts(checkout)
    calls, replace = [], files.os.replace

    def interrupted(source, target):
        calls.append(target)
        stop = len(calls) == moment + 1
        if late or not stop:
            replace(source, target)
        if stop:
            raise KeyboardInterrupt

    monkeypatch.setattr(files.os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        frozen.carry(3)
    assert all_texts(checkout) == before
    assert not list(checkout.rglob("*.new"))
    monkeypatch.undo()


def test_an_interruption_leaves_no_new_file(tmp_path, monkeypatch):
    replace = files.os.replace

    def interrupted(source, target):
        replace(source, target)
        raise KeyboardInterrupt

    monkeypatch.setattr(files.os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        files.write_all({tmp_path / "a": b"new", tmp_path / "b": b"new"})
    assert list(tmp_path.iterdir()) == []


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
