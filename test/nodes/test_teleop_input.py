"""The device in a primitive: velocities become increments of the time between messages, along the primitive's axes."""

import dataclasses

import numpy as np
import pinocchio as pin
import pytest

from telerobot_nodes.core.values import pose_from_se3
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.motion.parameters import GcmsfParameters

pytest.importorskip("rclpy")

from telerobot_nodes.nodes.robot.teleop_input import MAX_GAP, TeleopInput, along_mode

VELOCITY = np.array([0.1, 0.0, -0.2, 0.0, 0.5, 0.0])
TOOL_DOWN = pin.utils.rotate("y", np.pi)
BACK = np.diag([-1.0, 1.0, -1.0])


def law(mode, **teleoperation):
    values = GcmsfParameters()
    return dataclasses.replace(
        values, teleoperation=dataclasses.replace(values.teleoperation, tele_mode=mode, **teleoperation)
    )


def test_the_first_velocity_moves_nothing_and_the_next_moves_for_the_time_between():
    teleop = TeleopInput()
    np.testing.assert_array_equal(teleop.increment(5.0, VELOCITY), np.zeros(6))
    np.testing.assert_allclose(teleop.increment(5.04, VELOCITY), 0.04 * VELOCITY)


def test_after_a_pause_a_velocity_counts_for_the_longest_gap_only():
    teleop = TeleopInput()
    teleop.increment(0.0, VELOCITY)
    np.testing.assert_allclose(teleop.increment(9.0, VELOCITY), MAX_GAP * VELOCITY)


@pytest.mark.parametrize("mode", ["tool", "world", "camera"])
def test_the_primitives_own_axes_are_taken_as_they_are(mode):
    np.testing.assert_array_equal(along_mode(VELOCITY, mode, law(mode), TOOL_DOWN), VELOCITY)


@pytest.mark.parametrize(("frame", "mode"), [("world", "tool"), ("tool", "world")])
def test_axes_of_the_tool_and_of_the_world_are_turned_into_each_other(frame, mode):
    along = along_mode(VELOCITY, frame, law(mode), TOOL_DOWN)
    np.testing.assert_allclose(along, [*BACK @ VELOCITY[:3], *BACK @ VELOCITY[3:]], atol=1e-12)


def test_the_tools_axes_are_those_of_the_teleoperation_frame():
    quarter = pin.SE3(pin.utils.rotate("z", np.pi / 2), np.zeros(3))
    parameters = law("tool", tr_teleop=tuple(pose_from_se3(quarter)))
    push = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(along_mode(push, "world", parameters, np.eye(3)), [0, -1, 0, 0, 0, 0], atol=1e-12)


@pytest.mark.parametrize(("frame", "mode"), [("camera", "tool"), ("tool", "camera"), ("", "world"), ("wolrd", "tool")])
def test_other_axes_are_rejected(frame, mode):
    with pytest.raises(InvalidValueError, match=f"frame_id: '{frame}' is not allowed; allowed: .*{mode}"):
        along_mode(VELOCITY, frame, law(mode), TOOL_DOWN)
