"""How tests share the processors."""

import os

from xdist.scheduler import LoadScopeScheduling

# Tests run side by side, so each process and each kernel gets one thread.
os.environ.setdefault("OMP_NUM_THREADS", "1")


class ByNotebook(LoadScopeScheduling):
    """The cells of a notebook need one kernel; other tests stand alone."""

    def _split_scope(self, nodeid: str) -> str:
        path, _, _ = nodeid.partition("::")
        return path if path.endswith(".ipynb") else nodeid


def pytest_xdist_make_scheduler(config, log):
    return ByNotebook(config, log)
