"""Tool poses to joint goals: every solution reaches the pose, the best one comes first."""

from dataclasses import replace

import numpy as np
import pytest

from telerobot_nodes.core.values import pose_from_se3
from telerobot_nodes.cspace.geometry import box
from telerobot_nodes.cspace.search import Planner
from telerobot_nodes.cspace.service.goals import SAME, SEEDS, _spread, _turned, ranked, same_places, solutions
from telerobot_nodes.errors import OutOfReachError

NO_TOLERANCE = np.zeros(3)


@pytest.fixture(scope="module")
def planner(arm):
    return Planner(arm, [])


def test_every_solution_reaches_the_pose_inside_the_limits_and_differs(planner):
    robot = planner.geometry.robot
    home = np.array(robot.home)
    T = robot.forward(home)
    found = solutions(planner, home, pose_from_se3(T), NO_TOLERANCE)
    assert found[0] == pytest.approx(home, abs=1e-6)
    for i, q in enumerate(found):
        assert robot.forward(q).isApprox(T, 1e-4)
        assert ((q >= robot.limits.lower) & (q <= robot.limits.upper)).all()
        assert all(np.abs(q - other).max() > SAME for other in found[:i])


def test_a_pose_out_of_reach_is_named(planner):
    pose = pose_from_se3(planner.geometry.robot.forward(np.array(planner.geometry.robot.home)))
    pose[0] = 9.0
    with pytest.raises(OutOfReachError, match=r"pose_goal \[9\.000.*unreachable.*26 seeds"):
        solutions(planner, np.array(planner.geometry.robot.home), pose, NO_TOLERANCE)


def test_free_goals_come_before_colliding_ones_and_near_ones_before_far_ones(arm):
    home = np.array(arm.robot.home)
    near, far = home + 0.05, home + np.array([2.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    blocked = home + np.array([-2.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    planner = Planner(arm, [box("crate", (0.3, 0.3, 0.3), arm.robot.forward(blocked).translation)])
    rated = ranked(planner, home, [blocked, far, near])
    assert [q.tolist() for _, q in rated] == [near.tolist(), far.tolist(), blocked.tolist()]
    assert [clearance > 0.0 for clearance, _ in rated] == [True, True, False]


def test_seeds_are_spread_over_the_whole_range_and_always_the_same():
    lower, upper = np.array([-1.0, -2.0, 0.0]), np.array([1.0, 2.0, 3.0])
    seeds = np.array(_spread(lower, upper))
    assert len(seeds) == SEEDS
    assert ((seeds >= lower) & (seeds <= upper)).all()
    for column, low, high in zip(seeds.T, lower, upper, strict=True):
        assert set(np.floor(4 * (column - low) / (high - low)).astype(int)) == {0, 1, 2, 3}
    assert np.array_equal(seeds, _spread(lower, upper))


def test_turned_poses_stay_inside_the_tolerance(arm):
    T = arm.robot.forward(np.array(arm.robot.home))
    assert len(list(_turned(T, NO_TOLERANCE))) == 1
    poses = list(_turned(T, np.array([0.0, 0.0, 0.5])))
    assert len(poses) > 2
    for turned in poses[1:]:
        relative = T.rotation.T @ turned.rotation
        assert relative[:, 2] == pytest.approx([0.0, 0.0, 1.0])
        assert 0.0 < abs(np.arctan2(relative[1, 0], relative[0, 0])) <= 0.5 + 1e-9
        assert turned.translation == pytest.approx(T.translation)


def test_a_joint_without_end_stops_is_turned_the_short_way(planar):
    robot, turn = planar.robot, 2.0 * np.pi
    limits = replace(robot.limits, lower=np.array([-turn, -2.5]), upper=np.array([turn, 2.5]))
    endless = replace(robot, limits=limits, continuous=frozenset({"a"}))
    start, goal = np.array([3.0, 0.0]), np.array([-3.0, 1.0])
    places = same_places(endless, start, goal)
    assert places[0] == pytest.approx([turn - 3.0, 1.0])
    assert places[1] == pytest.approx(goal)
    assert len(same_places(replace(robot, limits=limits), start, goal)) == 1
