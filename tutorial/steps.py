"""Which of the 18 steps exist, and what stands in their folders."""

import os
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import yaml

from tutorial.errors import TutorialError

ROOT = Path(__file__).resolve().parent.parent
STEPS = ROOT / "steps"
TOTAL = 18
SOURCE_PAGE = "https://nlp.seas.harvard.edu/annotated-transformer/"

# A test points this at a damaged copy of `steps/`: what notebooks execute is
# then damaged, while everything they show is still the committed text.
EXECUTED_STEPS = "TUTORIAL_EXECUTED_STEPS"


@dataclass(frozen=True)
class Step:
    """One step: a number and its folder, such as `steps/07_encoder`."""

    number: int
    folder: Path

    @property
    def name(self) -> str:
        """`07_encoder`: the name of its folder and of its notebook."""
        return self.folder.name

    @property
    def label(self) -> str:
        return f"STEP {self.number:02d} / {TOTAL}"

    @property
    def lesson_file(self) -> Path:
        return self.folder / "lesson.md"

    @property
    def demo_file(self) -> Path:
        return self.folder / "demo.py"

    @property
    def snapshot_file(self) -> Path:
        """The committed snapshot: what is shown."""
        return self.folder / "transformer.py"

    @property
    def executed_file(self) -> Path:
        """The snapshot that notebooks execute: the same, except in a test."""
        executed = os.environ.get(EXECUTED_STEPS)
        folder = Path(executed) / self.name if executed else self.folder
        return folder / "transformer.py"

    @cached_property
    def snapshot(self) -> str:
        return self.snapshot_file.read_text(encoding="utf-8")

    @cached_property
    def front_matter(self) -> dict:
        text = self.lesson_file.read_text(encoding="utf-8")
        match = re.match(r"---\n(.*?)\n---\n", text, re.DOTALL)
        if match is None:
            raise TutorialError(
                f"{self.name}/lesson.md가 --- 사이의 머리말로 시작하지 않는다."
            )
        return yaml.safe_load(match[1])

    @property
    def title(self) -> str:
        return self.front_matter["title"]

    @property
    def source_link(self) -> str:
        """A Markdown link to the section that this step follows."""
        source = self.front_matter["source"]
        return f"[{source['name']}]({SOURCE_PAGE}#{source['anchor']})"


def all_steps() -> list[Step]:
    """The steps that have a snapshot, in order."""
    return [
        Step(int(folder.name[:2]), folder)
        for folder in sorted(STEPS.glob("[0-9][0-9]_*"))
        if (folder / "transformer.py").is_file()
    ]


def find_step(number: int) -> Step:
    steps = {step.number: step for step in all_steps()}
    if number not in steps:
        valid = ", ".join(str(n) for n in steps)
        raise TutorialError(f"{number!r}단계는 없다. 있는 단계: {valid}")
    return steps[number]


def neighbours(step: Step) -> tuple[Step | None, Step | None]:
    """The existing steps before and after."""
    steps = {s.number: s for s in all_steps()}
    return steps.get(step.number - 1), steps.get(step.number + 1)
