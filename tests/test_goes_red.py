"""The regression check can fail: each step, damaged, is caught by nbval.

Only what notebooks execute is damaged.  What they show is still the committed
text, so the diff of a damaged file can never be what turns the check red.
"""

import shutil
from importlib import import_module

import pytest

from tests.nbval import check
from tutorial.steps import EXECUTED_STEPS, STEPS, all_steps


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize(
    "step", [pytest.param(s, id=s.name) for s in all_steps()]
)
def test_a_damaged_step_is_caught_by_a_printed_result(step, which, tmp_path):
    module = import_module(f"tests.mistakes.step_{step.number:02d}")
    old, new = module.DAMAGES[which]
    assert step.snapshot.count(old) == 1
    shutil.copytree(STEPS, tmp_path, dirs_exist_ok=True)
    damaged = tmp_path / step.name / "transformer.py"
    text = step.snapshot.replace(old, new)
    damaged.write_text(text, encoding="utf-8", newline="\n")
    green, output = check(step, **{EXECUTED_STEPS: str(tmp_path)})
    assert not green
    assert "mismatch 'stdout'" in output
    assert "mismatch 'text/html'" not in output
