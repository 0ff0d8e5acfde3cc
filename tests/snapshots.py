"""The snapshots as modules, for tests that hold at every step."""

from functools import lru_cache

import pytest

from tutorial.lesson import module_from
from tutorial.steps import all_steps, find_step


@lru_cache
def load(number: int):
    step = find_step(number)
    text = step.executed_file.read_text(encoding="utf-8")
    return module_from(text, str(step.executed_file))


def since(first: int, last: int = 18):
    """Run a test on each snapshot from step `first` on, as `transformer`."""
    steps = [step for step in all_steps() if first <= step.number <= last]
    return pytest.mark.parametrize(
        "transformer",
        [pytest.param(load(s.number), id=s.name) for s in steps],
    )


def each_step(function):
    return pytest.mark.parametrize(
        "step", [pytest.param(s, id=s.name) for s in all_steps()]
    )(function)
