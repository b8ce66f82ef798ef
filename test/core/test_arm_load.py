"""Load of the joints along a path: what a person would compute from joint angles, pose by pose."""

import numpy as np
import pytest

from telerobot_nodes.core.robot import ArmLoad, JointLoad, Kinematics, Reach, load_robot
from telerobot_nodes.core.values import pose_from_se3

SPACING = 0.005  # [s]


@pytest.fixture(scope="module")
def robot():
    return load_robot("panda")


def way(robot, count=12, step=0.002):
    """Poses (count, 7) on a bend that begins at home."""
    home = pose_from_se3(robot.forward(robot.home))
    poses = np.tile(home, (count, 1))
    poses[:, 1] += step * np.arange(count)
    poses[:, 2] += step * 0.05 * np.arange(count) ** 2
    return poses


def test_the_load_is_that_of_the_joints(robot):
    load, poses = ArmLoad(robot, Reach(robot), 0.9, 0.5), way(robot)
    q = Kinematics(robot).solve_path(poses, robot.home)
    for k in range(1, len(poses) - 1):
        found = load(poses[k - 1 : k + 2], SPACING)
        slope = abs(q[k + 1] - q[k - 1]) / (2.0 * SPACING)
        bend = abs(q[k + 1] - 2.0 * q[k] + q[k - 1]) / SPACING**2
        assert found.velocity == pytest.approx((slope / (0.9 * robot.limits.velocity)).max(), rel=1e-3)
        assert found.changing == pytest.approx((slope / (0.5 * robot.limits.acceleration)).max(), rel=1e-3)
        assert found.bending == pytest.approx((bend / (0.5 * robot.limits.acceleration)).max(), rel=0.02, abs=0.01)


def test_a_path_begins_where_the_reach_has_come_to(robot):
    """Far from home the elbow is where the way there has left it: from home it would be found elsewhere."""
    share = np.linspace(0.0, 1.0, 240)
    poses = np.tile(pose_from_se3(robot.forward(robot.home)), (len(share), 1))
    poses[:, :3] += np.column_stack([0.12 * np.sin(3.0 * share), 0.35 * share, -0.2 * np.sin(2.0 * share)])
    reach, followed = Reach(robot), ArmLoad(robot, Reach(robot), 1.0, 1.0)
    for pose in poses:
        reach(pose)
    for k in range(1, len(poses) - 1):
        last = followed(poses[k - 1 : k + 2], SPACING)
    assert ArmLoad(robot, reach, 1.0, 1.0)(poses[-3:], SPACING).velocity == pytest.approx(last.velocity, rel=0.07)
    from_home = ArmLoad(robot, Reach(robot), 1.0, 1.0)(poses[-3:], SPACING)
    assert from_home.velocity != pytest.approx(last.velocity, rel=0.09)


def test_a_pose_that_cannot_be_reached_is_no_load_and_the_next_path_counts_again(robot):
    load, poses = ArmLoad(robot, Reach(robot), 1.0, 1.0), way(robot)
    far = poses[:3].copy()
    far[2, 0] += 5.0
    assert load(far, SPACING) == JointLoad()
    assert load(poses[:3], SPACING).velocity > 0.0
