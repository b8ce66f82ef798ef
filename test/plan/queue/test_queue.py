"""The path-plan queue with a robot behind a link: nothing lost, nothing twice, everything told."""

import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from queue_session import HOME, assert_executed_as_shown, drawing, reach, ready, steps

from telerobot_nodes.core.protocol import DeviceState, OperationKind
from telerobot_nodes.errors import InvalidValueError, TransitionError
from telerobot_nodes.plan.log import LogPosition, Timing
from telerobot_nodes.plan.queue import PathPlanQueue, QueueConfig

HANDS = sorted((Path(__file__).parents[4] / "shared" / "data" / "hand").glob("*.csv"))


def test_nothing_is_planned_before_the_robot_said_where_it_is():
    queue = PathPlanQueue(QueueConfig(), reach)
    queue.command_pose(0.0, HOME, "world")
    assert queue.poll(1.0) == []
    state = queue.state(1.0)
    assert (state.head_seq, state.has_authority, state.stale, state.data_age) == (0, False, True, -1.0)
    assert "no report yet" in state.notice


def test_the_plan_starts_with_point_one_where_the_arm_is(make):
    session = ready(make())
    ((seq, time, pose, _),) = session.shown()
    assert (seq, time) == (1, 0.0)
    assert np.allclose(pose, HOME)


@pytest.mark.lengthy
def test_every_point_is_executed_once_in_order_over_a_bad_link(make):
    session = ready(make(delay=1.0, jitter=0.3, loss=0.05, duplicate=0.1))
    session.run(4.0, drawing(session))
    assert session.state().lead > 1.5
    session.run(8.0)
    assert len(session.robot.executed) > 200
    assert_executed_as_shown(session)
    assert session.state().length == 0
    assert session.state().unacknowledged == 0


def test_engaged_time_clutch_keeps_acquisition_time_and_appends_dwell(make):
    session = ready(make())
    session.run(1.0, drawing(session))
    before = session.state()
    session.run(1.0, drawing(session, speed=0.0))
    after = session.state()
    assert after.head_time - before.head_time == pytest.approx(1.0, abs=0.03)
    assert after.head_seq - before.head_seq == pytest.approx(50, abs=1)
    assert {point[3] for point in session.shown()} == {Timing.SYNCED}


def test_dwell_ends_when_the_device_is_stale(make):
    session = ready(make())
    session.run(1.0, drawing(session, speed=0.0))
    session.run(1.0)
    head = session.state().head_seq
    session.run(5.0)
    assert session.state().head_seq == head
    assert session.state().device is DeviceState.IDLE


def test_time_ratio_scales_plan_time_and_marks_points(make):
    session = ready(make())
    assert session.queue.set_time_ratio(session.now, 0.5) == 0.5
    before = session.state().head_time
    session.run(2.0, drawing(session))
    assert session.state().head_time - before == pytest.approx(1.0, abs=0.02)
    assert session.shown()[-1][3] == Timing.SCALED


@pytest.mark.parametrize("ratio", [0.09, 10.1, math.nan, math.inf, "fast", True])
def test_a_time_ratio_out_of_range_is_refused_and_nothing_changes(make, ratio):
    session = ready(make())
    with pytest.raises(InvalidValueError, match="time_ratio"):
        session.queue.set_time_ratio(session.now, ratio)
    assert session.state().time_ratio == 1.0
    assert session.state().refused == 1


def test_disengaged_time_clutch_appends_nothing_while_standing_still(make):
    session = ready(make())
    session.queue.set_time_clutch(session.now, False)
    session.run(1.0, drawing(session))
    session.run(1.0, drawing(session, speed=0.0))
    head = session.state().head_seq
    session.run(2.0, drawing(session, speed=0.0))
    assert session.state().head_seq == head
    assert session.shown()[-1][3] == Timing.FREE


@pytest.mark.lengthy
def test_a_fast_hand_gains_lead_with_the_time_clutch_disengaged_and_engaging_keeps_it(make):
    session = ready(make())
    session.queue.set_time_clutch(session.now, False)
    session.run(3.0, drawing(session, speed=-0.45))
    session.run(1.0)  # the hand stands still: all of its path is in the plan
    lead = session.state().lead
    assert lead > 2.5
    session.queue.set_time_clutch(session.now, True)
    session.run(1.0, drawing(session, speed=0.1))
    assert session.state().lead == pytest.approx(lead, abs=0.5)
    session.run(15.0)
    assert_executed_as_shown(session)


@pytest.mark.lengthy
def test_switching_the_time_clutch_in_motion_makes_no_gap(make):
    session = ready(make())
    for k in range(8):
        session.run(0.6, drawing(session, speed=0.3 * (-1) ** k))
        session.queue.set_time_clutch(session.now, bool(k % 2))
    session.run(12.0)
    assert steps(session).max() < 0.3 * 0.02 * 1.7
    assert_executed_as_shown(session)


def test_a_jump_of_the_device_is_absorbed_counted_and_told(make):
    session = ready(make())
    draw = drawing(session)
    session.run(1.0, draw)

    def jumped(now):
        pose = [9.1, 9.0 + 0.1 * (now - 100.0), 9.0, 0.0, 0.0, 0.0, 1.0]
        session.queue.command_pose(now, pose, "device")

    session.run(1.0, jumped)
    state = session.state()
    assert state.jumps == 1
    assert "cm: absorbed" in state.notice
    assert steps(session).max() < 0.003
    assert max(abs(point[2][0] - 0.4) for point in session.shown()) < 1e-6


@pytest.mark.skipif(not HANDS, reason="recorded hands are not beside the project (../shared/data/hand)")
@pytest.mark.parametrize("file", HANDS, ids=lambda path: path.stem)
@pytest.mark.lengthy
def test_a_recorded_hand_is_planned_without_its_jumps(make, file):
    session = ready(make(delay=1.0, jitter=0.1, loss=0.02))
    rows = np.genfromtxt(file, delimiter=",", skip_header=1)
    jumps = int(np.sum(np.linalg.norm(np.diff(rows[:, 1:], axis=0), axis=1) > 0.0095))
    start, remaining = session.now, [list(row) for row in rows]

    def hand(now):
        while remaining and start + remaining[0][0] <= now:
            _, x, y, z = remaining.pop(0)
            session.queue.command_pose(now, [0.3 * x, 0.3 * y, 0.3 * z, 0.0, 0.0, 0.0, 1.0], "device")

    session.run(rows[-1, 0] + 0.1, hand)
    session.run(5.0)
    assert steps(session).max() < 2 * 0.3 * 0.0065  # two samples of the hand per point
    assert_executed_as_shown(session)
    assert session.state().jumps <= jumps


@pytest.mark.lengthy
def test_out_of_reach_is_refused_with_a_reason_and_the_plan_goes_on_without_a_gap(make):
    session = ready(make())
    session.run(4.0, drawing(session, speed=0.2, axis=0))
    state = session.state()
    assert state.device is DeviceState.HELD
    assert "out of reach" in state.notice
    furthest = max(point[2][0] for point in session.shown())
    assert 0.55 < furthest <= 0.6
    session.run(4.0, drawing(session, speed=-0.2, axis=0))
    assert session.state().device is DeviceState.TRACKING
    assert session.shown()[-1][2][0] < 0.5
    assert steps(session).max() <= 0.5 * 0.02 * 1.01
    session.run(3.0)
    assert_executed_as_shown(session)


@pytest.mark.lengthy
def test_delete_all_drops_what_is_not_executed_and_the_plan_goes_on_from_what_the_robot_kept(make):
    session = ready(make(delay=0.5))
    session.run(4.0, drawing(session))
    session.queue.clear(session.now)
    assert session.queue.poll(session.now) != []
    assert session.state().device is DeviceState.HELD
    session.run(2.0, drawing(session, speed=-0.1))
    assert session.state().device is DeviceState.TRACKING
    session.run(4.0)
    assert_executed_as_shown(session)
    assert steps(session).max() < 0.004


@pytest.mark.lengthy
def test_delete_all_twice_at_once_is_one_delete_all(make):
    session = ready(make(delay=0.2))
    session.run(2.0, drawing(session))
    session.queue.clear(session.now)
    session.queue.clear(session.now)
    session.run(2.0)
    session.run(1.0, drawing(session))
    session.run(2.0)
    assert_executed_as_shown(session)


@pytest.mark.lengthy
def test_a_full_plan_holds_the_hand_and_loses_nothing(make, models):
    robot = models.Robot(capacity=300)
    session = ready(make(robot=robot, capacity=300, reserve=100))
    robot.paused = True
    session.run(8.0, drawing(session, speed=0.05))
    state = session.state()
    assert state.device is DeviceState.HELD
    assert "plan is full" in state.notice
    assert state.length <= state.capacity == 300
    robot.paused = False
    session.run(8.0, drawing(session, speed=0.05))
    assert session.state().device is DeviceState.TRACKING
    session.run(8.0)
    assert_executed_as_shown(session)
    assert steps(session).max() < 0.002


def test_another_agents_plan_is_only_watched(make, models):
    robot = models.Robot(position=LogPosition(3, "somebody", 0))
    session = make(robot=robot)
    session.run(2.0, lambda now: session.queue.command_pose(now, HOME, "world"))
    state = session.state()
    assert not state.has_authority
    assert not state.position_clutch
    assert state.head_seq == 0
    assert session.up.sent == 0
    with pytest.raises(TransitionError):
        session.queue.clear(session.now)


def test_pause_resume_and_rate_reach_the_robot(make):
    session = ready(make(delay=0.1))
    session.run(1.0, drawing(session))
    session.queue.pause(session.now)
    session.run(0.5)
    assert session.robot.paused
    session.queue.set_rate(session.now, 2.0)
    session.queue.resume(session.now)
    session.run(3.0)
    assert not session.robot.paused
    assert session.robot.rate == 2.0
    assert_executed_as_shown(session)
    with pytest.raises(InvalidValueError, match=r"operation\.rate"):
        session.queue.set_rate(session.now, 20.0)


@pytest.mark.parametrize("bad", [[math.nan] * 7, [0.0] * 7, [0.0] * 3])
def test_a_bad_command_is_counted_and_leaves_the_plan_alone(make, bad):
    session = ready(make())
    head = session.state().head_seq
    with pytest.raises(InvalidValueError, match="pose"):
        session.queue.command_pose(session.now, bad, "world")
    session.run(1.0)
    assert session.state().refused == 1
    assert session.state().head_seq == head


def test_a_stall_of_this_side_is_not_made_up_for(make):
    session = ready(make())
    session.run(1.0, drawing(session))
    before = session.state().head_time
    session.ticks += 1000
    session.run(0.5)
    assert session.state().head_time - before < 0.7
    assert "stood still" in session.state().notice


def test_operations_follow_each_other_by_number_of_point(make):
    session = ready(make())
    session.queue.command_pose(session.now, HOME, "device")
    sent = []
    for _ in range(50):
        session.step(drawing(session))
    session.up.cut = True
    sent = [op for op in session.queue.poll(session.now + 2.0) if op.kind is OperationKind.APPEND]
    for earlier, later in itertools.pairwise(sent):
        assert later.after_seq == earlier.points.last_seq


def test_the_state_tells_the_number_of_the_latest_operation_of_each_kind(make):
    session = ready(make(delay=0.2))
    queue, state = session.queue, session.state()
    assert (state.reset_number, state.tare_number, state.resume_number) == (0, 0, 0)
    for ask in (queue.reset, queue.tare, queue.resume, queue.tare):
        ask(session.now)
    state = session.state()
    first = state.reset_number
    assert (state.tare_number, state.resume_number) == (first + 3, first + 2)
    session.run(1.0)
    assert session.state().tare_number == first + 3
