"""The workshop around `transformer.py`, which knows nothing of it."""

import logging
import sys
from importlib.util import find_spec

from tutorial.errors import TutorialError

for package in ("torch", "matplotlib", "pygments", "yaml"):
    if find_spec(package) is None:
        if "IPython" not in sys.modules:
            sys.tracebacklimit = 0  # the sentence alone, as in a notebook
        raise TutorialError(
            f"이 Python({sys.executable})에는 {package}가 없다: "
            "make lab으로 열거나, 커널을 이 저장소의 .venv로 바꾼다."
        )

# Where there is no home folder, Matplotlib warns that it keeps its cache
# elsewhere.  Its parts, such as that of fonts, have loggers of their own.
logging.getLogger("matplotlib").addFilter(
    lambda record: record.levelno > logging.WARNING
)

from tutorial.lesson import lesson  # noqa: E402

__all__ = ["lesson"]
