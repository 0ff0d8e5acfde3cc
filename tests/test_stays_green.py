"""The regression check does not fail without cause.

The notebooks collected beside these tests run with one thread and the widest
instructions of the processor; here they run again as on another machine.
"""

from tests.nbval import check
from tests.snapshots import each_step

OTHER_MACHINE = {
    "OMP_NUM_THREADS": "2",
    "OMP_WAIT_POLICY": "PASSIVE",  # others work on these cores too
    "ATEN_CPU_CAPABILITY": "default",
}


@each_step
def test_another_machine_prints_the_same(step):
    green, output = check(step, **OTHER_MACHINE)
    assert green, output
