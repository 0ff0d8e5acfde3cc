"""Running the regression check on notebooks in a process of its own."""

import os
import re
import subprocess
import sys

from tutorial import builder
from tutorial.steps import ROOT, Step


def check(steps: list[Step], **environment: str) -> tuple[bool, str]:
    """Whether nbval is green on the steps' notebooks, and what it said."""
    command = [sys.executable, "-m", "pytest", "-o", "addopts=", "-x"]
    command += ["-p", "no:cacheprovider", "--nbval", "--nbval-current-env"]
    command += ["--nbval-cell-timeout=120", "--color=no"]
    result = subprocess.run(
        [*command, *(str(builder.notebook_file(step)) for step in steps)],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        encoding="utf-8",
    )
    output = re.sub(r"\x1b\[[0-9;]*m", "", result.stdout)
    return result.returncode == 0, output
