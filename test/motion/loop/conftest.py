"""A control step in motion."""

import pytest
from control_bench import Bench


@pytest.fixture
def moving(robot, make_window, slow_motion):
    """A bench in the middle of a window, and the window."""
    q_from, q_to, duration = slow_motion(robot)
    bench = Bench(robot, q_from)
    window = make_window(q_from, q_to, begin=bench.now, duration=duration)
    assert bench.control.offer(bench.now, window) == ""
    bench.run(0.45 * duration)
    return bench, window
