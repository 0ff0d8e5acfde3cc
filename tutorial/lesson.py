"""What a notebook holds in its hand: `step = lesson(7)`."""

import linecache
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from tutorial import checks, figures
from tutorial.errors import TutorialError
from tutorial.steps import Step, find_step, neighbours
from tutorial.viewer import Diff, History


class Lesson:
    """One step, opened in a notebook."""

    def __init__(self, step: Step, module: ModuleType):
        self._step, self._module = step, module

    def __repr__(self) -> str:
        return f"{self._step.label} · {self._step.title}"

    def diff(self, other: int | None = None) -> Diff:
        """What this step changed; `diff(3)`: everything since step 3."""
        if other is None:
            before, _ = neighbours(self._step)
        else:
            before = find_step(other)
        return Diff(before, self._step)

    def history(self, name: str) -> History:
        """How a function or class changed from step to step up to here."""
        return History(name, self._step)

    def check(self, number: int, answer: Any) -> None:
        """Say whether the answer to exercise `number` is right."""
        with active(self._module):
            print(checks.verdict(self._step.number, number, answer))

    def broken(self, old: str, new: str) -> ModuleType:
        """This step's file with `old` replaced by `new`: a mistake to see."""
        text = self._step.snapshot
        count = text.count(old)
        if count != 1 or "\n" in old:
            raise TutorialError(
                f"바꿀 조각은 한 줄 안에 꼭 한 번 나와야 하는데 {old!r}는 "
                f"{self._step.name}/transformer.py에 {count}번 나온다."
            )
        name = f"<{self._step.name}, {old!r} → {new!r}>"
        return module_from(text.replace(old, new), name)


def lesson(number: int) -> Lesson:
    """Open step `number`: from here on `transformer` is that step's file."""
    step = find_step(number)
    path = step.executed_file
    module = module_from(path.read_text(encoding="utf-8"), str(path))
    sys.modules["transformer"] = module
    # A new process, such as a worker, imports the same file by this path.
    others = (p for p in sys.path if Path(p).parent != path.parent.parent)
    sys.path[:] = [str(path.parent), *others]
    figures.set_style()
    return Lesson(step, module)


@contextmanager
def active(module: ModuleType) -> Iterator[None]:
    """Let `transformer` be this module for a while."""
    current = sys.modules["transformer"]
    sys.modules["transformer"] = module
    try:
        yield
    finally:
        sys.modules["transformer"] = current


def module_from(text: str, filename: str) -> ModuleType:
    """A module named `transformer` made of the text; nothing is cached."""
    module = ModuleType("transformer")
    module.__file__ = filename
    # Tracebacks and `??` show the text, also where no file holds it.
    lines = text.splitlines(keepends=True)
    linecache.cache[filename] = len(text), None, lines, filename
    exec(compile(text, filename, "exec"), module.__dict__)
    return module
