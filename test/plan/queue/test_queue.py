"""The path-plan queue with a robot behind a link: nothing lost, nothing twice, everything told."""

import itertools
import math
from pathlib import Path

import numpy as np
import plan_models
import pytest

from telerobot_nodes.core.protocol import DeviceState, OperationKind
from telerobot_nodes.errors import InvalidValueError, OutOfReachError, TransitionError
from telerobot_nodes.plan.log import LogPosition, Timing
from telerobot_nodes.plan.queue import Join, PathPlanQueue, QueueConfig

HOME = [0.4, 0.0, 0.4, 0.0, 0.0, 0.0, 1.0]
HANDS = sorted((Path(__file__).parents[4] / "shared" / "data" / "hand").glob("*.csv"))


def reach(pose):
    if pose[0] > 0.6:
        raise OutOfReachError(f"pose: x {pose[0]:.3f} is out of reach; allowed: 0.6 or less")


@pytest.fixture(scope="session")
def models():
    return plan_models


@pytest.fixture
def make(models):
    def session(delay=0.0, jitter=0.0, loss=0.0, duplicate=0.0, robot=None, seed=1, **config):
        queue = PathPlanQueue(QueueConfig(**config), reach)
        up = models.Link(seed, delay, jitter, loss, duplicate)
        down = models.Link(seed + 1, delay, jitter, loss, duplicate)
        return models.Session(queue, robot or models.Robot(), up, down)

    return session


def ready(session):
    session.run(0.5 + 3 * session.up.delay)
    assert session.state().has_authority
    assert session.state().head_seq >= 1
    return session


def drawing(session, speed=0.1, axis=1):
    """A device that goes steadily along one axis from now on."""
    start = session.now

    def command(now):
        pose = [9.0, 9.0, 9.0, 0.0, 0.0, 0.0, 1.0]
        pose[axis] += speed * (now - start)
        session.queue.command_pose(now, pose, "device")

    return command


def assert_executed_as_shown(session):
    assert [seq for seq, _ in session.robot.executed] == [point[0] for point in session.shown()]
    assert session.robot.refused == []


def steps(session):
    poses = np.array([point[2][:3] for point in session.shown()])
    return np.linalg.norm(np.diff(poses, axis=0), axis=1)


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


def test_delete_all_twice_at_once_is_one_delete_all(make):
    session = ready(make(delay=0.2))
    session.run(2.0, drawing(session))
    session.queue.clear(session.now)
    session.queue.clear(session.now)
    session.run(2.0)
    session.run(1.0, drawing(session))
    session.run(2.0)
    assert_executed_as_shown(session)


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


def test_the_gripper_travels_with_the_points(make):
    session = ready(make())
    assert session.state().gripper < 0.0
    assert session.queue.set_gripper(session.now, 0.05) == 0.05
    session.run(0.5, drawing(session))
    assert session.updates[-1].points.gripper[-1] == 0.05
    with pytest.raises(InvalidValueError, match="gripper"):
        session.queue.set_gripper(session.now, 0.5)
    assert session.state().gripper == 0.05


@pytest.mark.parametrize("engaged", [True, False])
def test_the_gripper_of_a_resting_hand_moves_at_once_and_what_was_drawn_keeps_its_own(make, engaged):
    session = ready(make())
    session.queue.set_gripper(session.now, 0.02)
    session.queue.set_time_clutch(session.now, engaged)
    session.run(1.0, drawing(session))
    session.run(2.0)  # the device is silent: nothing is laid any more
    drawn = session.state().head_seq
    session.queue.set_gripper(session.now, 0.08)
    assert session.state().head_seq == drawn + 1
    session.run(3.0)
    opening = np.concatenate(
        [u.points.gripper for u in session.updates if u.points is not None and u.points.gripper.size]
    )
    assert opening[-1] == 0.08
    assert np.all(opening[:-1] == 0.02)
    assert session.queue.remaining(10).size == 0
    assert_executed_as_shown(session)


def test_the_brake_takes_an_opening_back(make):
    session = ready(make())
    session.queue.set_time_ratio(session.now, 4.0)  # the robot is far behind
    session.queue.set_gripper(session.now, 0.02)
    session.run(2.0, drawing(session))
    session.queue.set_gripper(session.now, 0.08)
    session.run(0.5, drawing(session))
    assert session.state().gripper == 0.08
    session.queue.set_brake(session.now, 10.0)
    session.run(0.3)
    session.queue.set_brake(session.now, 0.0)
    assert session.state().gripper == 0.02
    session.run(0.3, drawing(session))
    assert session.updates[-1].points.gripper[-1] == 0.02


@pytest.mark.parametrize(("join", "opening"), [(Join.CONNECT, 0.08), (Join.ADOPT, 0.08), (Join.DISCARD, 0.02)])
def test_an_opening_tried_on_the_trial_path_comes_with_what_is_joined(make, join, opening):
    session = ready(make())
    session.queue.set_gripper(session.now, 0.02)
    session.queue.set_position_clutch(session.now, False)
    session.run(0.5, drawing(session))
    session.queue.set_gripper(session.now, 0.08)
    session.run(0.5)
    assert session.queue.set_position_clutch(session.now, True, join).engaged
    assert session.state().gripper == opening
    session.run(3.0)
    assert_executed_as_shown(session)
    laid = [update.points for update in session.updates if not update.trial and update.points is not None]
    assert laid[-1].gripper[-1] == opening


def test_the_gripper_has_no_plan_to_be_part_of_before_there_is_authority(make):
    session = make()
    with pytest.raises(TransitionError, match="gripper"):
        session.queue.set_gripper(session.now, 0.02)


def test_a_gripper_set_under_the_brake_waits_for_the_next_point(make):
    session = ready(make())
    session.run(1.0, drawing(session))
    session.queue.set_brake(session.now, 0.5)
    session.run(0.1)
    head = session.state().head_seq
    session.queue.set_gripper(session.now, 0.03)
    assert session.state().head_seq <= head
    session.queue.set_brake(session.now, 0.0)
    session.run(0.5, drawing(session))
    assert session.updates[-1].points.gripper[-1] == 0.03


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


@pytest.mark.parametrize("delay", [0.0, 0.4])
@pytest.mark.parametrize("drawn", [2.0, 4.0])
@pytest.mark.parametrize("braked", [False, True])
@pytest.mark.lengthy
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
