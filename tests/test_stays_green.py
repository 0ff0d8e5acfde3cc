"""The regression check does not fail without cause.

The notebooks collected beside these tests run with one thread and the widest
instructions of the processor; here they run again as on another machine.
"""

import pytest

from tests.nbval import check
from tutorial.steps import all_steps

OTHER_MACHINE = {
    "OMP_NUM_THREADS": "2",
    "OMP_WAIT_POLICY": "PASSIVE",  # others work on these cores too
    "ATEN_CPU_CAPABILITY": "default",
}


@pytest.mark.parametrize("third", range(3))
def test_another_machine_prints_the_same(third):
    green, output = check(all_steps()[third::3], **OTHER_MACHINE)
    assert green, output
