"""Link poses for displays agree with the arm's own kinematics."""

import numpy as np
import pytest

from telerobot_nodes.core.robot import LinkFrames, load_robot
from telerobot_nodes.core.values.frames import pose_from_se3
from telerobot_nodes.errors import InvalidValueError


@pytest.mark.parametrize("name", ["arm", "panda"])
def test_every_link_is_placed_and_the_tool_is_where_the_kinematics_say(name):
    robot = load_robot(name)
    frames = LinkFrames(robot)
    poses = frames.poses(robot.home)
    assert poses.shape == (len(frames.names), 7)
    assert len(set(frames.names)) == len(frames.names) > robot.dof
    tool = pose_from_se3(robot.forward(robot.home))
    assert np.abs(poses[:, :3] - tool[:3]).max(axis=1).min() < 0.3  # a link ends at the tool
    moved = frames.poses(robot.home + 0.1)
    assert np.abs(moved - poses).max() > 0.05
    assert np.allclose(np.linalg.norm(poses[:, 3:], axis=1), 1.0)


def test_joints_of_another_robot_are_refused():
    with pytest.raises(InvalidValueError, match="q"):
        LinkFrames(load_robot("arm")).poses(np.zeros(3))
