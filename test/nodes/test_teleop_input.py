"""The device in a primitive: velocities become increments of the time between messages."""

import numpy as np
import pytest

from telerobot_nodes.errors import InvalidValueError

pytest.importorskip("rclpy")

from telerobot_nodes.nodes.robot.teleop_input import MAX_GAP, TeleopInput

VELOCITY = np.array([0.1, 0.0, -0.2, 0.0, 0.5, 0.0])


def test_the_first_velocity_moves_nothing_and_the_next_moves_for_the_time_between():
    teleop = TeleopInput()
    np.testing.assert_array_equal(teleop.increment(5.0, VELOCITY, "tool", "tool"), np.zeros(6))
    np.testing.assert_allclose(teleop.increment(5.04, VELOCITY, "tool", "tool"), 0.04 * VELOCITY)


def test_after_a_pause_a_velocity_counts_for_the_longest_gap_only():
    teleop = TeleopInput()
    teleop.increment(0.0, VELOCITY, "tool", "tool")
    np.testing.assert_allclose(teleop.increment(9.0, VELOCITY, "tool", "tool"), MAX_GAP * VELOCITY)


def test_axes_other_than_the_primitives_are_rejected_and_change_nothing():
    teleop = TeleopInput()
    teleop.increment(0.0, VELOCITY, "tool", "tool")
    with pytest.raises(InvalidValueError, match="allowed: tool"):
        teleop.increment(0.05, VELOCITY, "world", "tool")
    np.testing.assert_allclose(teleop.increment(0.06, VELOCITY, "tool", "tool"), 0.06 * VELOCITY)
