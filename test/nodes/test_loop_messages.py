"""Which setpoints are sent: every one that says something new, and of an arm at rest one in a while."""

from itertools import pairwise

import pytest

pytest.importorskip("rclpy")

from telerobot_nodes.hardware.watchdog import TIMEOUT
from telerobot_nodes.motion.loop import ControlOutput
from telerobot_nodes.nodes.robot.loop_messages import REST_PERIOD, Repetitions

PERIOD = 0.004  # [s]


@pytest.fixture
def output():
    made = ControlOutput(6)
    made.q[:], made.record["gripper"], made.record["now"] = 0.1, 0.05, 10.0
    return made


def sent(repetitions, output, steps):
    """Times of the setpoints that are sent in so many steps."""
    times = []
    for _ in range(steps):
        output.record["now"] += PERIOD
        if not repetitions.leaves_out(output):
            times.append(output.now)
    return times


def test_at_rest_one_setpoint_a_while_keeps_the_watchdog_of_the_arm_quiet(output):
    times = sent(Repetitions(), output, 250)
    assert 60 <= len(times) <= 90
    assert max(b - a for a, b in pairwise(times)) <= REST_PERIOD + 1.1 * PERIOD < 0.02 < 0.5 * TIMEOUT


@pytest.mark.parametrize("field", ["q", "qd", "qdd", "gripper", "gripper_force"])
def test_whatever_changes_is_sent_at_once(output, field):
    repetitions = Repetitions()
    assert len(sent(repetitions, output, 2)) == 1
    for value in (1e-9, 2e-9, 0.0):
        output.record[field][...] = value
        assert len(sent(repetitions, output, 2)) == 1


def test_in_motion_every_setpoint_is_sent(output):
    repetitions = Repetitions()
    for _ in range(50):
        output.q[2] += 1e-6
        assert len(sent(repetitions, output, 1)) == 1
