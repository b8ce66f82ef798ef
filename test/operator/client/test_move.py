"""A motion over the plan: targets on a line at the speed asked for, and an end for whatever the robot may do."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from telerobot_nodes.core.protocol import DeviceState, ExecutorMode
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.client import Move, MoveEnd, MoveGoal, OperatorClient, QueueStatus, RobotStatus

HOME = np.array([0.5, 0.0, 0.4, 0.0, 0.0, 0.0, 1.0])
PERIOD = 0.04  # [s]


class Graph:
    """Queue and robot as a model: the plan follows the targets, the arm follows the plan `late` [s] later."""

    def __init__(self, late=1.0, reach=10.0):
        self.client = OperatorClient(self)
        self.now, self.late, self.reach = 10.0, late, reach
        self.queue = QueueStatus(has_authority=True, target_pose=HOME)
        self.robot = RobotStatus(tool_pose=HOME)
        self.plan = [(self.now, HOME)]  # time laid, pose
        self.sent = []
        self.receive()

    def stream(self, target):
        self.sent.append((self.now, target.pose))
        inside = np.linalg.norm(target.pose[:3]) <= self.reach
        if inside:  # the time clutch is engaged: a target at rest is a point too
            self.plan.append((self.now, target.pose))
        held = DeviceState.TRACKING if inside else DeviceState.HELD
        self.queue = replace(self.queue, head_seq=len(self.plan) - 1, device=held, notice="" if inside else "far")

    def halt(self, number, reason):
        raise AssertionError("a motion halts nobody")

    estop = halt

    def receive(self):
        if self.now - (self.sent[-1][0] if self.sent else 0.0) > 0.3:
            self.queue = replace(self.queue, device=DeviceState.IDLE)
        done = sum(time <= self.now - self.late for time, _ in self.plan)
        pose = self.plan[max(done - 1, 0)][1]
        self.robot = replace(self.robot, executed_seq=max(done - 1, 0), tool_pose=pose)
        self.client.receive_queue(self.queue, self.now)
        self.client.receive_robot(self.robot, self.now)

    def run(self, goal, at=lambda graph: None, most=60.0):
        move = Move(goal)
        move.begin(self.client, self.now)
        begun = self.now
        while move.result is None and self.now - begun < most:
            self.now += PERIOD
            at(self)
            self.receive()
            target = move.step(self.client, self.now)
            if target is not None:
                self.client.send_pose_target(target)
        return move.result


@pytest.mark.parametrize("speed", [0.05, 0.2])
def test_the_tool_goes_straight_at_the_speed_and_the_end_waits_for_the_arm(speed):
    graph = Graph(late=3.0)
    goal = HOME[:3] + np.array([0.1, 0.0, -0.1])
    result = graph.run(MoveGoal(goal, speed=speed))
    assert result.end is MoveEnd.SUCCEEDED
    poses = np.array([pose for _, pose in graph.sent])
    steps = np.linalg.norm(np.diff(poses[:, :3], axis=0), axis=1)
    assert steps.max() <= speed * PERIOD * 1.001
    line = np.cross(poses[:, :3] - HOME[:3], goal - HOME[:3])
    assert np.abs(line).max() < 1e-9
    assert np.allclose(graph.robot.tool_pose[:3], goal)
    assert graph.now - graph.sent[-1][0] > 2.9  # it waited for the late arm


def test_a_turn_alone_keeps_the_position_and_takes_its_time():
    graph = Graph()
    result = graph.run(MoveGoal(orientation=(0.0, 0.0, 1.0, 0.0)))
    assert result.end is MoveEnd.SUCCEEDED
    poses = np.array([pose for _, pose in graph.sent])
    assert np.allclose(poses[:, :3], HOME[:3])
    assert graph.sent[-1][0] - graph.sent[0][0] >= np.pi / 0.5 - PERIOD


def change(name, **values):
    """From 0.5 s of the motion on, this status has these values."""

    def at(graph):
        if graph.now > 10.5:
            setattr(graph, name, replace(getattr(graph, name), **values))

    return at


@pytest.mark.parametrize(
    ("at", "end"),
    [
        (change("robot", mode=ExecutorMode.HALTED), MoveEnd.STOPPED),
        (change("robot", mode=ExecutorMode.PAUSED), MoveEnd.STOPPED),
        (change("robot", mode=ExecutorMode.FAULT), MoveEnd.STOPPED),
        (change("robot", estop=True), MoveEnd.STOPPED),
        (change("queue", has_authority=False), MoveEnd.STOPPED),
        (change("queue", position_clutch=False), MoveEnd.TRIAL),
    ],
)
def test_what_keeps_the_arm_from_following_ends_the_motion(at, end):
    graph = Graph()
    assert graph.run(MoveGoal(HOME[:3] + 0.1), at).end is end
    sent = len(graph.sent)
    graph.receive()
    assert len(graph.sent) == sent


def test_a_stopped_robot_refuses_before_anything_is_laid():
    graph = Graph()
    graph.robot = RobotStatus(mode=ExecutorMode.HALTED, reason="a test", tool_pose=HOME)
    graph.receive()
    result = graph.run(MoveGoal(HOME[:3] + 0.1))
    assert (result.end, "a test" in result.reason, graph.sent) == (MoveEnd.REFUSED, True, [])


def test_a_goal_out_of_reach_is_blocked_with_the_queues_reason():
    result = Graph(reach=0.7).run(MoveGoal((2.0, 0.0, 0.4), speed=0.5))
    assert (result.end, result.reason) == (MoveEnd.BLOCKED, "far")


def test_an_arm_that_does_not_follow_is_late_and_one_that_is_not_seen_is_silent():
    assert Graph(late=1e6).run(MoveGoal(HOME[:3] + 0.1, limit=5.0)).end is MoveEnd.LATE
    graph = Graph()
    graph.receive = lambda: None
    assert graph.run(MoveGoal(HOME[:3] + 0.1, speed=0.01)).end is MoveEnd.SILENT


@pytest.mark.lengthy
@given(st.tuples(*[st.floats(-1.0, 1.0)] * 3), st.floats(0.02, 0.5), st.floats(0.0, 5.0))
def test_every_motion_ends_once_and_within_its_limit(position, speed, late):
    graph = Graph(late=late, reach=1.5)
    result = graph.run(MoveGoal(position, speed=speed, limit=50.0), most=60.0)
    assert result is not None
    assert result.ok == (result.end is MoveEnd.SUCCEEDED)


@pytest.mark.parametrize(
    "values",
    [
        {"position": (1.0, 2.0)},
        {"position": (np.nan, 0, 0)},
        {"orientation": (1, 1, 0, 0)},
        {"speed": 0.0},
        {"speed": np.nan},
        {"limit": -1},
    ],
)
def test_a_goal_that_cannot_be_meant_is_refused(values):
    with pytest.raises(InvalidValueError, match=next(iter(values))):
        MoveGoal(**values)
