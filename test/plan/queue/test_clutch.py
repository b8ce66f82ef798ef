"""Position clutch, joins and time brake on the queue, in any combination; nothing is lost."""

import math

import numpy as np
import plan_models
import pytest
from queue_session import drawing, reach

from telerobot_nodes.errors import InvalidValueError, JoinError, TransitionError
from telerobot_nodes.plan.log import Timing
from telerobot_nodes.plan.queue import Join, PathPlanQueue, QueueConfig
from telerobot_nodes.plan.queue.brake import TimeBrake
from telerobot_nodes.plan.queue.path_connector import straight

HOME = np.array([0.4, 0.0, 0.4, 0.0, 0.0, 0.0, 1.0])


def start(delay=0.1, blocked=None, planner=None, robot=None, **config):
    extra = {"planner": planner, **({"blocked": blocked} if blocked else {})}
    queue = PathPlanQueue(QueueConfig(**config), reach, **extra)
    up, down = plan_models.Link(1, delay), plan_models.Link(2, delay)
    session = plan_models.Session(queue, robot or plan_models.Robot(), up, down)
    session.run(0.5 + 3 * delay)
    assert session.state().has_authority
    return session


def trial_of(session):
    plan = []
    for update in session.updates:
        if update.trial:
            if update.kind == 2:
                plan = []
            if update.kind == 1:
                plan = [p for p in plan if p[0] <= update.after_seq]
            if update.points is not None:
                p = update.points
                plan += [(p.first_seq + i, float(p.time[i]), p.pose[i]) for i in range(len(p))]
    return plan


def assert_whole(session):
    """What was shown is what was executed, without a gap in place."""
    shown = session.shown()
    assert [seq for seq, _ in session.robot.executed] == [point[0] for point in shown]
    assert session.robot.refused == []
    poses = np.array([point[2][:3] for point in shown])
    assert np.linalg.norm(np.diff(poses, axis=0), axis=1).max(initial=0.0) <= 0.5 * 0.02 * 1.05


def disengaged(session, seconds=2.0, **kwargs):
    session.run(1.0, drawing(session))
    session.run(0.5)
    session.queue.set_position_clutch(session.now, False)
    session.run(seconds, drawing(session, **kwargs))
    session.run(0.5)
    return session


def test_disengaged_the_plan_receives_nothing_and_the_trial_begins_at_its_head():
    session = start()
    session.run(1.0, drawing(session))
    session.run(0.5)
    head = session.shown()[-1]
    session.queue.set_position_clutch(session.now, False)
    session.run(1.0, drawing(session))
    assert session.shown()[-1][0] == head[0]
    trial = trial_of(session)
    assert np.allclose(trial[0][2], head[2])
    assert trial[0][1] == pytest.approx(head[1])
    assert session.state().trial_length == len(trial) - 1 > 40
    assert not session.state().position_clutch


@pytest.mark.lengthy
def test_link_appends_a_straight_timed_way_to_the_latest_trial_point():
    session = disengaged(start())
    plan_head, trial_head = session.shown()[-1], trial_of(session)[-1]
    outcome = session.queue.set_position_clutch(session.now, True, Join.CONNECT)
    assert outcome.engaged
    assert outcome.appended > 10
    session.run(4.0)
    link = session.shown()[-outcome.appended :]
    assert {point[3] for point in link} == {Timing.LINK}
    assert np.allclose(link[-1][2], trial_head[2])
    line = np.array([point[2][:3] for point in link])
    start_, end = plan_head[2][:3], trial_head[2][:3]
    along = (end - start_) / np.linalg.norm(end - start_)
    off = line - start_ - np.outer((line - start_) @ along, along)
    assert np.abs(off).max() < 1e-6
    assert_whole(session)


@pytest.mark.lengthy
def test_after_a_link_the_hand_goes_on_from_the_trial_head():
    session = disengaged(start())
    session.queue.set_position_clutch(session.now, True, Join.CONNECT)
    session.run(1.0, drawing(session))
    session.run(5.0)
    assert session.shown()[-1][2][1] > trial_of(session)[-1][2][1] if trial_of(session) else True
    assert_whole(session)


@pytest.mark.lengthy
def test_adopt_appends_the_whole_trial_path_with_its_times():
    session = disengaged(start())
    trial, head = trial_of(session), session.shown()[-1]
    outcome = session.queue.set_position_clutch(session.now, True, Join.ADOPT)
    assert outcome.appended == len(trial) - 1
    session.run(6.0)
    adopted = session.shown()[-outcome.appended :]
    assert np.allclose([p[2] for p in adopted], [p[2] for p in trial[1:]])
    assert np.allclose([p[1] - head[1] for p in adopted], [p[1] - trial[0][1] for p in trial[1:]])
    assert_whole(session)


@pytest.mark.lengthy
def test_adopt_links_first_when_the_plan_was_cut_meanwhile():
    session = start(delay=0.3)
    session.run(3.0, drawing(session))
    session.queue.set_position_clutch(session.now, False)
    session.queue.clear(session.now)
    session.run(1.5, drawing(session))
    trial = trial_of(session)
    outcome = session.queue.set_position_clutch(session.now, True, Join.ADOPT)
    assert outcome.engaged
    assert outcome.appended > len(trial) - 1
    session.run(8.0)
    assert Timing.LINK in {point[3] for point in session.shown()}
    assert_whole(session)


@pytest.mark.lengthy
def test_discard_drops_the_trial_and_the_hand_goes_on_from_the_plan():
    session = disengaged(start(), speed=0.2)
    head, trial = session.shown()[-1], session.state().trial_length
    outcome = session.queue.set_position_clutch(session.now, True, Join.DISCARD)
    assert trial > 2
    assert outcome == type(outcome)(True, 0, f"trial path discarded: {trial} points")
    session.run(0.5, drawing(session, speed=0.05))
    session.run(3.0)
    after = [point for point in session.shown() if point[0] > head[0]]
    assert np.linalg.norm(after[0][2][:3] - head[2][:3]) < 0.002
    assert session.state().trial_length == 0
    assert_whole(session)


@pytest.mark.parametrize("kind", list(Join))
def test_engaging_with_an_empty_trial_joins_nothing_and_says_so(kind):
    session = start()
    session.queue.set_position_clutch(session.now, False)
    outcome = session.queue.set_position_clutch(session.now, True, kind)
    assert outcome.engaged
    assert outcome.appended == 0
    assert "empty" in outcome.reason


def test_a_blocked_link_is_refused_with_the_reason_and_loses_nothing():
    session = disengaged(start(blocked=lambda way: "box 3 in the way"))
    before = (len(session.shown()), len(trial_of(session)))
    outcome = session.queue.set_position_clutch(session.now, True, Join.CONNECT)
    assert not outcome.engaged
    assert "box 3 in the way" in outcome.reason
    assert not session.state().position_clutch
    session.step()
    assert len(session.shown()) == before[0]
    assert len(trial_of(session)) >= before[1]


@pytest.mark.lengthy
def test_a_planner_is_asked_when_the_straight_link_is_blocked():
    def blocked(way):
        return "wall" if np.all(way[:, 2] < 0.405) else ""

    def over(start_, goal):
        up = (start_ + goal) / 2
        up[2] += 0.1
        return np.vstack([straight(start_, up), straight(up, goal)[1:]])

    session = disengaged(start(blocked=blocked, planner=over))
    outcome = session.queue.set_position_clutch(session.now, True, Join.CONNECT)
    assert outcome.engaged
    session.run(8.0)
    assert max(point[2][2] for point in session.shown()) > 0.45
    assert_whole(session)


def test_a_planner_without_a_way_is_a_refusal():
    def hopeless(start_, goal):
        raise JoinError("no way round in 100 tries")

    session = disengaged(start(blocked=lambda way: "wall", planner=hopeless))
    outcome = session.queue.set_position_clutch(session.now, True)
    assert not outcome.engaged
    assert "no way round" in outcome.reason


def test_a_join_that_does_not_fit_is_refused_and_loses_nothing():
    session = start(capacity=140, reserve=40)
    session.robot.paused = True
    session.run(2.5, drawing(session, speed=0.02))
    session.queue.set_position_clutch(session.now, False)
    session.run(2.5, drawing(session, speed=0.02))
    before = (len(session.shown()), len(trial_of(session)))
    outcome = session.queue.set_position_clutch(session.now, True, Join.ADOPT)
    assert not outcome.engaged
    assert "allowed: 180" in outcome.reason
    assert (len(session.shown()), len(trial_of(session))) == before


def test_a_join_waits_for_the_robots_confirmation():
    session = disengaged(start(delay=0.5))
    session.queue.clear(session.now)
    outcome = session.queue.set_position_clutch(session.now, True)
    assert not outcome.engaged
    session.run(2.0)
    assert session.queue.set_position_clutch(session.now, True).engaged


@pytest.mark.lengthy
def test_the_brake_deletes_from_the_tail_at_its_rate():
    session = start()
    session.robot.paused = True
    session.run(5.0, drawing(session))
    head = session.state()
    assert session.queue.set_brake(session.now, 2.0) == 2.0
    session.run(1.0)
    state = session.state()
    assert state.brake_rate == 2.0
    assert head.head_time - state.head_time == pytest.approx(2.0, abs=0.15)
    assert session.shown()[-1][0] == state.head_seq
    session.queue.set_brake(session.now, 0.0)
    session.run(1.0)
    assert session.state().head_seq == state.head_seq
    session.robot.paused = False
    session.run(6.0)
    assert_whole(session)


@pytest.mark.lengthy
def test_the_brake_stops_at_the_committed_stretch_and_says_so():
    session = start(delay=0.5)
    session.run(4.0, drawing(session))
    session.queue.set_brake(session.now, 20.0)
    session.run(0.5)
    assert "at committed stretch" in session.state().notice
    session.run(3.0)
    session.queue.set_brake(session.now, 0.0)
    session.run(1.0, drawing(session))
    session.run(3.0)
    assert_whole(session)


@pytest.mark.lengthy
def test_brake_during_motion_of_the_hand_then_on_again_has_no_gap():
    session = start(delay=0.2)
    for rate in (3.0, 0.0, 8.0, 0.0):
        session.run(1.5, drawing(session, speed=0.2))
        session.queue.set_brake(session.now, rate)
        session.run(0.4, drawing(session, speed=0.2))
    session.run(8.0)
    assert_whole(session)


def test_the_brake_works_on_the_trial_path_while_the_position_clutch_is_disengaged():
    session = disengaged(start())
    plan, trial = len(session.shown()), len(trial_of(session))
    session.queue.set_brake(session.now, 1.0)
    session.run(1.0)
    assert len(trial_of(session)) == pytest.approx(trial - 50, abs=5)
    session.run(5.0)
    assert len(trial_of(session)) == 1
    assert "start" in session.state().notice
    assert len(session.shown()) == plan


@pytest.mark.parametrize("rate", [0.05, 21.0, -1.0, math.nan, math.inf])
def test_a_brake_rate_out_of_range_is_refused_and_nothing_changes(rate):
    session = start()
    with pytest.raises(InvalidValueError, match="brake_rate"):
        session.queue.set_brake(session.now, rate)
    assert session.state().brake_rate == 0.0


def test_controls_before_there_is_a_plan_are_refused():
    queue = PathPlanQueue(QueueConfig(), reach)
    with pytest.raises(TransitionError):
        queue.set_position_clutch(0.0, False)
    with pytest.raises(TransitionError):
        queue.set_brake(0.0, 1.0)


def test_brake_cutoff_runs_backward_at_its_rate():
    brake = TimeBrake(0.1, 20.0)
    brake.set(10.0, 2.0, 50.0)
    assert brake.cutoff(13.0) == 44.0
    brake.set(13.0, 0.0, 44.0)
    assert not brake.engaged
