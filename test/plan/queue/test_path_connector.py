"""Connecting paths between two poses."""

import numpy as np
import pytest
from plan_values import HOME
from queue_session import Within

from telerobot_nodes.errors import JoinError, OutOfReachError
from telerobot_nodes.plan.log import Timing
from telerobot_nodes.plan.queue.path_connector import STEP, TURN, PathConnector, same_pose, straight, thinned
from telerobot_nodes.plan.shaping import TimeBaseConfig

CONFIG = TimeBaseConfig()


def at(y=0.0, z=0.4, turn=0.0):
    return np.array([0.4, y, z, 0.0, 0.0, np.sin(0.5 * turn), np.cos(0.5 * turn)])


def connector(check=None, **values):
    return PathConnector(CONFIG, 0.02, Within(check) if check else Within(), **values)


def detour(start, goal):
    up = at(0.5 * (start[1] + goal[1]), 0.5)
    return np.vstack([straight(start, up), straight(up, goal)[1:]])


def test_a_straight_path_has_both_ends_and_even_steps():
    path = straight(HOME, at(0.1, turn=0.3))
    assert np.array_equal(path[0], HOME)
    assert path[-1] == pytest.approx(at(0.1, turn=0.3))
    steps = np.linalg.norm(np.diff(path[:, :3], axis=0), axis=1)
    assert steps.max() <= STEP * 1.01
    turns = 2.0 * np.arccos(np.minimum(np.abs(np.sum(path[1:, 3:] * path[:-1, 3:], axis=1)), 1.0))
    assert turns.max() <= TURN * 1.01


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("turn", [0.0, 1e-9, 0.8, 1.57, 3.0])
def test_a_straight_path_is_straight_with_a_turn_too(turn, sign):
    goal = at(0.3, 0.5, turn)
    goal[3:] *= sign
    path = straight(HOME, goal)
    along = (goal - HOME)[:3] / np.linalg.norm((goal - HOME)[:3])
    way = path[:, :3] - HOME[:3]
    assert np.linalg.norm(way - np.outer(way @ along, along), axis=1).max() < 1e-12
    turns = 2.0 * np.arccos(np.minimum(np.abs(path[:, 3:] @ HOME[3:]), 1.0))
    assert turns == pytest.approx(np.linspace(0.0, turn, len(path)), abs=1e-6)
    assert np.linalg.norm(path[:, 3:], axis=1) == pytest.approx(1.0)


def test_a_recorded_path_is_checked_from_end_to_end():
    path = np.vstack([straight(HOME, at(0.2)), np.tile(at(0.2), (50, 1))])
    seen = []

    def pole(poses):
        seen.append(poses)
        return "pole" if (np.abs(poses[:, 1] - 0.1) < STEP).any() else ""

    with pytest.raises(JoinError, match="pole; allowed: a free trial path"):
        connector(blocked=pole).check(path)
    assert np.array_equal(seen[0][[0, -1]], path[[0, -1]])
    assert len(seen[0]) < 50  # a rest is one pose
    connector(blocked=lambda poses: "").check(path)


def test_thinning_leaves_out_only_what_is_nearer_than_a_step():
    path = np.array([at(1.01 * STEP * k) for k in range(8)])
    assert np.array_equal(thinned(path), path)
    doubled = np.repeat(path, 2, axis=0)
    assert np.array_equal(thinned(doubled)[:-1], path)
    assert np.array_equal(thinned(doubled)[-1], path[-1])


def test_a_recorded_path_out_of_reach_is_refused():
    def reach(pose):
        if pose[1] > 0.15:
            raise OutOfReachError("too far")

    with pytest.raises(JoinError, match="too far"):
        connector(reach).check(straight(HOME, at(0.2)))


def test_connections_run_from_rest_to_rest_inside_the_limits():
    points = connector().connect(HOME, at(0.2))
    assert points.timing is Timing.LINK
    assert points.pose[-1] == pytest.approx(at(0.2))
    y = np.concatenate([[0.0], points.pose[:, 1]])
    speed = np.diff(y) / points.step
    assert speed.max() <= CONFIG.speed * 1.001
    assert max(speed[0], speed[-1]) < 0.1 * CONFIG.speed
    assert np.abs(np.diff(speed)).max() / 0.02 <= CONFIG.acceleration * 1.05


def test_the_same_pose_needs_no_points():
    assert len(connector().connect(HOME, at(5e-5))) == 0
    assert same_pose(HOME, at(5e-5))
    assert not same_pose(HOME, at(2e-4))
    assert not same_pose(HOME, at(turn=2e-3))


def test_a_blocked_path_without_a_planner_is_refused_with_the_reason():
    with pytest.raises(JoinError, match="pole"):
        connector(blocked=lambda path: "pole").connect(HOME, at(0.2))


def test_a_path_out_of_reach_is_refused():
    def reach(pose):
        if pose[1] > 0.15:
            raise OutOfReachError("too far")

    with pytest.raises(JoinError, match="too far"):
        connector(reach).connect(HOME, at(0.2))


def test_a_planner_is_asked_only_when_the_straight_path_is_blocked():
    asked = []

    def planner(start, goal):
        asked.append(goal)
        return detour(start, goal)

    def low(path):
        return "pole" if path[:, 2].max() < 0.45 else ""

    free = connector(planner=planner).connect(HOME, at(0.2))
    assert asked == []
    assert free.pose[:, 2].max() == pytest.approx(0.4)
    around = connector(blocked=low, planner=planner).connect(HOME, at(0.2))
    assert len(asked) == 1
    assert around.pose[:, 2].max() > 0.49
    assert around.pose[-1] == pytest.approx(at(0.2))


def test_a_planned_path_is_checked_too():
    with pytest.raises(JoinError, match="planner's path fails: pole"):
        connector(blocked=lambda path: "pole", planner=detour).connect(HOME, at(0.2))


def test_a_planner_without_a_path_is_a_refusal():
    def planner(start, goal):
        raise JoinError("no path")

    with pytest.raises(JoinError, match="no path"):
        connector(blocked=lambda path: "pole", planner=planner).connect(HOME, at(0.2))


@pytest.mark.parametrize("passes", [False, True])
def test_a_connection_that_passes_a_singularity_too_fast_for_the_joints_is_refused(passes):
    class Fast(Within):
        pass_singularities = passes

        def step(self, before, pose):
            if before[1] < 0.1 < pose[1]:
                raise OutOfReachError("joint 3 would turn too far: slower")

    connects = PathConnector(CONFIG, 0.02, Fast())
    if passes:
        with pytest.raises(JoinError, match="join: joint 3 would turn too far: slower"):
            connects.connect(HOME, at(0.2))
    else:
        assert connects.connect(HOME, at(0.2)).pose[-1] == pytest.approx(at(0.2))
