"""Reach: asked along a path, answered by continuation; a path may begin anew where the arm is."""

import re
from itertools import pairwise

import numpy as np
import pytest
from wrist_turns import turning_the_wrist

from telerobot_nodes.core.robot import Kinematics, Reach, load_robot
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


def followed(robot, poses, q, passes):
    """Number of the poses that are accepted, and why the next one is not."""
    reach = Reach(robot)
    reach.pass_singularities = passes
    reach.arm_at(q)
    reach.begin()
    for k, (before, pose) in enumerate(pairwise(poses)):
        try:
            reach.step(before, pose)
        except OutOfReachError as error:
            return k + 1, str(error)
    return len(poses), ""


def test_on_request_a_path_passes_a_singularity(arm):
    poses, q = turning_the_wrist(arm, 0.01)
    count, why = followed(arm, poses, q, False)
    assert "singularity" in why and 30 < count < 41
    assert followed(arm, poses, q, True) == (len(poses), "")


@pytest.mark.parametrize("side", [0.002, 0.01])
def test_beside_a_singularity_only_a_slow_path_passes(arm, side):
    """The wrist makes half a turn there; the executor refuses half a radian between neighbouring points."""
    slow, q = turning_the_wrist(arm, 0.3 * side, side)
    assert followed(arm, slow, q, True) == (len(slow), "")
    assert np.abs(np.diff(Kinematics(arm).solve_path(slow, q), axis=0)).max() <= 0.5
    fast, q = turning_the_wrist(arm, 3.0 * side, side)
    count, why = followed(arm, fast, q, True)
    assert count < len(fast) and "slower" in why


def test_a_joint_that_would_turn_too_far_in_one_step_is_named(arm):
    poses, q = turning_the_wrist(arm, 0.016, 0.01)
    _, why = followed(arm, poses, q, True)
    assert re.search(r"joint [35] would turn 0\.\d\d rad in one step, over 0.5: move slower here", why)


def test_from_inside_a_singularity_a_path_may_leave_and_not_come_nearer(arm):
    poses, q = turning_the_wrist(arm, 0.002)
    inside = 195  # 0.01 rad before
    q[4] = 0.4 - 0.002 * inside
    assert followed(arm, poses[inside::-1], q, False) == (inside + 1, "")
    assert followed(arm, poses[inside:], q, False)[0] == 1


def test_a_step_begins_at_the_point_before_wherever_else_was_asked(arm):
    reach = Reach(arm)
    for x in np.linspace(0.0, 0.05, 11):
        reach.step(at_home(arm, x, 0.0, 0.0), at_home(arm, x + 0.005, 0.0, 0.0))
        joints = reach.joints
        reach(at_home(arm, x + 0.05, 0.0, 0.0))
    assert pose_from_se3(arm.forward(joints))[:3] == pytest.approx(at_home(arm, 0.055, 0.0, 0.0)[:3], abs=1e-7)
