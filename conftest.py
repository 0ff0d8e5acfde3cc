"""How tests share the processors."""

import os

from xdist.scheduler import LoadScopeScheduling

# Tests run side by side, so each process and each kernel gets one thread.
os.environ.setdefault("OMP_NUM_THREADS", "1")


class ByNeed(LoadScopeScheduling):
    """The cells of a notebook need one kernel, tests of the web edition one
    site; other tests stand alone."""

    def _split_scope(self, nodeid: str) -> str:
        path, _, _ = nodeid.partition("::")
        if path.endswith("test_site.py"):
            return "site"
        return path if path.endswith(".ipynb") else nodeid


def pytest_xdist_make_scheduler(config, log):
    return ByNeed(config, log)
