"""Operations that the plan executor rejects: far, out of reach, out of order, too many, of a stranger."""

import re

import numpy as np
import pinocchio as pin
import pytest
from executor_side import ROBOT, K, Side, poses_at

from telerobot_nodes.core.protocol import ExecutorMode
from telerobot_nodes.core.robot import Kinematics
from telerobot_nodes.core.values import pose_from_se3
from telerobot_nodes.plan.executor import ExecutorConfig, PlanExecutor
from telerobot_nodes.plan.log import Operation, PlanPoints


def refused(side, contains, held):
    report = side.report()
    assert report.refused_number == side.number
    assert contains in report.refusal
    assert report.tail_seq == held


def test_a_first_point_far_from_the_arm_is_refused():
    side = Side()
    far = poses_at([0.0])
    far[0, 2] += 0.2
    side.lay(1, pose=far)
    refused(side, "points.pose[0] (step): 0.2", 0)


def test_points_out_of_reach_are_refused_and_later_ones_do_not_jump_the_gap():
    side = Side()
    side.lay(20)
    pose = np.tile(poses_at([side.time]), (30, 1))
    pose[:, 0] += 0.09 * np.arange(1, 31)
    side.lay(30, pose=pose)
    refused(side, "poses[", 20)
    side.send(K.APPEND, points=side.points(5, first=51), after_seq=50)
    refused(side, "follows a refused operation: poses[", 20)
    side.lay(5, first=56)
    assert side.report().tail_seq == 60
    side.finish()
    assert side.executed == [*range(1, 21), *range(56, 61)]


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"author": "bob"}, "points.author: 'bob'"),
        ({"time": [0.05, 0.07]}, "points.time[0]: 0.05"),
        ({"after": 7}, "operation.after_seq: 7"),
    ],
)
def test_points_that_do_not_continue_the_plan_are_refused_naming_field_and_value(values, field):
    side = Side()
    side.lay(20)
    side.lay(2, **values)
    refused(side, field, 20)


def test_numbers_of_dropped_points_are_not_taken_again():
    side = Side()
    side.lay(20)
    side.send(K.TRUNCATE, after_seq=10)
    side.lay(2, first=15)
    refused(side, "points.first_seq: 15", 10)


def test_a_jump_between_points_is_refused():
    side = Side()
    side.lay(20)
    pose = poses_at(side.time + 0.02 * np.arange(1, 4))
    pose[2, 1] += 0.15
    side.lay(3, pose=pose)
    refused(side, "points.pose[2] (step)", 20)


def test_points_beyond_the_capacity_are_refused():
    side = Side(ExecutorConfig(capacity=50))
    side.lay(40)
    side.lay(20)
    refused(side, "20 do not fit; allowed: 10 more", 40)


def test_nothing_is_accepted_before_the_arm_has_reported():
    executor = PlanExecutor(ROBOT)
    pose = poses_at([0.0])
    operations = [
        Operation(1, 1, K.AUTHORITY, "ann"),
        Operation(1, 2, K.APPEND, "ann", PlanPoints(1, np.zeros(1), pose, np.zeros(1), "ann")),
    ]
    executor.receive(0.0, operations)
    assert "after the arm's first report" in executor.report(0.0).refusal
    assert executor.tick(0.0) is None


def test_operations_of_a_stranger_or_an_old_epoch_change_nothing():
    side = Side()
    side.lay(20)
    before = side.report().tail_seq
    side.executor.receive(side.now, [Operation(1, side.number + 1, K.CLEAR, "bob")])
    side.executor.receive(side.now, [Operation(0, 1, K.CLEAR, "ann")])
    assert side.report().tail_seq == before


@pytest.mark.parametrize("first", [2**32 + 151, 2**62, 2**63, 2**64 - 200])
def test_no_point_can_leave_no_number_for_the_next(first):
    side = Side()
    side.lay(150)
    assert "points.first_seq" in side.send(K.APPEND, points=side.points(50, first=first), after_seq=150).refusal
    side.lay(20)
    side.finish()
    assert side.executed == list(range(1, 171))


def far_apart(step, turn=0.0, n=8):
    """Tool poses (n, 7) along a straight line from the start, `step` [m] and `turn` [rad] apart."""
    T = ROBOT.forward(ROBOT.home)
    away = np.array([0.0, -1.0, -1.0]) / np.sqrt(2.0)
    rows = [
        pose_from_se3(pin.SE3(T.rotation @ pin.exp3(np.array([turn * k, 0.0, 0.0])), T.translation + step * k * away))
        for k in range(n)
    ]
    return np.array(rows)


def sent(pose, spacing=0.5, **values):
    """The executor with an APPEND of points `spacing` [s] apart, after a first one where the arm is."""
    side = Side(ExecutorConfig(start_step=0.1, start_turn=0.5, **values))
    side.lay(1, pose=pose[:1])
    side.lay(len(pose) - 1, pose=pose[1:], time=spacing * np.arange(1, len(pose)))
    return side


def test_points_so_sparse_that_the_tool_would_leave_the_straight_line_are_refused_whole():
    side = sent(far_apart(0.09))
    refusal = side.report().refusal
    found = re.match(
        r"points.pose\[(\d)\] \(deviation\): (0\.\d+) is not allowed; allowed: within 0.003 m of the", refusal
    )
    assert found, refusal
    row, value = int(found[1]), float(found[2])
    q = Kinematics(ROBOT).solve_path(far_apart(0.09), ROBOT.home)
    middle = ROBOT.forward(0.5 * (q[row] + q[row + 1])).translation
    line = far_apart(0.09)[row : row + 2, :3].mean(axis=0)
    assert value == pytest.approx(np.linalg.norm(middle - line), abs=1e-4)
    assert value > 0.003
    side.run(0.2)
    assert (side.report().tail_seq, side.report().queue_length, side.executed) == (1, 0, [1])


def test_the_same_line_with_points_between_is_executed_on_the_line():
    pose = far_apart(0.02, n=32)
    side = sent(pose, spacing=0.2)
    assert side.report().refusal == ""
    places = []
    while side.report().mode is not ExecutorMode.IDLE or len(places) < 10:
        side.run(0.05)
        places.append(ROBOT.forward(side.follower.q).translation)
    along = (pose[-1, :3] - pose[0, :3]) / np.linalg.norm(pose[-1, :3] - pose[0, :3])
    off = [np.linalg.norm(np.cross(place - pose[0, :3], along)) for place in places]
    assert max(off) < 0.001
    assert side.executed[-1] == 32


def test_turns_between_sparse_points_are_looked_at_as_well():
    refusal = sent(far_apart(0.05, 0.4, n=3), max_deviation=0.5, max_turn_deviation=0.0005).report().refusal
    assert re.match(r"points.pose\[\d\] \(deviation\): 0\.\d+ is not allowed; allowed: within 0.0005 rad", refusal), (
        refusal
    )


def test_how_far_is_a_parameter():
    assert sent(far_apart(0.09), max_deviation=0.02, max_turn_deviation=0.2).report().refusal == ""
    assert "allowed: within 0.0001 m" in sent(far_apart(0.03), max_deviation=1e-4).report().refusal


def test_the_way_from_the_arm_to_a_first_point_is_no_way_between_points():
    side = Side(ExecutorConfig(max_deviation=1e-5, max_turn_deviation=1e-4))
    pose = far_apart(0.045, n=2)
    side.lay(2, pose=np.array([pose[1], pose[1]]))
    assert side.report().refusal == ""
    side.lay(1, pose=pose[:1])
    assert "points.pose[0] (deviation)" in side.report().refusal
