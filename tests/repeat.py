"""Whether the regression check is green every time.

    python -m tests.repeat    twenty runs (an hour); goes on where it stopped

Every second run shares the processors with as many busy processes as there
are cores.  Results are kept in build/repeat/, a line for each run: a red one
counts until the course is changed, or that folder is deleted.
"""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from tests import matrix
from tutorial.steps import ROOT

RESULTS = ROOT / "build" / "repeat" / "results.jsonl"
RUNS = 20

# As the README's test command runs notebooks, side by side.
PYTEST = [sys.executable, "-m", "pytest", "notebooks", "-rfE"]
PYTEST += ["-p", "no:cacheprovider"]
RED = r"^(?:FAILED|ERROR) (.*?)(?: - .*)?$"  # of its summary


@contextmanager
def load() -> Iterator[None]:
    """As many busy processes as there are cores."""
    # They also end when this process is gone before it could end them.
    spin = f"import os\nwhile os.getppid() == {os.getpid()}: pass"
    command = [sys.executable, "-c", spin]
    busy = [subprocess.Popen(command) for _ in range(os.cpu_count())]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def run(number: int) -> dict:
    row = {"digest": matrix.digest(), "run": number, "load": number % 2 == 0}
    start = time.perf_counter()
    with load() if row["load"] else nullcontext():
        result = subprocess.run(
            PYTEST, cwd=ROOT, capture_output=True, encoding="utf-8"
        )
    row["seconds"] = round(time.perf_counter() - start)
    row["red"] = re.findall(RED, result.stdout, re.MULTILINE)
    if result.returncode and not row["red"]:
        row["red"] = [f"exit code {result.returncode}"]
    return row


def main() -> int:
    done = {row["run"]: row for row in matrix.kept(RESULTS)}
    print("run  load  seconds  red cells")
    red = 0
    for number in range(1, RUNS + 1):
        row = done.get(number) or run(number)
        if number not in done:
            matrix.keep(RESULTS, row)
        red += bool(row["red"])
        loaded = "yes" if row["load"] else "no"
        cells = ", ".join(row["red"]) or "0"
        print(f"{number:3}  {loaded:4}  {row['seconds']:7}  {cells}")
    print(f"{RUNS - red} of {RUNS} runs are green")
    return 1 if red else 0


if __name__ == "__main__":
    sys.exit(main())
