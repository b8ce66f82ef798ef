"""Timing of straight joint motions: time-optimal, from rest to rest, inside every limit."""

import math
import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from telerobot_nodes.core.robot import JointLimits
from telerobot_nodes.core.timing import time_path
from telerobot_nodes.errors import InvalidValueError

LIMITS = JointLimits(
    lower=np.full(2, -10.0),
    upper=np.full(2, 10.0),
    velocity=np.array([2.0, 1.0]),
    acceleration=np.array([4.0, 3.0]),
    effort=np.full(2, 100.0),
)
JERK = np.array([40.0, 60.0])
PATHS = st.lists(st.tuples(st.floats(-3.0, 3.0), st.floats(-3.0, 3.0)), min_size=2, max_size=5)


def rest_to_rest(distance, v, a, j):
    """Least time [s] over a distance from rest to rest with bounded velocity, acceleration and jerk, in closed form."""
    ramp = v / a + a / j if v * j >= a * a else 2.0 * math.sqrt(v / j)  # to full speed
    if distance >= v * ramp:
        return ramp + distance / v
    if distance >= 2.0 * a**3 / j**2:  # full acceleration, not full speed
        return a / j + math.sqrt((a / j) ** 2 + 4.0 * distance / a)
    return 4.0 * (distance / (2.0 * j)) ** (1.0 / 3.0)


@pytest.mark.parametrize("distance", [1e-6, 0.01, 0.05, 0.3, 0.79, 0.81, 2.0, 7.0])
@pytest.mark.parametrize("joint", [0, 1])
def test_a_single_motion_takes_the_least_time_of_the_closed_form(distance, joint):
    path = np.zeros((2, 2))
    path[1, joint] = -distance
    expected = rest_to_rest(distance, LIMITS.velocity[joint], LIMITS.acceleration[joint], JERK[joint])
    assert time_path(path, LIMITS, JERK).duration == pytest.approx(expected, rel=1e-6)


def test_the_joint_that_needs_longest_sets_the_time_of_all():
    alone = [time_path(np.diag([2.0, 2.0])[[k]] * [[0.0], [1.0]], LIMITS, JERK).duration for k in range(2)]
    both = time_path(np.array([[0.0, 0.0], [2.0, 2.0]]), LIMITS, JERK).duration
    assert both >= max(alone)


@pytest.mark.lengthy
@settings(max_examples=60)
@given(PATHS, st.floats(0.05, 1.0))
def test_motion_is_straight_at_rest_at_its_waypoints_and_inside_the_limits(rows, speed):
    path = np.array(rows)
    timed = time_path(path, LIMITS, JERK, speed)
    assert timed.times[0] == 0.0
    assert (np.diff(timed.times) >= 0.0).all()
    for waypoint, t in zip(path, timed.times, strict=True):
        q, v, _ = timed.at(t)
        assert q == pytest.approx(waypoint, abs=1e-8)
        assert v == pytest.approx(np.zeros(2), abs=1e-6)
    for t in np.linspace(-0.1, timed.duration + 0.1, 60):
        q, v, a = timed.at(t)
        assert (np.abs(v) <= speed * LIMITS.velocity + 1e-6).all()
        assert (np.abs(a) <= LIMITS.acceleration + 1e-6).all()
        share = timed.share(t)
        first = min(int(share), len(path) - 2)
        assert q == pytest.approx(path[first] + (share - first) * (path[first + 1] - path[first]), abs=1e-8)


@pytest.mark.lengthy
def test_velocity_and_acceleration_are_derivatives_and_jerk_is_bounded():
    timed = time_path(np.array([[0.0, 0.0], [1.0, -2.0]]), LIMITS, JERK)
    h = 1e-4
    t = np.arange(h, timed.duration - h, h)
    q, v, a = (np.array(rows) for rows in zip(*(timed.at(x) for x in t), strict=True))
    assert np.gradient(q, h, axis=0)[1:-1] == pytest.approx(v[1:-1], abs=1e-4)
    assert np.gradient(v, h, axis=0)[1:-1] == pytest.approx(a[1:-1], abs=1e-2)
    assert (np.abs(np.diff(a, axis=0) / h) <= JERK * 1.001 + 1e-6).all()


def test_without_a_jerk_limit_it_is_20_per_second_times_the_acceleration_limit():
    path = np.array([[0.0, 0.0], [1.0, 0.5]])
    assert time_path(path, LIMITS).duration == time_path(path, LIMITS, 20.0 * LIMITS.acceleration).duration
    assert time_path(path, LIMITS).bounds[2] == pytest.approx(20.0 * LIMITS.acceleration)


def test_a_lower_jerk_limit_of_the_joints_counts():
    limits = replace(LIMITS, jerk=np.array([5.0, 1000.0]) * LIMITS.acceleration)
    path = np.array([[0.0, 0.0], [1.0, 0.5]])
    assert time_path(path, limits).bounds[2] == pytest.approx(np.array([5.0, 20.0]) * LIMITS.acceleration)
    assert time_path(path, limits).duration > time_path(path, LIMITS).duration


def test_equal_waypoints_take_no_time():
    timed = time_path(np.array([[0.1, 0.2], [0.1, 0.2], [1.0, 0.2], [1.0, 0.2]]), LIMITS)
    assert timed.times[1] == 0.0
    assert timed.times[3] == timed.times[2] == timed.duration > 0.0
    still = time_path(np.array([[0.1, 0.2], [0.1, 0.2]]), LIMITS)
    assert still.duration == 0.0
    for t in (-1.0, 0.0, 1.0):
        assert [row.tolist() for row in still.at(t)] == [[0.1, 0.2], [0.0, 0.0], [0.0, 0.0]]


def test_it_rests_before_its_beginning_and_after_its_end():
    timed = time_path(np.array([[0.0, 0.0], [1.0, -2.0]]), LIMITS)
    for t, row, share in ((-1.0, 0, 0.0), (timed.duration + 1.0, 1, 1.0)):
        q, v, a = timed.at(t)
        assert q == pytest.approx(timed.path[row])
        assert not v.any()
        assert t < 0.0 or not a.any()
        assert timed.share(t) == pytest.approx(share)


def test_many_samples_at_once_are_those_one_by_one():
    timed = time_path(np.array([[0.0, 0.0], [0.4, -0.2], [0.4, -0.2], [-0.3, 0.5]]), LIMITS)
    times = np.concatenate([[-0.1], np.linspace(0.0, timed.duration, 37), timed.times, [timed.duration + 1.0]])
    positions, velocities = timed.sampled(times)
    assert positions == pytest.approx(np.array([timed.at(t)[0] for t in times]), abs=1e-12)
    assert velocities == pytest.approx(np.array([timed.at(t)[1] for t in times]), abs=1e-12)


def test_a_pickled_path_has_the_same_motion():
    timed = time_path(np.array([[0.0, 0.0], [1.0, -2.0], [0.5, 0.5]]), LIMITS, JERK, 0.5)
    copy = pickle.loads(pickle.dumps(timed))
    assert np.array_equal(copy.times, timed.times)
    assert np.array_equal(copy.at(0.3)[0], timed.at(0.3)[0])


@pytest.mark.parametrize(
    ("path", "jerk", "speed", "message"),
    [
        ([[0.0, 0.0]], None, 1.0, r"path \(shape\): \(1, 2\).*two waypoints or more of 2 joints"),
        ([[0.0], [1.0]], None, 1.0, r"path \(shape\): \(2, 1\).*of 2 joints"),
        ([[0.0, 0.0], [1.0, np.nan]], None, 1.0, r"path\[3\].*finite"),
        ([[0.0, 0.0], [1.0, 1.0]], None, 0.0, r"speed: 0\.0.*0\.001 \.\. 1"),
        ([[0.0, 0.0], [1.0, 1.0]], None, 1.1, r"speed: 1\.1.*0\.001 \.\. 1"),
        ([[0.0, 0.0], [1.0, 1.0]], [1.0, 0.0], 1.0, r"jerk: \[1\.0, 0\.0\].*above 0"),
        ([[0.0, 0.0], [1.0, 1.0]], [1.0], 1.0, r"jerk \(length\): 1.*2 values"),
    ],
)
def test_bad_input_is_rejected_by_name(path, jerk, speed, message):
    with pytest.raises(InvalidValueError, match=message):
        time_path(np.array(path), LIMITS, None if jerk is None else np.array(jerk), speed)
