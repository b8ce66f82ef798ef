"""The client of a program on the running graph: ready soon, twice in one process, in a program that uses rclpy."""

import asyncio
import threading

import numpy as np
import pytest

from telerobot_nodes.core.protocol import DeviceState
from telerobot_nodes.operator.client import CommandEnd, MoveEnd, PrimitiveEnd, PrimitiveStep, Result, commands

pytestmark = [
    pytest.mark.system,
    pytest.mark.timeout(300),
    pytest.mark.timing("measured joints older than 0.1 s stop the arm, as when the machine stalls"),
]


@pytest.fixture
def robot(demo_graph):
    from telerobot_nodes.client import connect

    with connect(name="test") as robot:
        if not robot.wait_ready(5.0):
            robot.resume()
            assert robot.wait_ready(30.0), robot.state
        yield robot


def above(robot, height):
    """A position over the plan's end."""
    return robot.state.queue.target_pose[:3] + np.array([0.0, 0.0, height])


def test_it_is_connected_with_the_first_states_and_a_second_time_beside_the_first(robot):
    from telerobot_nodes.client import connect

    with connect(name="test") as second:
        assert second.state.tool_pose.shape == (7,)
        assert second.state.queue.agent == robot.state.queue.agent
        assert second.agent != robot.agent
        assert second.ratio(1.5).result is Result.DONE
        assert robot.wait_until(lambda state: state.queue.time_ratio == 1.5, 10.0)
    assert robot.ratio(1.0).done
    assert robot.ask(commands.Deed.GRANT_CONTROL).result is Result.REFUSED  # nobody has asked


@pytest.mark.nightly
def test_a_motion_over_the_plan_ends_where_it_was_sent(robot):
    goal = above(robot, 0.03)
    moved = robot.move_to(position=goal, speed=0.1)
    assert (moved.end, moved.reason) == (MoveEnd.SUCCEEDED, "")
    assert np.abs(robot.state.tool_pose[:3] - goal).max() < 0.01
    assert robot.move_to(position=above(robot, -0.03)).ok
    start = above(robot, 0.0)
    far = robot.move_to(position=(3.0, 0.0, 0.5), speed=0.5)
    assert far.end is MoveEnd.BLOCKED
    assert robot.clear().done
    assert robot.wait_until(lambda state: state.queue.length == 0 and not state.moving, 30.0)
    assert robot.move_to(position=start).ok  # the next tests need room


def test_a_halt_ends_a_motion_and_the_next_halt_is_another(robot):
    for _ in range(2):
        move = robot.begin_move(position=above(robot, 0.05), speed=0.02)
        assert robot.wait_until(lambda state: state.moving, 20.0)
        assert robot.halt("test").result is Result.DONE
        assert move.wait(10.0).end is MoveEnd.STOPPED
        assert robot.clear().done
        assert robot.wait_until(lambda state: robot.resume().done and state.ready, 30.0)


@pytest.mark.nightly
def test_a_reset_that_the_robot_refuses_is_no_success_and_a_tare_after_it_has_its_own_outcome(robot):
    """The queue accepts both: it only sends them on."""
    assert robot.wait_until(lambda state: not state.moving, 30.0)
    asked = [robot.send(commands.Reset()), robot.send(commands.Tare())]  # before the robot has answered the first
    reset, tare = (one.wait() for one in asked)
    assert reset.result is Result.REFUSED
    assert "'RESET' is not allowed; allowed: while the e-stop or a fault is latched" in reset.text
    assert (tare.result, tare.text) == (Result.DONE, "confirmed by the robot")


@pytest.mark.nightly
def test_a_hand_with_a_linear_scale_of_0_moves_no_tool(robot):
    """A scale of 0 and one of 1, so that a slow machine that misses samples of the hand changes nothing."""
    ways = []
    for scale in (0.0, 1.0):
        assert robot.linear_scale(scale).done
        assert robot.wait_until(lambda state, scale=scale: state.queue.linear_scale == scale, 10.0)
        begin, seen = above(robot, 0.0), [0.0]

        def ended(state, begin=begin, seen=seen):
            seen.append(float(np.linalg.norm(state.queue.target_pose[:3] - begin)))
            return state.queue.device is DeviceState.IDLE

        assert robot.replay(speed=2.0, scale=0.2).done
        assert robot.wait_until(lambda state: state.queue.device is not DeviceState.IDLE, 60.0)
        assert robot.wait_until(ended, 60.0)
        ways.append(max(seen))
    assert robot.clear().done
    assert robot.wait_until(lambda state: state.queue.length == 0 and not state.moving, 60.0)
    assert ways[0] == pytest.approx(0.0, abs=1e-6)
    assert ways[1] > 0.002


@pytest.mark.nightly
def test_what_the_brake_has_deleted_comes_back_and_is_executed(robot):
    assert robot.rate(0.2).done  # so that most of the plan is ahead of the arm
    assert robot.replay(speed=2.0, scale=0.2).done
    assert robot.wait_until(lambda state: state.queue.device is DeviceState.TRACKING, 10.0)
    assert robot.wait_until(lambda state: state.queue.device is DeviceState.IDLE, 30.0)
    head = robot.state.queue.head_time
    assert robot.brake(5.0).done
    assert robot.wait_until(lambda state: state.queue.head_time < head - 0.5, 10.0)
    assert robot.undo().done
    assert robot.wait_until(lambda state: state.queue.head_time >= head and state.queue.brake_rate == 0.0, 10.0), (
        head,
        robot.state.queue,
    )
    refused = robot.undo()
    assert (refused.result, "no deleted points" in refused.text) == (Result.REFUSED, True)
    assert robot.rate(1.0).done
    assert robot.wait_until(lambda state: state.queue.length == 0 and not state.moving, 60.0)


def test_a_goal_is_sent_on_the_thread_that_takes_its_answer(robot, monkeypatch):
    """rclpy notes a question after it has sent it: an answer that another thread takes in between would be lost."""
    goals, threads = robot._primitives._goals, []
    send = goals.send_goal_async
    monkeypatch.setattr(
        goals, "send_goal_async", lambda *given: threads.append(threading.current_thread()) or send(*given)
    )
    assert robot.primitive("gcm", unheard_of=1).wait(20.0).end is PrimitiveEnd.REFUSED
    assert threads
    assert threading.current_thread() not in threads


def test_a_primitive_that_cannot_be_meant_is_refused_as_a_value(robot):
    refused = robot.primitive("gcm", comply_vect=[1, 0, 0, 0, 0, 0], sel_vect_fc=[1, 0, 0, 0, 0, 0])
    assert refused.wait(20.0).end is PrimitiveEnd.REFUSED
    assert refused.change(unheard_of=1).result is Result.REFUSED


def test_texts_are_answered_run_and_cancelled(robot):
    assert "left_arm" in robot.run("show left_arm", 30.0).answer
    assert robot.run("grasp nothing with nobody", 30.0).end is CommandEnd.REFUSED
    lift = robot.begin("move left_arm by 8 cm up speed 0.02")
    assert next(iter(lift)).command
    lift.cancel()
    assert lift.wait(30.0).end is CommandEnd.CANCELLED


def test_a_sequence_is_refused_whole_and_one_that_fits_runs_each_step_in_order(robot):
    ways = (0.01, -0.02, 0.01)
    steps = [PrimitiveStep("cartesian_guarded", {"tr_rel_dest": [0, 0, way, 0, 0, 0, 1]}) for way in ways]
    refused = robot.sequence([*steps, PrimitiveStep("gcm", {"end_time": -1.0})], "bad").wait(30.0)
    assert (refused.end, refused.done) == (PrimitiveEnd.REFUSED, 0)
    assert "end_time" in refused.reason
    begin = robot.state.tool_pose.copy()
    running = robot.sequence(steps, "there and back")
    seen = {report.step for report in running}
    ended = running.wait()
    assert (ended.end, ended.done, ended.ok) == (PrimitiveEnd.SUCCEEDED, 3, True), ended
    assert seen <= {1, 2, 3}
    assert 3 in seen
    assert robot.wait_until(lambda state: not state.moving, 10.0)
    assert np.abs(robot.state.tool_pose[:3] - begin[:3]).max() < 1e-3


@pytest.mark.nightly
def test_everything_can_be_awaited(robot):
    async def session():
        answered = await robot.send(commands.TimeRatio(1.0))
        steps = [report.kind.name async for report in robot.begin("show left_arm")]
        return answered.result, steps

    assert asyncio.run(session()) == (Result.DONE, ["REPLY"])


def test_a_program_that_uses_rclpy_carries_it_on_its_own_node(demo_graph):
    import rclpy
    from rclpy.executors import SingleThreadedExecutor

    from telerobot_nodes.client import connect
    from telerobot_nodes.nodes.framework import leave

    rclpy.init()
    node = rclpy.create_node("somebody")
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    spinning = threading.Thread(target=executor.spin, daemon=True)
    spinning.start()
    try:
        before = len(list(node.subscriptions))
        with connect(node=node) as robot:
            assert robot.state.tool_pose.shape == (7,)
            assert robot.ratio(1.0).done
        assert len(list(node.subscriptions)) == before
        assert rclpy.ok()
    finally:
        executor.shutdown()
        spinning.join(10.0)
        leave(node)
        rclpy.try_shutdown()
