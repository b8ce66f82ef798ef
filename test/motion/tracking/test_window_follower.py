import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from telerobot_nodes.core.interpolation.hermite import quintic
from telerobot_nodes.core.protocol import MotionWindow
from telerobot_nodes.core.robot import JointLimits
from telerobot_nodes.motion.tracking import WindowFollower
from telerobot_nodes.motion.tracking.window_follower import BLEND_TIME

DOF = 3
HERE = np.array([0.1, -0.2, 0.3])
THERE = np.array([0.4, 0.1, -0.2])
LIMITS = JointLimits(*(np.full(DOF, x) for x in (-1.0, 1.0, 1.0, 10.0, 1.0)))


@pytest.fixture
def follower():
    follower = WindowFollower(DOF, LIMITS)
    follower.hold(HERE, 0.0)
    return follower


def minimum_jerk(q_from, q_to, number):
    """One second, 0.02 s apart."""
    zero, times = np.zeros(DOF), 0.02 * np.arange(51)
    return MotionWindow(
        number, 0.0, 0.0, 0.02, *quintic(q_from, zero, zero, q_to, zero, zero, 1.0, times), times, np.empty(0)
    )


def motion(follower, times):
    rows = []
    for t in times:
        follower.sample(t)
        rows.append(np.stack((follower.q, follower.v, follower.a)))
    return np.array(rows)


def test_a_follower_rests_where_it_is_told_before_any_window(follower):
    assert follower.sample(5.0)
    np.testing.assert_array_equal(follower.q, HERE)
    assert not follower.v.any()
    assert not follower.a.any()
    assert follower.number == 0


def test_the_motion_equals_the_window_at_its_samples(follower, make_window):
    window = make_window(HERE, THERE, begin=1.0)
    assert follower.offer(1.0, window) == ""
    for k in range(len(window.position)):
        follower.sample(1.0 + k * window.period)
        np.testing.assert_allclose(follower.q, window.position[k], atol=1e-12)
        np.testing.assert_allclose(follower.v, window.velocity[k], atol=1e-10)
        np.testing.assert_allclose(follower.a, window.acceleration[k], atol=1e-8)
        assert follower.plan_time == pytest.approx(window.plan_time[k])


def test_position_velocity_and_acceleration_are_continuous_between_samples(follower, make_window):
    follower.offer(0.0, make_window(HERE, THERE))
    times = np.arange(0.0, 1.1, 1e-4)
    rows = motion(follower, times)
    mean = 0.5 * (rows[1:] + rows[:-1])
    steps = np.diff(rows, axis=0)
    np.testing.assert_allclose(steps[:, 0], mean[:, 1] * 1e-4, atol=1e-10)
    np.testing.assert_allclose(steps[:, 1], mean[:, 2] * 1e-4, atol=1e-8)
    assert np.abs(steps[:, 2]).max() < 2e-2  # jerk of this motion times the step


def test_the_end_of_a_window_is_rest(follower, make_window):
    follower.offer(0.0, make_window(HERE, THERE))
    assert not follower.sample(0.5)
    assert follower.sample(1.0)
    assert follower.sample(10.0)
    np.testing.assert_allclose(follower.q, THERE)


def test_the_gripper_follows_the_window_or_stays_unchanged(follower, make_window):
    follower.offer(0.0, make_window(HERE, THERE, gripper=0.05))
    follower.sample(0.5)
    assert follower.gripper == pytest.approx(0.05)
    follower.offer(2.0, make_window(THERE, HERE, number=2, begin=2.0))
    follower.sample(2.5)
    assert follower.gripper < 0.0


@pytest.mark.parametrize(
    ("change", "names"),
    [
        (lambda w: {"position": _with(w.position, (3, 1), np.nan)}, "window.position[3][1]"),
        (lambda w: {"velocity": _with(w.velocity, (2, 0), np.inf)}, "window.velocity[2][0]"),
        (lambda w: {"plan_time": _with(w.plan_time, (4,), np.nan)}, "window.plan_time[4]"),
        (lambda w: {"period": 0.0}, "window.period"),
        (lambda w: {"period": -0.01}, "window.period"),
        (lambda w: {"start": np.nan}, "window.start"),
        (lambda w: {"splice": w.start - 0.1}, "window.splice"),
        (lambda w: {"number": 0}, "window.number"),
        (lambda w: {"velocity": w.velocity[:-1]}, "window.velocity (shape)"),
        (lambda w: {"position": w.position[:, :2]}, "window.position (shape)"),
        (lambda w: {"position": np.empty((0, DOF))}, "window.position (shape)"),
        (lambda w: {"plan_time": w.plan_time[1:]}, "window.plan_time (shape)"),
        (lambda w: {"gripper": np.zeros(3)}, "window.gripper (length)"),
        (lambda w: {"gripper": np.full(len(w.plan_time), 0.3)}, "window.gripper"),
        (lambda w: {"gripper": np.full(len(w.plan_time), -0.5)}, "window.gripper"),
        (lambda w: {"velocity": _with(w.velocity, (-1, 0), 0.1)}, "ends at rest"),
        (lambda w: {"acceleration": _with(w.acceleration, (-1, 2), 0.1)}, "ends at rest"),
        (lambda w: {"position": _with(w.position, (5, 0), 1.2)}, "window.position[5][0]"),
        (lambda w: {"velocity": _with(w.velocity, (5, 1), 1.2)}, "window.velocity[5][1]"),
        (lambda w: {"acceleration": _with(w.acceleration, (5, 2), -11.0)}, "window.acceleration[5][2]"),
        (lambda w: {"position": _with(w.position, (6, 0), w.position[6, 0] + 0.05)}, "mean speed"),
        (lambda w: {"velocity": _with(w.velocity, (6, 0), w.velocity[6, 0] + 0.5)}, "mean acceleration"),
    ],
)
def test_a_window_that_makes_no_sense_is_refused_and_named(follower, make_window, change, names):
    window = make_window(HERE, THERE)
    bad = dataclasses.replace(window, **change(window))
    refusal = follower.offer(0.0, bad)
    assert names in refusal
    assert follower.refused == bad.number
    assert follower.refusal == refusal
    assert follower.sample(0.5)
    np.testing.assert_array_equal(follower.q, HERE)


def _with(values, index, value):
    changed = values.copy()
    changed[index] = value
    return changed


def test_a_window_that_starts_elsewhere_does_not_join(follower, make_window):
    refusal = follower.offer(0.0, make_window(HERE + 0.01, THERE))
    assert "to join the present motion" in refusal
    assert follower.number == 0


def test_a_window_that_starts_with_another_velocity_does_not_join(follower, make_window):
    follower.offer(0.0, make_window(HERE, THERE))
    follower.sample(0.5)
    standing = make_window(follower.q, HERE, number=2, begin=0.5)
    assert "velocity" in follower.offer(0.5, standing)
    assert follower.number == 1


def test_a_refused_window_leaves_the_current_one_going_to_its_rest(follower, make_window):
    window = make_window(HERE, THERE)
    follower.offer(0.0, window)
    follower.sample(0.3)
    follower.offer(0.3, make_window(THERE, HERE, number=2, begin=0.3))
    assert follower.sample(1.0)
    np.testing.assert_allclose(follower.q, THERE)
    assert follower.refused == 2


def test_an_old_number_is_refused(follower, make_window):
    follower.offer(0.0, make_window(HERE, THERE, number=5))
    assert "window.number" in follower.offer(0.1, make_window(HERE, THERE, number=5))
    assert "window.number" in follower.offer(0.1, make_window(HERE, THERE, number=4))


def test_a_late_window_joins_only_if_it_is_still_equal_to_the_motion(follower, make_window):
    first = make_window(HERE, THERE)
    follower.offer(0.0, first)
    follower.sample(0.4)
    longer = dataclasses.replace(first, number=2, splice=0.2)
    assert follower.offer(0.4, longer) == ""
    stopping = brake_from(first, 0.2, number=3)
    assert "0.200 s after its splice" in follower.offer(0.4, stopping)


def brake_from(window, splice, number):
    """The same motion up to `splice`, then a quintic to rest 0.3 s later."""
    follower = WindowFollower(DOF)
    follower.hold(window.position[0], 0.0)
    assert follower.offer(window.start, window) == ""
    follower.sample(splice)
    q, v, a = follower.q.copy(), follower.v.copy(), follower.a.copy()
    zero = np.zeros(DOF)
    times = splice + window.period * np.arange(16)
    rows = quintic(q, v, a, q + 0.15 * v, zero, zero, 0.3, times - splice)
    return MotionWindow(number, splice, splice, window.period, *rows, times, np.empty(0))


def test_until_the_splice_the_motion_before_is_followed_and_then_the_new_one(follower, make_window):
    first = make_window(HERE, THERE)
    follower.offer(0.0, first)
    alone = WindowFollower(DOF)
    alone.hold(HERE, 0.0)
    alone.offer(0.0, first)
    stopping = brake_from(first, 0.5, number=2)
    follower.sample(0.3)
    assert follower.offer(0.3, stopping) == ""
    for t in np.arange(0.3, 0.5, 0.01):
        follower.sample(t)
        alone.sample(t)
        np.testing.assert_allclose(follower.q, alone.q, atol=1e-12)
    assert follower.sample(0.9)
    np.testing.assert_allclose(follower.q, stopping.position[-1], atol=1e-9)


def test_a_third_window_may_come_while_the_second_waits_for_its_splice(follower, make_window):
    first = make_window(HERE, THERE)
    follower.offer(0.0, first)
    late = brake_from(first, 0.6, number=2)
    early = brake_from(first, 0.5, number=3)
    assert follower.offer(0.3, late) == ""
    assert follower.offer(0.3, early) == ""
    assert follower.sample(0.95)
    np.testing.assert_allclose(follower.q, early.position[-1], atol=1e-9)


def test_a_chain_of_waiting_windows_that_cannot_be_kept_is_refused(follower, make_window):
    first = make_window(HERE, THERE)
    follower.offer(0.0, first)
    second = brake_from(first, 0.5, number=2)
    assert follower.offer(0.3, second) == ""
    third = dataclasses.replace(second, number=3, splice=0.6)
    assert "waits to start" in follower.offer(0.3, third)


@pytest.mark.lengthy
@given(
    offset=st.lists(st.floats(-9e-4, 9e-4), min_size=DOF, max_size=DOF),
    join=st.floats(0.05, 0.9),
)
@settings(max_examples=40, deadline=None)
def test_a_small_difference_at_the_join_fades_without_a_step(offset, join):
    first = minimum_jerk(HERE, THERE, 1)
    shifted = dataclasses.replace(first, number=2, position=first.position + np.array(offset))
    follower = WindowFollower(DOF)
    follower.hold(HERE, 0.0)
    follower.offer(0.0, first)
    step = 1e-3
    before = motion(follower, np.arange(0.0, join, step))
    last = step * (len(before) - 1)
    assert follower.offer(last, shifted) == ""
    after = motion(follower, last + step * np.arange(1, 300))
    rows = np.concatenate((before[-2:], after))
    speeds = np.diff(rows[:, 0], axis=0) / step
    pushes = np.diff(speeds, axis=0) / step
    assert np.abs(pushes).max() < 10.0
    faded = int(BLEND_TIME / step) + 2
    follower_alone = WindowFollower(DOF)
    follower_alone.hold(shifted.position[0], 0.0)
    follower_alone.offer(0.0, shifted)
    alone = motion(follower_alone, last + step * np.arange(1, 300))
    np.testing.assert_allclose(after[faded:], alone[faded:], atol=1e-9)
