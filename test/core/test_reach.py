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


def near_its_limits(robot, *joints):
    """Home with joints 0.04 rad before their upper limits, which is inside the margin."""
    q = np.array(robot.home)
    q[list(joints)] = robot.limits.upper[list(joints)] - 0.04
    return q


def moved(robot, q, joint, by):
    """The tool's pose after a motion of one joint alone."""
    q = q.copy()
    q[joint] += by
    return pose_from_se3(robot.forward(q))


@pytest.mark.parametrize("joint", [0, 3, 5])
def test_in_the_margin_a_joint_may_leave_its_limit_and_not_approach_it(arm, joint):
    q = near_its_limits(arm, joint)
    reach = Reach(arm)
    reach._seed[:] = q
    with pytest.raises(OutOfReachError, match=f"joint {joint} would come within 0.05 rad of its limit"):
        reach(moved(arm, q, joint, 0.01))
    reach(moved(arm, q, joint, -0.005))


def test_a_joint_that_leaves_its_limit_does_not_hide_another_that_approaches_its_own(arm):
    q = near_its_limits(arm, 0, 5)
    reach = Reach(arm)
    reach._seed[:] = q
    both = q.copy()
    both[[0, 5]] += (-0.005, 0.01)
    with pytest.raises(OutOfReachError, match="joint 5"):
        reach(pose_from_se3(arm.forward(both)))


def test_a_singular_pose_is_refused(arm):
    straight = np.array(arm.home)
    straight[4] = 0.0  # axes 4 and 6 coincide
    reach = Reach(arm)
    reach._seed[:] = straight
    with pytest.raises(OutOfReachError, match="singularity, smallest singular value under"):
        reach(pose_from_se3(arm.forward(straight)))
