"""The operator's queue with the real executor behind a slow link: both ends keep the same promises."""

import executor_models
import numpy as np
import plan_models
import pytest
import two_agents

from telerobot_nodes.core.protocol import AuthorityKind, ExecutorMode
from telerobot_nodes.core.robot import Reach
from telerobot_nodes.plan.queue import Join, PathPlanQueue, QueueConfig


@pytest.fixture
def session():
    def make(delay=0.5, loss=0.02, **config):
        queue = PathPlanQueue(QueueConfig(**config), Reach(executor_models.ARM))
        up, down = (plan_models.Link(n, delay, 0.1 * delay, loss) for n in (1, 2))
        session = plan_models.Session(queue, executor_models.ExecutorRobot(), up, down)
        session.run(1.0 + 4 * delay)
        assert session.state().head_seq == 1
        return session

    return make


def drawing(session, velocity):
    begin = session.now

    def command(now):
        position = 9.0 + np.array(velocity) * (now - begin)
        session.queue.command_pose(now, [*position, 0.0, 0.0, 0.0, 1.0], "device")

    return command


def assert_executed_as_shown(session):
    robot = session.robot
    assert [seq for seq, _ in robot.executed] == [point[0] for point in session.shown()]
    assert robot.refused == []
    assert robot.worst_velocity <= 1.0
    assert robot.worst_acceleration <= 1.0
    path = np.array([point[2][:3] for point in session.shown()])
    dense = np.vstack([path[:-1] + u * np.diff(path, axis=0) for u in np.linspace(0.0, 1.0, 5)])
    tool = np.array(robot.poses)[::5, :3]
    off = [np.min(np.linalg.norm(dense - p, axis=1)) for p in tool]
    assert max(off) < 0.003


def finish(session, longest=25.0):
    end = session.now + longest
    while session.now < end and (session.state().length or session.state().unacknowledged):
        session.run(0.5)
    session.run(1.0)


@pytest.mark.lengthy
def test_a_hand_over_a_slow_link_with_both_time_bases(session):
    s = session()
    s.run(2.0, drawing(s, (0.0, 0.08, 0.02)))
    s.queue.set_time_clutch(s.now, False)
    s.run(2.0, drawing(s, (-0.05, -0.2, 0.0)))
    s.queue.set_time_clutch(s.now, True)
    s.run(1.0, drawing(s, (0.0, 0.08, 0.0)))
    finish(s)
    assert_executed_as_shown(s)
    assert len(s.robot.executed) > 200


@pytest.mark.parametrize("pause", [0.0, 0.4, 0.8, 1.2, 1.6, 2.4])
@pytest.mark.parametrize("share", [1.0, 0.15])
def test_after_primitives_one_after_another_the_plan_goes_on_from_where_the_arm_is(session, pause, share):
    """The plan that begins after the first one is late: it arrives when the second has moved the arm away.

    It shall neither be in a fault, nor move the arm back to where it was seen.
    """
    s = session(delay=0.6)
    for by in (0.2, -0.3, 0.25):
        s.robot.move_by_primitive(share * by, 1.0)
        s.run(1.0 + pause)
    ended = s.robot.pose.copy()
    s.run(8.0)
    assert np.abs(s.robot.pose[:3] - ended[:3]).max() < 1e-6
    assert s.robot.report().mode is ExecutorMode.IDLE, s.robot.report().reason
    state = s.state()
    assert state.length == 0
    assert np.abs(state.target_pose[:3] - s.robot.pose[:3]).max() < 1e-3
    s.run(2.0, drawing(s, (0.0, 0.05, 0.0)))
    finish(s)
    assert s.robot.report().executed_seq == s.state().head_seq


@pytest.mark.parametrize("begun", [1.5, 1.8, 2.1, 2.4, 2.7])
@pytest.mark.parametrize("by", [0.3, 0.04])
def test_a_first_plan_that_a_primitive_overtook_begins_again_where_the_arm_is(begun, by):
    """Its first point is on its way when the primitive begins; it moves the arm back by no small way either."""
    queue = PathPlanQueue(QueueConfig(), Reach(executor_models.ARM))
    up, down = (plan_models.Link(n, 0.6, 0.06, 0.0) for n in (1, 2))
    s = plan_models.Session(queue, executor_models.ExecutorRobot(), up, down)
    s.run(begun)
    s.robot.move_by_primitive(by, 1.0)
    s.run(1.1)
    ended = s.robot.pose.copy()
    s.run(9.0)
    assert np.abs(s.robot.pose[:3] - ended[:3]).max() < 1e-6
    assert s.robot.report().mode is ExecutorMode.IDLE, s.robot.report().reason
    assert np.abs(s.state().target_pose[:3] - s.robot.pose[:3]).max() < 1e-3


def test_points_that_were_laid_are_not_dropped_because_a_primitive_moved_the_arm(session):
    s = session(delay=0.6)
    s.queue.pause(s.now)
    s.run(2.0, drawing(s, (0.0, 0.05, 0.0)))
    s.run(2.0)
    laid = s.state().length
    assert laid > 20
    s.robot.move_by_primitive(0.3, 1.0)
    s.run(8.0)
    assert s.state().length == laid
    assert s.robot.report().mode is ExecutorMode.FAULT
    assert "clear the plan" in s.robot.report().reason


@pytest.mark.lengthy
def test_delete_all_and_brake_while_the_arm_moves(session):
    s = session()
    s.queue.set_time_clutch(s.now, False)
    s.run(2.5, drawing(s, (0.0, 0.2, 0.0)))
    s.queue.set_brake(s.now, 3.0)
    s.run(0.4)
    s.queue.set_brake(s.now, 0.0)
    s.run(1.0, drawing(s, (0.0, 0.0, 0.1)))
    s.queue.clear(s.now)
    s.run(2.0, drawing(s, (0.0, -0.1, 0.0)))
    finish(s)
    assert_executed_as_shown(s)


@pytest.mark.lengthy
def test_the_brake_against_the_committed_stretch_of_the_real_executor(session):
    s = session(loss=0.0)
    s.run(3.0, drawing(s, (0.0, 0.1, 0.0)))
    s.queue.set_brake(s.now, 20.0)
    s.run(2.0)
    assert "committed" in s.state().notice
    s.queue.set_brake(s.now, 0.0)
    s.run(1.5, drawing(s, (0.0, -0.1, 0.0)))
    finish(s)
    assert_executed_as_shown(s)


@pytest.mark.parametrize("kind", [Join.CONNECT, Join.ADOPT])
@pytest.mark.lengthy
def test_a_trial_path_joined_while_the_arm_moves(session, kind):
    s = session()
    s.run(1.5, drawing(s, (0.0, 0.1, 0.0)))
    s.queue.set_position_clutch(s.now, False)
    s.run(1.5, drawing(s, (0.0, 0.1, 0.05)))
    assert s.queue.set_position_clutch(s.now, True, kind).engaged
    s.run(1.0, drawing(s, (0.0, 0.0, -0.05)))
    finish(s)
    assert_executed_as_shown(s)


@pytest.mark.lengthy
def test_a_restarted_operators_side_goes_on_where_the_arm_came_to_rest(session):
    s = session()
    s.run(2.0, drawing(s, (0.0, 0.1, 0.0)))
    again = plan_models.Session(PathPlanQueue(QueueConfig(), Reach(executor_models.ARM)), s.robot, s.up, s.down)
    again.ticks = s.ticks
    again.run(6.0)
    again.run(1.0, drawing(again, (0.0, -0.1, 0.0)))
    finish(again)
    executed = [seq for seq, _ in s.robot.executed]
    assert executed == sorted(set(executed))
    shown = [point[0] for point in again.shown()]
    assert executed[-len(shown) :] == shown
    assert s.robot.refused == []


@pytest.mark.lengthy
def test_a_hand_off_while_the_real_executor_moves():
    two = two_agents.Two(0.2, robot=executor_models.ExecutorRobot)
    two.run(1.5)
    home = two.robot.pose

    def at(y, z):
        goal = home + np.array([0.0, y, z, 0.0, 0.0, 0.0, 0.0])
        return lambda now: goal

    two.sides["ann"][0].set_time_ratio(two.now, 8.0)
    two.run(2.0, ann=at(0.15, 0.0), bob=at(0.1, 0.03))
    two.say("bob", AuthorityKind.REQUEST)
    two.say("ann", AuthorityKind.CONSENT)
    two.run(15.0, bob=at(0.1, 0.1))
    assert two.state("bob").has_authority
    two.run(4.0)
    assert two.robot.refused == []
    assert np.allclose(two.robot.pose[:3], home[:3] + np.array([0.0, 0.1, 0.1]), atol=1e-3)
    assert max(pose[1] for pose in two.robot.poses) < home[1] + 0.145  # 5 cm past Bob's tool at most, not 15 cm
    epochs = [epoch for _, epoch in two.robot.executed]
    assert epochs == sorted(epochs)
    assert len(set(epochs)) == 2
    assert two.robot.worst_velocity <= 1.0
    assert two.robot.worst_acceleration <= 1.0
