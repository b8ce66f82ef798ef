"""Reach: asked along a path, answered by continuation; a path may begin anew where the arm is."""

import numpy as np
import pytest

from telerobot_nodes.core.robot import Reach, load_robot
from telerobot_nodes.core.values.frames import pose_from_se3
from telerobot_nodes.errors import OutOfReachError


@pytest.fixture(scope="module")
def arm():
    return load_robot("arm")


def at_home(robot, *offset):
    offset = offset or (0.0, 0.0, 0.0)
    pose = pose_from_se3(robot.forward(robot.home))
    pose[:3] += offset
    return pose


@pytest.mark.parametrize("name", ["arm", "panda", "ur5"])
def test_every_corner_of_the_workspace_is_reached_along_the_way_to_it(name):
    robot = load_robot(name)
    half = 0.5 * robot.workspace.size
    for corner in np.array(np.meshgrid(*[(-1, 1)] * 3)).reshape(3, -1).T:
        reach = Reach(robot)
        for share in np.linspace(0.0, 0.95, 40):
            reach(at_home(robot, *(share * corner * half)))


def test_a_pose_far_away_is_refused_and_the_path_goes_on_from_before(arm):
    reach = Reach(arm)
    with pytest.raises(OutOfReachError):
        reach(at_home(arm, 0.0, 0.0, 5.0))
    reach(at_home(arm, 0.01, 0.0, 0.0))


def test_a_path_may_begin_anew_where_the_arm_is(arm):
    reach = Reach(arm)
    turned = np.array(arm.home)
    turned[0] += 1.5
    there = pose_from_se3(arm.forward(turned))
    reach.arm_at(turned)
    reach(there)


def test_where_the_arm_is_does_not_matter_while_the_path_goes_on(arm):
    reach = Reach(arm)
    reach(at_home(arm))
    turned = np.array(arm.home)
    turned[0] += 1.5
    reach.arm_at(turned)
    for x in np.linspace(0.0, 0.1, 20):
        reach(at_home(arm, x, 0.0, 0.0))
