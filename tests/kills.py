"""Kills trainings at random moments, and looks what that cost.

    python -m tests.kills    50 kills (about ten minutes)

A run is killed and resumed, again and again, until it ends; then the next one
begins.  After each kill, what had been written must be there and must load;
at its end a run must have the weights of one that nothing disturbed.  What
the runs wrote is left in build/kills/.
"""

import os
import random
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from subprocess import Popen, TimeoutExpired
from types import ModuleType

from tests.snapshots import load
from tutorial.steps import ROOT, all_steps

RESULTS = ROOT / "build" / "kills"
KILLS = 50
SEED = 0

# An epoch of a second or two, and enough of them that old ones are removed.
PAIRS = {"train": 400, "valid": 20}
SETTINGS = {
    "vocab": 700,
    "layers": 1,
    "d_model": 64,
    "d_ff": 128,
    "heads": 2,
    "max_tokens": 256,
    "warmup": 20,
    "epochs": 8,
}

# The phases in which a kill can fall, and how long it waits, at most, after
# the one that it aims at has begun: a share of the time that a run takes.
LONGEST = {
    "before epoch 0": 0.25,
    "within an epoch": 0.4,
    "while writing": 0.003,
    "while removing": 0.0,
}


class Training:
    """A run by the command line that is stopped and goes on."""

    def __init__(
        self, transformer: ModuleType, data: Path, out: Path, settings: dict
    ):
        self.transformer, self.out = transformer, out
        self.log = out.with_name(f"{out.name}.txt")
        self.arguments = ["train", "--data", str(data), "--out", str(out)]
        self.settings = [
            f"--{name.replace('_', '-')}={value}"
            for name, value in settings.items()
        ]
        self.written = set()
        self.started = 0.0

    def checkpoints(self) -> list[Path]:
        return self.transformer.checkpoints(self.out)

    def start(self) -> Popen:
        """Begin, or go on once something was written."""
        how = ["--resume"] if self.checkpoints() else self.settings
        command = [sys.executable, self.transformer.__file__]
        self.started = time.time()
        with self.log.open("ab") as log:
            return Popen(
                [*command, *self.arguments, *how],
                env={**os.environ, "OMP_NUM_THREADS": "1"},
                stdout=log,
                stderr=log,
            )

    def phase(self) -> str:
        """Where the process is, or was when it died, told from its files."""
        found = self.checkpoints()
        if not found:
            return "before epoch 0"
        if any(self.is_new(path) for path in self.out.glob("*.new")):
            return "while writing"
        # The next thing that follows a complete one too many.
        if len(found) > self.transformer.KEPT and self.is_new(found[-1]):
            return "while removing"
        return "within an epoch"

    def is_new(self, path: Path) -> bool:
        """Whether this process wrote it, not one that was killed before."""
        try:
            return path.stat().st_mtime > self.started
        except FileNotFoundError:  # it has another name by now
            return False

    def stop(
        self,
        aim: str,
        delay: float,
        how: Callable[[Popen], None] = Popen.kill,
    ) -> str | None:
        """Go on until so long after the phase aimed at has begun.  Returns
        the phase in which it really stopped; None when it ended before."""
        process = self.start()
        # Removing takes less than a millisecond.
        pause = 0 if aim == "while removing" else 0.002
        while self.phase() != aim and process.poll() is None:
            time.sleep(pause)
        try:
            process.wait(delay)
        except TimeoutExpired:
            how(process)
            if process.wait() != 0:
                return self.phase()
        self.must_have_ended(process)
        return None

    def kill(self, chance: random.Random, seconds: float) -> str | None:
        """Stop somewhere in a run that takes so many seconds."""
        first, *later = LONGEST
        aim = chance.choice(later if self.checkpoints() else [first, later[0]])
        return self.stop(aim, chance.uniform(0, LONGEST[aim] * seconds))

    def end(self) -> dict[str, bytes]:
        """Go on until it ends; what its last checkpoint holds."""
        process = self.start()
        process.wait()
        self.must_have_ended(process)
        return contents(self.checkpoints()[-1])

    def must_have_ended(self, process: Popen) -> None:
        if process.returncode != 0:
            raise RuntimeError(f"{self.out} failed by itself: see {self.log}")

    def losses(self) -> list[str]:
        """What a stop cost and must not have cost, a sentence each."""
        found = {folder.name: folder for folder in self.checkpoints()}
        self.written |= found.keys()
        kept = sorted(self.written)[-self.transformer.KEPT :]
        losses = [f"{name} is lost" for name in kept if name not in found]
        for folder in found.values():
            try:
                self.transformer.load_checkpoint(folder)
            except ValueError as error:
                losses.append(str(error))
        if not self.written and not self.says_that_nothing_was_written():
            losses.append("--resume does not say that nothing was written")
        return losses

    def says_that_nothing_was_written(self) -> bool:
        try:
            self.transformer.main([*self.arguments, "--resume"])
        except SystemExit as stopped:
            sentence = f"error: {self.out} has no checkpoint to go on from"
            return stopped.code == sentence
        return False


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def small_corpus(folder: Path) -> Path:
    folder.mkdir(parents=True)
    for name, count in PAIRS.items():
        file = ROOT / "data" / "ko-en" / f"{name}.tsv"
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
        (folder / file.name).write_text(
            "".join(lines[:count]), encoding="utf-8", newline="\n"
        )
    return folder


def row(*cells) -> str:
    widths = (3, 5, *map(len, LONGEST), 13)
    return "  ".join(
        f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True)
    )


def main() -> int:
    transformer = load(all_steps()[-1].number)
    shutil.rmtree(RESULTS, ignore_errors=True)
    data = small_corpus(RESULTS / "data")

    def training(name):
        return Training(transformer, data, RESULTS / name, SETTINGS)

    start = time.monotonic()
    whole = training("whole").end()
    seconds = time.monotonic() - start
    chance, failures = random.Random(SEED), []
    kills = runs = 0
    print(row("run", "kills", *LONGEST, "weights equal"), flush=True)
    while kills < KILLS:
        runs += 1
        run, phases = training(f"run_{runs}"), Counter()
        while kills < KILLS and (phase := run.kill(chance, seconds)):
            kills += 1
            phases[phase] += 1
            failures += [
                f"run {runs}, killed {phase}: {loss}" for loss in run.losses()
            ]
        equal = run.end() == whole
        if not equal:
            failures.append(f"run {runs} ended with other weights")
        counts = [phases[phase] for phase in LONGEST]
        print(
            row(runs, phases.total(), *counts, "yes" if equal else "NO"),
            flush=True,
        )
    print("\n".join(failures) or f"{kills} kills, and nothing was lost")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
