"""`python -m tutorial`, as a reader and as a maintainer use it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tutorial import builder, production
from tutorial.__main__ import main
from tutorial.steps import ROOT, all_steps, find_step


def tutorial(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "tutorial", *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
    )


def test_diff_on_a_korean_windows_console():
    result = tutorial("diff", "6", "7", PYTHONIOENCODING="cp949")
    assert result.returncode == 0, result.stderr
    first, *rest = result.stdout.decode("cp949").splitlines()
    assert first.startswith("+31 -0 ")
    assert "+class EncoderLayer(nn.Module):" in rest


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_console_without_hangul_still_gets_the_diff(encoding):
    result = tutorial("diff", "6", "7", PYTHONIOENCODING=encoding)
    assert result.returncode == 0, result.stderr
    assert b"+31 -0 " in result.stdout


def test_an_unknown_step_is_one_sentence():
    result = tutorial("diff", "6", "77", PYTHONIOENCODING="utf-8")
    message = result.stderr.decode("utf-8")
    assert result.returncode == 1
    assert "77단계는 없다" in message and "Traceback" not in message


def test_frozen(capsys):
    assert main(["frozen"]) == 0
    assert f"스냅숏 {len(all_steps())}개" in capsys.readouterr().out


def test_run_executes_into_its_folder_only(tmp_path, capsys):
    before = {p: p.read_bytes() for p in builder.NOTEBOOKS.rglob("*.ipynb")}
    seconds = production.run(tmp_path, [find_step(1)])
    assert list(seconds) == ["01_attention"]
    built = (tmp_path / "01_attention.ipynb").read_bytes()
    assert (tmp_path / "maps" / "01.png").exists()
    assert (tmp_path / "00_contents.ipynb").exists()
    for path, text in before.items():
        assert path.read_bytes() == text
    pictures = b'"image/png"'
    committed = before[builder.notebook_file(find_step(1))]
    assert strip(built, pictures) == strip(committed, pictures)


def strip(notebook: bytes, marker: bytes) -> list[bytes]:
    return [line for line in notebook.splitlines() if marker not in line]


def test_only_what_changed_is_outdated(monkeypatch, tmp_path):
    monkeypatch.setattr(production, "STAMPS", tmp_path / "inputs.json")
    steps = all_steps()
    assert production.outdated() == steps
    for step in steps:
        production.remember(step)
    assert production.outdated() == []
    original = type(steps[0]).demo_file

    def other_demo(step):
        return ROOT / "LICENSE" if step.number == 3 else original.fget(step)

    monkeypatch.setattr(type(steps[0]), "demo_file", property(other_demo))
    assert [s.number for s in production.outdated()] == [3]
    monkeypatch.undo()


def test_a_changed_snapshot_outdates_all_later_steps(monkeypatch, tmp_path):
    monkeypatch.setattr(production, "STAMPS", tmp_path / "inputs.json")
    for step in all_steps():
        production.remember(step)
    original = type(all_steps()[0]).snapshot_file

    def other(step):
        return ROOT / "LICENSE" if step.number == 6 else original.fget(step)

    monkeypatch.setattr(type(all_steps()[0]), "snapshot_file", property(other))
    later = [s.number for s in all_steps() if s.number >= 6]
    assert [s.number for s in production.outdated()] == later


@pytest.mark.parametrize(
    "shared", ["requirements.txt", "tutorial/viewer.py"], ids=str
)
def test_a_shared_input_outdates_every_step(monkeypatch, tmp_path, shared):
    monkeypatch.setattr(production, "STAMPS", tmp_path / "inputs.json")
    for step in all_steps():
        production.remember(step)
    read, changed = Path.read_bytes, ROOT / shared

    def other(path):
        return b"other" if path == changed else read(path)

    monkeypatch.setattr(Path, "read_bytes", other)
    assert production.outdated() == all_steps()


def test_an_interrupted_rebuild_remembers_what_is_done(monkeypatch, tmp_path):
    monkeypatch.setattr(production, "STAMPS", tmp_path / "inputs.json")
    names = []

    def execute(notebook, name):
        names.append(name)
        if len(names) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(builder, "execute", execute)
    with pytest.raises(KeyboardInterrupt):
        production.run(tmp_path, all_steps(), done=production.remember)
    assert list(production.read_stamps()) == names[:2]


def test_the_lab_copy_is_made_once(monkeypatch, tmp_path):
    monkeypatch.setattr(production, "LAB", tmp_path)
    assert production.copy_for_lab() == []
    mine = tmp_path / "01_attention.ipynb"
    mine.write_text("mine", encoding="utf-8")
    gone = tmp_path / "02_mask.ipynb"
    gone.unlink()
    kept = production.copy_for_lab()
    assert "01_attention.ipynb" in kept and "02_mask.ipynb" not in kept
    assert mine.read_text(encoding="utf-8") == "mine"
    assert gone.exists()
    assert (tmp_path / "maps" / "01.png").exists()
