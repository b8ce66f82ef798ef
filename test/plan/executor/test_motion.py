"""Windows along the plan, followed by the control loop's own follower, checked at every millisecond."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from motion_rig import LIMITS, Rig

from telerobot_nodes.core.protocol import ControlState
from telerobot_nodes.core.robot.limits import JERK_RATIO
from telerobot_nodes.plan.executor import MotionConfig
from telerobot_nodes.plan.log import ControlReport

TIGHT = replace(LIMITS, jerk=np.array([5.0, 20.0, 100.0]) * LIMITS.acceleration)


def wave(n, spacing, size=0.3, speed=1.0):
    t = spacing * np.arange(1, n + 1)
    phase = np.array([0.3, 1.1, 2.0])
    bend = np.array([0.5, 0.8, 1.3]) * speed
    return t, size * (np.sin(2 * np.pi * bend * t[:, None] + phase) - np.sin(phase))


def laid(rig, n=100, spacing=0.02, **shape):
    t, q = wave(n, spacing, **shape)
    path = rig.motion.path
    rig.lay(path.times[-1] + t, path.joints[-1] + q)


def assert_limits_kept(rig):
    velocity, acceleration, jerk = rig.worst()
    assert velocity <= 1.0
    assert acceleration <= 1.0
    after_loss = JERK_RATIO * (rig.limits.acceleration / rig.limits.jerk).max()  # the loop joins a motion under way
    assert jerk <= (after_loss if rig.lost_windows else 1.0)


def test_a_plan_is_executed_to_its_last_point_and_ends_at_rest_there():
    rig = Rig()
    laid(rig, 100)
    assert rig.finish()
    assert_limits_kept(rig)
    assert rig.motion.executed_seq() == 100
    np.testing.assert_allclose(rig.follower.q, rig.motion.path.joints[-1], atol=1e-9)
    assert np.all(rig.follower.v == 0.0)
    assert np.all(rig.follower.a == 0.0)


def test_a_new_plan_that_begins_at_an_earlier_plan_time_is_reported_from_there():
    rig = Rig()
    laid(rig, 100)
    assert rig.finish()
    assert rig.motion.plan_time == pytest.approx(2.0)
    rig.motion.begin(rig.now, 0.5, rig.follower.q.copy(), 100)
    assert rig.motion.plan_time == 0.5
    laid(rig, 100)
    rig.run(1.0)
    assert 0.5 < rig.motion.plan_time < 1.6


@pytest.mark.lengthy
def test_a_plan_inside_the_limits_takes_its_own_time_and_little_more():
    rig = Rig()
    laid(rig, 300, size=0.1, speed=0.5)
    begun = rig.now
    assert rig.finish()
    assert rig.now - begun < 6.0 + 1.2


@pytest.mark.lengthy
@pytest.mark.parametrize("ratio", [50.0, 20.0, 5.0])
def test_a_lower_jerk_limit_of_the_joints_is_kept_and_costs_time(ratio):
    took = []
    for limits in (LIMITS, replace(LIMITS, jerk=ratio * LIMITS.acceleration)):
        rig = Rig(limits=limits)
        for goal in (1.0, 0.2, 3.0):
            rig.goal = goal
            laid(rig, 20, size=0.3, speed=1.0)
            rig.run(0.3)
        assert rig.finish(120.0)
        assert_limits_kept(rig)
        took.append(rig.now)
    assert took[1] > took[0]


@pytest.mark.parametrize("filter_time", [0.02, 0.08, 0.3])
def test_the_jerk_limits_are_kept_with_any_averaging_of_the_rate(filter_time):
    rig = Rig(MotionConfig(filter_time=filter_time), replace(LIMITS, jerk=5.0 * LIMITS.acceleration))
    rig.lay(0.02 * np.arange(1, 101), 0.01 * np.outer(np.arange(1, 101), [1.0, -0.5, 1.0]))  # straight
    assert rig.finish(120.0)
    assert_limits_kept(rig)
    assert rig.motion.path.share.filter_time == filter_time


@pytest.mark.parametrize("ratio", [50.0, 5.0, 2.0])
def test_a_plan_of_milliseconds_that_takes_longer_than_the_horizon_is_executed_too(ratio):
    rig = Rig(limits=replace(LIMITS, jerk=ratio * LIMITS.acceleration))
    laid(rig, 2, 0.002, speed=4.0)
    begun = rig.now
    assert rig.finish(20.0)
    assert rig.now - begun < 5.0
    assert_limits_kept(rig)


@pytest.mark.lengthy
def test_points_too_fast_for_the_joints_are_executed_slower_and_inside_the_limits():
    rig = Rig()
    laid(rig, 100, size=1.0, speed=3.0)
    begun = rig.now
    assert rig.finish()
    assert_limits_kept(rig)
    assert rig.now - begun > 4.0


def test_points_laid_while_moving_are_executed_without_a_stop():
    rig = Rig()
    t, q = wave(200, 0.02, size=0.1)
    for first in range(0, 200, 2):
        rig.lay(t[first : first + 2], q[first : first + 2])
        if first >= 40:
            rig.run(0.04)
    speed = np.abs(rig.motion_done()[1000:, 1]).max(axis=1)
    assert speed.min() > 0.02
    assert rig.finish()
    assert_limits_kept(rig)


@pytest.mark.lengthy
def test_a_pause_brings_the_arm_to_rest_on_its_path_and_keeps_the_plan():
    rig = Rig()
    laid(rig, 200)
    rig.run(1.0)
    rig.goal = 0.0
    rig.run(1.2)
    assert np.all(rig.follower.v == 0.0)
    on_path = rig.motion.path.evaluate(np.array([rig.motion.plan_time]))[0][0]
    np.testing.assert_allclose(rig.follower.q, on_path, atol=1e-6)
    assert rig.motion.path.seqs[-1] == 200
    rig.goal = 1.0
    assert rig.finish()
    assert_limits_kept(rig)


def test_a_change_of_rate_while_moving_keeps_the_limits():
    rig = Rig()
    laid(rig, 400, size=0.2, speed=0.5)
    for goal in (0.1, 3.0, 0.5, 10.0, 1.0):
        rig.goal = goal
        rig.run(0.7)
    assert rig.finish()
    assert_limits_kept(rig)


def test_truncation_never_reaches_into_the_committed_stretch_and_the_arm_stops_on_what_is_left():
    rig = Rig()
    laid(rig, 300)
    rig.run(1.0)
    committed = int(rig.motion.path.seqs[rig.motion.committed_index])
    rig.motion.truncate(0)
    assert rig.motion.path.seqs[-1] == committed
    assert 0 < committed < 120
    assert rig.finish()
    assert rig.motion.executed_seq() == committed
    assert_limits_kept(rig)


@pytest.mark.lengthy
def test_a_silent_executor_means_a_smooth_stop_on_the_path_and_motion_goes_on_when_it_is_back():
    rig = Rig()
    laid(rig, 300)
    rig.run(1.0)
    rig.sleep_executor(2.0)
    assert np.all(rig.motion_done()[-200:, 1] == 0.0)
    assert rig.finish()
    assert_limits_kept(rig)


@pytest.mark.lengthy
def test_windows_lost_on_their_way_are_made_again():
    rig = Rig()
    laid(rig, 200)
    rig.run(1.0)
    rig.run(0.5, lose=True)
    assert rig.lost_windows
    assert rig.finish()
    assert_limits_kept(rig)


@pytest.mark.lengthy
def test_a_window_refused_by_the_loop_is_followed_by_one_that_joins():
    rig = Rig()
    laid(rig, 200)
    rig.run(1.0)
    rig.run(0.36, lose=True)
    rig.run(0.5)
    assert rig.refusals
    seen = len(rig.refusals)
    assert rig.finish()
    assert len(rig.refusals) <= seen + 8
    assert_limits_kept(rig)


@pytest.mark.lengthy
def test_a_loop_that_stops_by_itself_is_waited_for_and_the_plan_goes_on_from_its_rest():
    rig = Rig()
    laid(rig, 200)
    rig.run(1.0)
    stop = ControlReport(
        ControlState.STOPPING,
        rig.follower.number,
        0,
        rig.follower.plan_time,
        rig.follower.q,
        rig.follower.v,
        reason="stale",
    )
    rig.motion.on_control(rig.now, stop)
    assert rig.motion.tick(rig.now, 1.0) is None
    assert rig.motion.trouble == "stale"
    rig.follower.hold(rig.follower.q.copy(), rig.follower.plan_time)  # the loop's own stop, shortened to nothing
    rig.run(0.3)
    assert np.all(rig.motion_done()[-200:, 1] == 0.0)
    rig.motion.trouble = ""
    assert rig.finish()


def test_an_arm_far_off_its_plan_does_not_go_back_by_itself():
    rig = Rig()
    laid(rig, 200)
    rig.run(1.0)
    rig.follower.hold(rig.follower.q + 0.3, rig.follower.plan_time)
    report = ControlReport(
        ControlState.STOPPED, rig.follower.number, 0, rig.motion.plan_time, rig.follower.q + 0.3, rig.follower.v * 0
    )
    rig.motion.on_control(rig.now, report)
    assert rig.motion.off_path
    assert "rad off the plan" in rig.motion.trouble
    assert rig.motion.tick(rig.now, 1.0) is None


def moved_by_a_primitive(rig, by, duration=1.0):
    """Something else moves the arm; the loop says so, and takes no window meanwhile."""
    primitive = replace(rig.control(ControlState.TRACKING), primitive=7)
    end = rig.now + duration
    while rig.now < end:
        rig.now += 0.02
        rig.motion.on_control(rig.now, primitive)
        assert rig.motion.tick(rig.now, rig.goal) is None
    rig.follower.hold(rig.follower.q + by, rig.follower.plan_time)
    rig.follower.sample(rig.now)
    rig.next_tick = rig.next_report = rig.now


def test_after_a_primitive_at_the_plans_end_the_plan_goes_on_from_where_the_arm_is():
    rig = Rig()
    laid(rig, 100)
    assert rig.finish()
    moved_by_a_primitive(rig, 0.4)
    rig.run(1.0)
    np.testing.assert_allclose(rig.motion.path.joints[-1], rig.follower.q, atol=1e-9)
    laid(rig, 100)
    assert rig.finish()
    assert rig.refusals == []


@pytest.mark.lengthy
def test_after_a_primitive_that_moved_the_arm_a_little_a_paused_plan_goes_on():
    rig = Rig()
    laid(rig, 200)
    rig.run(1.0)
    rig.goal = 0.0
    rig.run(1.5)
    moved_by_a_primitive(rig, 0.03)
    rig.run(1.0)
    rig.goal = 1.0
    assert rig.finish()
    assert rig.motion.executed_seq() == 200


def test_after_a_primitive_that_moved_the_arm_far_a_paused_plan_waits_to_be_cleared():
    rig = Rig()
    laid(rig, 200)
    rig.run(1.0)
    rig.goal = 0.0
    rig.run(1.5)
    moved_by_a_primitive(rig, 0.5)
    rig.run(1.0)
    rig.goal = 1.0
    rig.run(1.0)
    assert rig.motion.off_path
    assert "clear the plan" in rig.motion.trouble
    assert rig.refusals == []


@pytest.mark.lengthy
def test_a_window_refused_because_a_primitive_ran_is_made_again_from_where_the_arm_is():
    rig = Rig()
    laid(rig, 100)
    assert rig.finish()
    rig.follower.hold(rig.follower.q + 0.02, rig.follower.plan_time)
    laid(rig, 100)
    assert rig.finish()
    assert rig.refusals


def test_the_cost_of_a_tick_does_not_grow_with_the_plan():
    def cells(n):
        rig = Rig()
        laid(rig, n)
        rig.run(0.5)
        path = rig.motion.path
        return path.rate_limits(0.1, 0.3, 2.0).rate.size

    assert cells(200) == cells(5000)


def test_executed_knots_are_forgotten():
    rig = Rig()
    laid(rig, 500, size=0.05)
    rig.run(5.0)
    assert len(rig.motion.path) < 300


ACTIONS = st.one_of(
    st.tuples(st.just("lay"), st.integers(1, 60), st.sampled_from([0.002, 0.02, 0.05]), st.floats(0.1, 4.0)),
    st.tuples(st.just("truncate"), st.integers(0, 200)),
    st.tuples(st.just("rate"), st.sampled_from([0.0, 0.1, 0.5, 1.0, 3.0, 10.0])),
    st.tuples(st.just("run"), st.floats(0.0, 0.8)),
    st.tuples(st.just("sleep"), st.floats(0.0, 0.6)),
    st.tuples(st.just("lose"), st.floats(0.02, 0.3)),
)


def play(rig, action):
    kind, *values = action
    if kind == "lay":
        laid(rig, values[0], values[1], size=0.1, speed=values[2])
    elif kind == "truncate":
        rig.motion.truncate(values[0])
    elif kind == "rate":
        rig.goal = values[0]
    elif kind == "run":
        rig.run(values[0])
    elif kind == "sleep":
        rig.sleep_executor(values[0])
    elif kind == "lose":
        rig.run(values[0], lose=True)


@pytest.mark.brief(1)
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@example(actions=[("lay", 3, 0.05, 2.5), ("run", 0.5), ("sleep", 0.5)], tick=0.02)  # rest just before the plan's end
@given(actions=st.lists(ACTIONS, min_size=3, max_size=12), tick=st.sampled_from([0.02, 0.03, 0.04]))
@pytest.mark.parametrize("limits", [LIMITS, TIGHT], ids=["default jerk", "low jerk"])
@pytest.mark.lengthy
def test_whatever_happens_limits_hold_and_the_arm_ends_at_rest_at_the_last_point_held(limits, actions, tick):
    rig = Rig(limits=limits, tick=tick)
    for action in actions:
        play(rig, action)
    rig.goal = 3.0
    assert rig.finish(120.0)
    rig.run(0.1)
    assert_limits_kept(rig)
    assert rig.reached == sorted(set(rig.reached))
    np.testing.assert_allclose(rig.follower.q, rig.motion.path.joints[-1], atol=1e-9)
    assert np.all(rig.follower.v == 0.0)


@pytest.mark.parametrize("field", ["plan_time", "joint_position"])
def test_a_report_of_the_loop_that_is_not_finite_is_refused(field):
    values = {"plan_time": 0.0, "joint_position": np.zeros(3)}
    values[field] = np.nan * np.ones_like(values[field])
    with pytest.raises(ValueError, match=field):
        ControlReport(ControlState.HOLDING, 0, 0, float(values["plan_time"]), values["joint_position"], np.zeros(3))
