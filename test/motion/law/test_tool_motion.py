"""Without sensors the nominal joints pass unchanged inside their limits."""

import numpy as np

from telerobot_nodes.core.values import pose_from_se3
from telerobot_nodes.motion.law import NominalTool


def test_nominal_joints_pass_bit_for_bit_and_the_pose_is_theirs(robot):
    tool, wanted = NominalTool(robot), np.zeros(robot.dof)
    for seed in range(5):
        q = robot.home + 0.1 * np.random.default_rng(seed).standard_normal(robot.dof)
        q = np.clip(q, robot.limits.lower, robot.limits.upper)
        tool.step(0.0, q, wanted, frozen=False)
        assert np.array_equal(wanted, q)
        np.testing.assert_allclose(tool.pose, pose_from_se3(robot.forward(q)), atol=1e-9)


def test_joints_outside_their_limits_are_limited(robot):
    tool, wanted = NominalTool(robot), np.zeros(robot.dof)
    tool.step(0.0, robot.limits.upper + 0.1, wanted, frozen=False)
    assert np.array_equal(wanted, robot.limits.upper)


def test_sensors_change_nothing(arm):
    tool, wanted = NominalTool(arm), np.zeros(arm.dof)
    tool.set_wrench(0.0, np.full(6, 50.0))
    tool.add_displacement(np.full(6, 0.1))
    tool.measure(arm.limits.upper)
    tool.tare()
    tool.step(0.0, np.array(arm.home), wanted, frozen=True)
    assert np.array_equal(wanted, arm.home)
    assert tool.monitor == 0


def test_a_reset_shows_the_pose_of_its_joints(arm):
    tool = NominalTool(arm)
    tool.reset(np.array(arm.home))
    np.testing.assert_allclose(tool.pose, pose_from_se3(arm.forward(arm.home)), atol=1e-9)
