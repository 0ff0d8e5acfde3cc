"""The regression check does not fail without cause.

The notebooks collected beside these tests run with one thread and the widest
instructions of the processor; here some of them, which compute most, run again
as on another machine.  `make matrix` runs all, on many machines.
"""

import pytest

from tests.nbval import check
from tutorial.steps import find_step

OTHER_MACHINE = {
    "OMP_NUM_THREADS": "2",
    "OMP_WAIT_POLICY": "PASSIVE",  # others work on these cores too
    "ATEN_CPU_CAPABILITY": "default",
}


@pytest.mark.parametrize("number", [3, 9, 12, 14, 17])
def test_another_machine_prints_the_same(number):
    green, output = check([find_step(number)], **OTHER_MACHINE)
    assert green, output
