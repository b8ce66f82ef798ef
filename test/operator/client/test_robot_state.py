"""What a program sees of one arm: nothing before it is received, the age of what was, and when the arm would follow."""

from dataclasses import replace

import numpy as np
import pytest

from telerobot_nodes.core.protocol import ExecutorMode
from telerobot_nodes.operator.client import LinkSetting, OperatorClient, QueueStatus, RobotStatus, SimulationStatus
from telerobot_nodes.operator.client.client import Tone
from telerobot_nodes.operator.client.robot_state import state_of

POSE = np.array([0.4, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0])
QUEUE = QueueStatus(has_authority=True, target_pose=POSE, lead=1.5)
ROBOT = RobotStatus(
    mode=ExecutorMode.IDLE, joint_position=np.arange(6.0), tool_pose=POSE, wrench=np.ones(6), moving=True
)


class NoPort:
    """Sends nothing: these tests only receive."""

    def halt(self, number, reason):
        raise AssertionError

    estop = call = stream = halt


@pytest.fixture
def client():
    return OperatorClient(NoPort())


def test_before_anything_is_received_nothing_is_known(client):
    state = state_of(client, 5.0)
    assert (state.age, state.link) == (None, None)
    assert state.tool_pose.size == state.joint_position.size == state.wrench.size == 0
    assert not state.ready
    assert state.notices == ()


def test_values_are_the_latest_received_with_the_age_of_the_robot_s(client):
    client.receive_robot(ROBOT, 10.0)
    client.receive_queue(QUEUE, 10.5)
    client.receive_simulation(SimulationStatus(lead=2.0), 10.6)
    client.receive_link(LinkSetting(delay=1.0), 10.7)
    client.note("first", Tone.PLAIN, 10.8)
    client.note("second", Tone.BAD, 10.9)
    state = state_of(client, 11.0)
    assert state.age == pytest.approx(1.0)
    assert np.array_equal(state.tool_pose, POSE)
    assert np.array_equal(state.joint_position, np.arange(6.0))
    assert np.array_equal(state.wrench, np.ones(6))
    assert (state.mode, state.lead, state.moving) == (ExecutorMode.IDLE, 1.5, True)
    assert (state.link.delay, state.simulation.lead) == (1.0, 2.0)
    assert state.notices == ("first", "second")


def test_a_state_does_not_change_when_more_is_received(client):
    client.receive_robot(ROBOT, 10.0)
    before = state_of(client, 11.0)
    client.receive_robot(replace(ROBOT, moving=False), 12.0)
    assert before.moving
    assert not state_of(client, 12.0).moving


FOLLOWS = {ExecutorMode.IDLE, ExecutorMode.RUNNING}


@pytest.mark.parametrize("mode", ExecutorMode)
def test_the_arm_would_follow_unless_it_is_stopped(client, mode):
    client.receive_queue(QUEUE, 10.0)
    client.receive_robot(replace(ROBOT, mode=mode), 10.0)
    assert state_of(client, 10.1).ready is (mode in FOLLOWS)


@pytest.mark.parametrize(
    ("queue", "robot"),
    [
        (replace(QUEUE, has_authority=False), ROBOT),
        (replace(QUEUE, target_pose=np.empty(0)), ROBOT),
        (QUEUE, replace(ROBOT, estop=True)),
        (QUEUE, None),
    ],
    ids=["another has authority", "the plan has no end yet", "e-stop", "no report of the robot"],
)
def test_the_arm_would_not_follow(client, queue, robot):
    client.receive_queue(queue, 10.0)
    if robot is not None:
        client.receive_robot(robot, 10.0)
    assert not state_of(client, 10.1).ready
