"""The modes of control on the running graph with its decision unit: who moves the arm; a change moves nothing."""

import numpy as np
import pytest

from telerobot_nodes.core.protocol import ControlMode
from telerobot_nodes.operator.client import CommandEnd, commands

pytestmark = [
    pytest.mark.system,
    pytest.mark.nightly,
    pytest.mark.timeout(300),
    pytest.mark.timing("measured joints older than 0.1 s stop the arm, as when the machine stalls"),
]

LIMIT = 60.0  # [s]
SCALE = 0.1  # [-] of the hand


@pytest.fixture(scope="module")
def robot(own_demo_graph):
    from telerobot_nodes.client import connect

    with connect(name="test") as robot:
        assert robot.wait_ready(LIMIT), robot.state
        assert robot.wait_until(lambda state: state.input is not None, LIMIT)
        yield robot


def select(robot, mode):
    done = robot.ask(commands.Mode(mode))
    assert done.done, done.text
    assert robot.wait_until(lambda state: state.control_mode is mode, LIMIT), robot.state.input


def at_rest(robot):
    def rests(state):
        return state.robot.executed_seq >= state.queue.head_seq and not state.moving and not state.input.replay

    assert robot.wait_until(rests, LIMIT), robot.state


def moves_by_text(robot, text, z):
    before = robot.state.tool_pose
    ended = robot.run(text, limit=LIMIT)
    assert ended.ok, ended
    at_rest(robot)
    assert robot.wait_until(lambda state: abs(state.tool_pose[2] - before[2] - z) < 0.004, 10.0), robot.state.tool_pose


def replays(robot):
    """Whether a recorded hand may lay the plan now; it is played to its end."""
    begun = robot.ask(commands.Replay("", 4.0, SCALE))
    if begun.done:
        assert robot.wait_until(lambda state: state.moving, LIMIT), robot.state
        assert robot.wait_until(lambda state: not state.input.replay, LIMIT), robot.state
        at_rest(robot)
    return begun.done


@pytest.mark.parametrize("mode", list(ControlMode))
def test_no_change_of_the_mode_moves_the_arm(robot, mode):
    at_rest(robot)
    before = robot.state.joint_position
    select(robot, mode)
    select(robot, ControlMode.TELEOPERATION)
    assert robot.wait_until(lambda state: state.queue.has_authority, LIMIT)
    assert robot.wait_until(lambda state: not state.moving, 10.0)
    np.testing.assert_allclose(robot.state.joint_position, before, atol=0.002)


def test_in_teleoperation_the_hand_lays_the_plan(robot):
    assert replays(robot)


def test_in_supervisory_mode_commands_move_the_arm_and_the_hand_does_not(robot):
    select(robot, ControlMode.SUPERVISORY)
    assert not replays(robot)
    moves_by_text(robot, "move left_arm by 3 cm up", 0.03)
    assert robot.state.queue.has_authority


def test_in_autonomous_mode_the_program_moves_the_arm_and_the_plan_is_free(robot):
    select(robot, ControlMode.AUTONOMOUS)
    assert robot.wait_until(lambda state: not state.queue.has_authority, LIMIT), robot.state.queue
    moves_by_text(robot, "move left_arm by 3 cm down", -0.03)
    assert not replays(robot)


def test_back_in_teleoperation_the_hand_goes_on_from_where_the_program_left_the_arm(robot):
    select(robot, ControlMode.TELEOPERATION)
    assert robot.wait_until(lambda state: state.ready, LIMIT), robot.state
    tool, head = robot.state.tool_pose, robot.state.queue.target_pose
    np.testing.assert_allclose(head[:3], tool[:3], atol=0.005)
    assert replays(robot)


def test_in_mode_traded_the_arm_is_whose_the_plan_is(robot):
    select(robot, ControlMode.TRADED)
    assert replays(robot)
    assert robot.ask(commands.Deed.RELEASE_CONTROL).done
    assert robot.wait_until(lambda state: not state.input.plan, LIMIT), robot.state.input
    assert not replays(robot)
    moves_by_text(robot, "move left_arm by 2 cm up", 0.02)
    assert robot.ask(commands.Deed.REQUEST_CONTROL).done
    assert robot.wait_until(lambda state: state.input.plan and state.ready, LIMIT), robot.state
    assert replays(robot)


def test_in_shared_mode_the_hand_lays_no_plan_and_a_primitive_runs(robot):
    select(robot, ControlMode.SHARED)
    assert robot.wait_until(lambda state: state.input.primitive, LIMIT)
    assert not replays(robot)
    moved = robot.primitive("cartesian_guarded", tr_rel_dest=[0, 0, -0.02, 0, 0, 0, 1]).wait()
    assert moved.ok, moved
    select(robot, ControlMode.TELEOPERATION)
    assert robot.wait_until(lambda state: state.ready, LIMIT), robot.state
    assert robot.run("status", limit=LIMIT).end is not CommandEnd.REFUSED
