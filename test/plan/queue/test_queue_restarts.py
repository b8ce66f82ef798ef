"""The path-plan queue over link cuts, restarts of either side, and points that wait too long."""

import math

import numpy as np
import pytest
from queue_session import assert_executed_as_shown, drawing, reach, ready, steps

from telerobot_nodes.core.protocol import OperationKind
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.plan.queue import PathPlanQueue, QueueConfig


@pytest.mark.lengthy
def test_a_link_cut_is_shown_and_nothing_is_lost(make):
    session = ready(make(delay=0.2))
    draw = drawing(session, speed=0.02)
    session.run(2.0, draw)
    session.up.cut = session.down.cut = True
    session.run(10.0, draw)
    assert session.state().stale
    assert session.state().unacknowledged > 100
    session.up.cut = session.down.cut = False
    session.run(1.7, draw)
    assert not session.state().stale
    session.run(15.0)
    assert_executed_as_shown(session)


@pytest.mark.lengthy
def test_a_restart_of_this_side_goes_on_after_what_the_robot_holds(make, models):
    session = ready(make(delay=0.3))
    session.run(3.0, drawing(session))
    first, epoch = session.state().head_seq, session.state().epoch
    second = models.Session(PathPlanQueue(QueueConfig(), reach), session.robot, session.up, session.down)
    second.ticks = session.ticks
    second.run(0.5)
    second.run(8.0, drawing(second))
    second.run(4.0)
    assert second.shown()[0][0] > session.robot.executed[0][0]
    assert session.robot.receiver.position.epoch > epoch
    executed = [seq for seq, _ in session.robot.executed]
    assert executed == sorted(set(executed))
    assert executed[-1] == second.state().head_seq > first
    assert session.robot.refused == []


def test_a_robot_that_restarts_from_its_journal_goes_on_with_the_same_log(make, models):
    session = ready(make(delay=0.2))
    session.run(2.0, drawing(session))
    old = session.robot
    new = models.Robot(position=old.receiver.position)
    for name in ("points", "executed", "executed_seq", "tail_seq", "plan_time", "tail_time", "pose"):
        setattr(new, name, getattr(old, name))
    session.robot = new
    session.run(2.0, drawing(session))
    session.run(3.0)
    assert_executed_as_shown(session)


@pytest.mark.lengthy
def test_a_robot_that_lost_everything_is_noticed_and_planned_for_anew(make, models):
    session = ready(make(delay=0.1))
    session.run(2.0, drawing(session))
    session.robot = models.Robot(pose=session.robot.pose)
    session.run(5.0)
    session.run(1.0, drawing(session))
    session.run(3.0)
    assert session.robot.refused == []
    assert session.robot.executed[-1][0] == session.state().head_seq
    assert session.robot.executed[0][0] > 1


@pytest.mark.parametrize("delay", [0.0, 0.4])
@pytest.mark.parametrize("drawn", [2.0, 4.0])
@pytest.mark.parametrize("braked", [False, True])
@pytest.mark.lengthy
@pytest.mark.brief(4)
def test_what_a_restarted_robot_had_not_executed_is_sent_again_and_executed_once(make, delay, drawn, braked):
    session = ready(make(delay=delay))
    session.robot.rate = 0.3
    session.run(drawn, drawing(session))
    if braked:
        session.queue.set_brake(session.now, 1.0)
        session.run(0.2)
    session.robot.restart()
    committed = session.robot.executed_seq
    if braked:
        session.queue.set_brake(session.now, 0.0)
    session.run(0.5, drawing(session))
    session.run(8.0 + 8 * delay)
    shown = session.shown()
    assert session.robot.refused == [] or "after_seq" in session.robot.refused[0]
    assert [seq for seq, _ in session.robot.executed] == [point[0] for point in shown]
    assert committed < shown[-1][0]
    drawn_until = 0.1 * drawn - (0.1 if braked else 0.0)
    assert shown[-1][2][1] > drawn_until - 0.03  # nothing laid and kept is missing
    assert np.diff([point[1] for point in shown]).max() < 0.6
    assert steps(session).max() < 0.02
    assert "sent again" in " ".join(session.notices)


def test_points_that_wait_at_the_robot_longer_than_the_execution_window_expire_and_it_is_said(make):
    session = ready(make(execution_window=0.5, delay=0.1))
    assert session.state().execution_window == 0.5
    session.run(0.5, drawing(session))
    missing, until, send = session.queue._sync.replication.sender.last_number + 1, session.now + 1.5, session.up.send

    def lossy(now, operations):  # one operation does not come through for a while; what follows waits for it
        send(now, [entry for entry in operations if entry.number != missing or now > until])

    session.up.send = lossy
    session.run(1.0, drawing(session))
    session.run(4.0)
    assert any("window: expired" in notice for notice in session.notices)
    executed = [seq for seq, _ in session.robot.executed]
    assert executed == [point[0] for point in session.shown()]
    assert 10 < len(executed) < 60


@pytest.mark.parametrize("bad", [-1.0, math.nan, 4000.0])
def test_an_execution_window_out_of_range_is_refused_by_name(bad):
    with pytest.raises(InvalidValueError, match="execution_window"):
        QueueConfig(execution_window=bad)


def test_what_stops_or_deletes_never_expires(make):
    session = ready(make(execution_window=0.5))
    session.run(0.5, drawing(session))
    session.queue.pause(session.now)
    session.queue.set_brake(session.now, 5.0)
    session.run(0.02)
    pending = {
        entry.operation.kind: entry.operation.window for entry in session.queue._sync.replication.sender._pending
    }
    assert pending[OperationKind.PAUSE] == 0.0
    assert pending.get(OperationKind.TRUNCATE, 0.0) == 0.0
    session.queue.resume(session.now)
    assert session.queue._sync.replication.sender._pending[-1].operation.window == 0.5


def test_what_a_dead_operators_side_left_on_the_way_is_not_taken_for_the_next_ones(make):
    session = ready(make(delay=0.5))
    config = session.queue.config
    for pause in (True, False):  # two lives, the second born before the first one's claim came back
        session.queue = PathPlanQueue(config, reach)
        session.run(0.6)  # it has heard the robot, and claimed
        if pause:
            session.queue.pause(session.now)
            session.queue.pause(session.now)
            session.run(0.02)
    session.run(4.0)
    session.queue.resume(session.now)
    session.run(2.0)
    assert not session.robot.paused
    assert session.state().has_authority
