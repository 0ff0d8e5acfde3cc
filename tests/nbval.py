"""Running the regression check on notebooks in a process of its own."""

import os
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from tutorial import builder
from tutorial.steps import ROOT, Step

# Nothing of this suite's own set-up, and no plug-in but nbval: starts sooner.
COMMAND = [sys.executable, "-m", "pytest", "--noconftest", "-o", "addopts="]
COMMAND += ["-p", "nbval.plugin", "-p", "no:cacheprovider", "--color=no", "-x"]
COMMAND += ["--nbval", "--nbval-current-env", "--nbval-cell-timeout=120"]


def check(steps: Iterable[Step], **environment: str) -> tuple[bool, str]:
    """Whether nbval is green on the steps' notebooks, and what it said."""
    return check_files(map(builder.notebook_file, steps), **environment)


def check_files(
    notebooks: Iterable[Path], **environment: str
) -> tuple[bool, str]:
    result = subprocess.run(
        [*COMMAND, *map(str, notebooks)],
        cwd=ROOT,
        env={
            **os.environ,
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTEST_ADDOPTS": "",  # meant for the tests around this one
            **environment,
        },
        capture_output=True,
        encoding="utf-8",
    )
    output = re.sub(r"\x1b\[[0-9;]*m", "", result.stdout)
    return result.returncode == 0, output
