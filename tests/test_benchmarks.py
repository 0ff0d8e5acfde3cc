"""The benchmarks can be started; what they measure is in their README."""

import subprocess
import sys

import pytest

from tutorial.steps import ROOT


@pytest.mark.parametrize("name", ["decoding", "training", "translators"])
def test_a_benchmark_says_how_it_is_run(name):
    command = [sys.executable, "-m", f"benchmarks.{name}", "--help"]
    shown = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "--data" in shown.stdout
