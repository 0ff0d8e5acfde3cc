"""Executing lessons: to `build/` for a reader, `notebooks/` for a commit."""

import hashlib
import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path

from tqdm import tqdm

from tutorial import builder, transformer_map
from tutorial.files import write_all
from tutorial.steps import ROOT, Step, all_steps

BUILD = ROOT / "build"
LAB = ROOT / "lab"
STAMPS = BUILD / "inputs.json"


def run(
    target: Path,
    steps: list[Step],
    done: Callable[[Step], None] = lambda step: None,
) -> dict[str, float]:
    """Execute the steps' notebooks into `target`; seconds for each."""
    write_contents(target)
    seconds = {}
    bar = tqdm(steps, unit="과", disable=not steps)
    for step in bar:
        bar.set_description(step.name)
        start = time.perf_counter()
        notebook = builder.build(step)
        builder.execute(notebook, step.name)
        picture = f"maps/{step.number:02d}.png"
        write_all(
            {
                target / f"{step.name}.ipynb": builder.serialised(notebook),
                target / picture: transformer_map.draw(step.number),
            }
        )
        seconds[step.name] = time.perf_counter() - start
        done(step)
    return seconds


def write_contents(target: Path) -> None:
    text = builder.serialised(builder.build_contents())
    write_all({target / f"{builder.CONTENTS}.ipynb": text})


def outdated() -> list[Step]:
    """The steps of which an input, or the notebook itself, has changed."""
    stamps = read_stamps()
    return [
        step for step in all_steps() if stamps.get(step.name) != stamp(step)
    ]


def remember(step: Step) -> None:
    stamps = read_stamps() | {step.name: stamp(step)}
    write_all({STAMPS: json.dumps(stamps, indent=1).encode("utf-8")})


def read_stamps() -> dict[str, str]:
    if not STAMPS.exists():
        return {}
    return json.loads(STAMPS.read_text(encoding="utf-8"))


def stamp(step: Step) -> str:
    """A sum over what goes into a step's notebook, and over the notebook."""
    shared = [
        path
        for folder in ("tutorial", "data", "models")
        for path in sorted((ROOT / folder).rglob("*"))
        if path.is_file() and not {"__pycache__", "web"} & set(path.parts)
    ]
    snapshots = [
        s.snapshot_file for s in all_steps() if s.number <= step.number
    ]
    inputs = [
        step.lesson_file,
        step.demo_file,
        *snapshots,
        *shared,
        ROOT / "requirements.txt",
        builder.notebook_file(step),
    ]
    # Navigation and history name other steps by their titles.
    titles = "\n".join(other.title for other in all_steps())
    digest = hashlib.sha256(titles.encode("utf-8"))
    for path in inputs:
        digest.update(path.read_bytes() if path.exists() else b"")
        digest.update(b"\0")
    return digest.hexdigest()


def copy_for_lab() -> list[str]:
    """Copy to `lab/` what is not there yet; the names that were kept."""
    kept = []
    for source in sorted(builder.NOTEBOOKS.rglob("*")):
        target = LAB / source.relative_to(builder.NOTEBOOKS)
        if source.is_dir() or ".ipynb_checkpoints" in source.parts:
            continue
        if target.exists():
            if source.suffix == ".ipynb":
                kept.append(target.name)
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    return kept
