"""Checks for the exercises: `step_07.py` holds `check_1`, `check_2`, ...

A check takes the reader's answer, calls `expect` for each thing that must
hold, and returns the sentence that praises it.
"""

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import torch

from tutorial.errors import TutorialError


class NotYet(Exception):
    """The answer is not right; the message says what to look at."""


def expect(holds: bool, hint: str) -> None:
    if not holds:
        raise NotYet(hint)


def filled(value: Any) -> Any:
    """What the answer gave, unless it is still empty."""
    if value is None or value is Ellipsis:
        raise NotYet("아직 비어 있다. ... 자리를 채우고 셀을 다시 실행한다.")
    return value


def verdict(step: int, number: int, answer: Any) -> str:
    """One line that says whether the answer is right, and if not, why."""
    module = import_module(f"tutorial.checks.step_{step:02d}")
    check = getattr(module, f"check_{number}", None)
    if check is None:
        raise TutorialError(f"{step}단계에 문제 {number}번은 없다.")
    try:
        with undisturbed():
            return f"문제 {number}: 맞다. {check(filled(answer))}"
    except NotYet as hint:
        return f"문제 {number}: 아직이다. {hint}"
    except (Exception, SystemExit) as error:
        last = traceback.format_exception_only(error)[-1].strip()
        return f"문제 {number}: 아직이다. 실행하다가 오류가 났다: {last[:200]}"


@contextmanager
def undisturbed() -> Iterator[None]:
    """Leave random numbers and torch's settings as they were."""
    dtype, gradients = torch.get_default_dtype(), torch.is_grad_enabled()
    torch.set_default_dtype(torch.float32)
    try:
        with torch.random.fork_rng(devices=[]):
            yield
    finally:
        torch.set_default_dtype(dtype)
        torch.set_grad_enabled(gradients)
