"""The regression check can fail: each step, damaged, is caught by nbval.

Only what notebooks execute is damaged.  What they show is still the committed
text, so the diff of a damaged file can never be what turns the check red.
"""

import shutil
from importlib import import_module

import pytest

from tests.nbval import check
from tutorial.steps import EXECUTED_STEPS, ROOT, STEPS, all_steps


def damages():
    for step in all_steps():
        module = import_module(f"tests.mistakes.step_{step.number:02d}")
        for number, (old, new) in enumerate(module.DAMAGES, 1):
            yield pytest.param(step, old, new, id=f"{step.name}-{number}")


@pytest.mark.parametrize("step, old, new", list(damages()))
def test_a_damaged_step_is_caught_by_a_printed_result(
    step, old, new, tmp_path
):
    assert step.snapshot.count(old) == 1
    steps = shutil.copytree(STEPS, tmp_path / "steps")
    for name in ("data", "models", "tutorial"):  # what a step looks for above
        (tmp_path / name).symlink_to(ROOT / name)
    damaged = steps / step.name / "transformer.py"
    text = step.snapshot.replace(old, new)
    damaged.write_text(text, encoding="utf-8", newline="\n")
    green, output = check([step], **{EXECUTED_STEPS: str(steps)})
    assert not green
    assert "mismatch 'stdout'" in output
    assert "mismatch 'text/html'" not in output


def test_every_step_is_damaged():
    damaged = [parameters.values[0] for parameters in damages()]
    assert sorted(set(s.number for s in damaged)) == [
        step.number for step in all_steps()
    ]
