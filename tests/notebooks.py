"""Reading the committed notebooks."""

from functools import lru_cache

import nbformat

from tutorial import builder
from tutorial.steps import Step


@lru_cache
def committed(step: Step):
    path = builder.notebook_file(step)
    return nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)


def code_cells(step: Step):
    return [c for c in committed(step).cells if c.cell_type == "code"]


def cell_of_demo(step: Step):
    source = step.demo_file.read_text(encoding="utf-8").strip()
    (cell,) = [c for c in code_cells(step) if c.source == source]
    return cell


def printed(cell) -> str:
    return "".join(o.text for o in cell.outputs if o.get("name") == "stdout")


def section(step: Step, heading: str) -> str:
    """The prose under one `## ` heading of the lesson."""
    text = step.lesson_file.read_text(encoding="utf-8")
    _, rest = text.split(f"\n## {heading}\n")
    return rest.split("\n## ")[0]
