"""`python -m tutorial`, as a reader and as a maintainer use it."""

import subprocess
import sys

import pytest

from tutorial import builder, production
from tutorial.__main__ import main
from tutorial.steps import ROOT, all_steps, find_step


def tutorial(*arguments, **environment):
    import os

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
    production.remember(steps)
    assert production.outdated() == []
    original = type(steps[0]).demo_file

    def other_demo(step):
        return ROOT / "LICENSE" if step.number == 3 else original.fget(step)

    monkeypatch.setattr(type(steps[0]), "demo_file", property(other_demo))
    assert [s.number for s in production.outdated()] == [3]
    monkeypatch.undo()


def test_a_changed_snapshot_outdates_all_later_steps(monkeypatch, tmp_path):
    monkeypatch.setattr(production, "STAMPS", tmp_path / "inputs.json")
    production.remember(all_steps())
    original = type(all_steps()[0]).snapshot_file

    def other(step):
        return ROOT / "LICENSE" if step.number == 6 else original.fget(step)

    monkeypatch.setattr(type(all_steps()[0]), "snapshot_file", property(other))
    assert [s.number for s in production.outdated()] == [6, 7, 8, 9]


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
