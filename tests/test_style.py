"""One style: ruff decides, and the requirements stay plain."""

import re
import subprocess
import sys

from tutorial.steps import ROOT


def test_ruff_finds_nothing():
    for command in (["check"], ["format", "--check"]):
        result = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--no-cache", "."],
            cwd=ROOT,
            capture_output=True,
            encoding="utf-8",
        )
        assert result.returncode == 0, result.stdout


def test_requirements_are_ascii_and_exact():
    text = (ROOT / "requirements.txt").read_bytes().decode("ascii")
    for line in text.splitlines():
        assert re.fullmatch(r"|#.*|[\w-]+==[\d.]+", line), line


def test_the_model_knows_nothing_of_the_workshop():
    for path in (*ROOT.glob("steps/*/*.py"), ROOT / "transformer.py"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"\b(import|from) tutorial\b", text), path


def test_every_open_names_utf8():
    for path in (*ROOT.glob("tutorial/**/*.py"), *ROOT.glob("steps/*/*.py")):
        text = path.read_text(encoding="utf-8")
        for call in re.findall(
            r"\b(?:open|read_text|write_text)\(.*?\)", text
        ):
            assert "encoding=" in call, f"{path}: {call}"
