"""Where a simulated arm stands outlives its process."""

import numpy as np
import pytest

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.hardware import ArmPose, Hardware, KeptPose, MujocoArm


@pytest.fixture
def robot():
    return load_robot("arm")


def test_the_latest_joints_are_there_for_the_next_process(tmp_path, robot):
    kept = KeptPose(tmp_path / "arm.pose", robot)
    assert kept.latest() is None
    q = np.array(robot.home)
    for step in (0.1, 0.2):
        kept.keep(q + step, 0.1 * step)
    latest = KeptPose(tmp_path / "arm.pose", robot).latest()
    assert np.array_equal(latest.position, q + 0.2)
    assert latest.gripper == pytest.approx(0.02)


def test_joints_outside_the_limits_or_of_another_arm_are_none(tmp_path, robot):
    kept = KeptPose(tmp_path / "arm.pose", robot)
    for wrong in (np.full(robot.dof, np.nan), robot.limits.upper + 0.1):
        kept.keep(wrong, 0.0)
        assert KeptPose(tmp_path / "arm.pose", robot).latest() is None
    kept.keep(np.array(robot.home), 0.0)
    assert KeptPose(tmp_path / "arm.pose", load_robot("panda")).latest() is None


def test_a_file_that_cannot_be_used_is_named(tmp_path, robot):
    with pytest.raises(InvalidValueError, match="no_folder"):
        KeptPose(tmp_path / "no_folder" / "arm.pose", robot)


def test_a_simulated_arm_starts_where_it_stood(robot):
    start = ArmPose(np.array(robot.home) + 0.3, 0.03)
    hardware = Hardware(robot, arm=MujocoArm(robot, start=start))
    hardware.open(0.0)
    hardware.step(0.5)
    assert hardware.measured().position == pytest.approx(start.position, abs=2e-3)
    assert hardware.measured().gripper == pytest.approx(start.gripper, abs=2e-3)
