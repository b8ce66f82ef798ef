import numpy as np
import pytest

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.hardware.reference import Reference

PERIOD = 0.001
ARM = load_robot("arm")


@pytest.fixture
def reference():
    return Reference(ARM.limits, PERIOD, np.array(ARM.home))


def steady(setpoint, now, q, v):
    return setpoint(ARM, now, q, v)


def test_it_starts_at_rest_where_it_is_held(reference):
    assert np.array_equal(reference.q, ARM.home)
    assert reference.at_rest
    assert not reference.advance(0.0)
    assert np.array_equal(reference.q, ARM.home)


def test_a_steady_motion_is_followed_without_lag(reference, setpoint):
    v = 0.2 * ARM.limits.velocity
    for k in range(3000):
        now = PERIOD * k
        if k % 5 == 0:
            reference.follow(steady(setpoint, now, ARM.home + now * v * 0.1, 0.1 * v))
        reference.advance(now)
    np.testing.assert_allclose(reference.q, ARM.home + now * v * 0.1, atol=1e-5)
    np.testing.assert_allclose(reference.qd, 0.1 * v, atol=1e-4)


def test_late_setpoints_leave_no_step_beyond_the_acceleration_limits(reference, setpoint):
    rng, v, rows = np.random.default_rng(3), 0.1 * ARM.limits.velocity, []
    for k in range(2000):
        now = PERIOD * k
        if rng.random() < 0.1:
            made = now - 0.02 * rng.random()
            reference.follow(steady(setpoint, made, ARM.home + made * v, v))
        reference.advance(now)
        rows.append(reference.q.copy())
    a = np.abs(np.diff(rows, n=2, axis=0)) / PERIOD**2
    assert (a <= ARM.limits.acceleration * (1 + 1e-5)).all()


def test_samples_made_late_pass_where_the_motion_was_then(reference, setpoint):
    """After a stall of the host the samples of the stall are made in one go, with the setpoint of its end."""
    v, rows = 0.1 * ARM.limits.velocity, []
    for k in range(0, 2000, 40):
        made = PERIOD * (k + 39)
        reference.follow(steady(setpoint, made, ARM.home + made * v, v))
        for now in PERIOD * np.arange(k, k + 40):
            reference.advance(now)
            rows.append((reference.q - ARM.home - now * v, reference.qd - v))
    off, off_v = np.abs(np.array(rows))[500:].max(axis=(0, 2))
    assert off < 1e-5
    assert off_v < 1e-3


def test_braking_comes_to_rest_in_the_shortest_time_on_a_straight_line(reference, setpoint):
    v = np.zeros(ARM.dof)
    v[0], v[3] = 0.4, -0.2
    for k in range(2000):
        reference.follow(steady(setpoint, PERIOD * k, ARM.home + PERIOD * k * v, v))
        reference.advance(PERIOD * k)
    began, moving = reference.q.copy(), reference.qd.copy()
    reference.brake()
    steps = 0
    while not reference.at_rest:
        reference.advance(0.0)
        steps += 1
    longest = (np.abs(moving) / ARM.limits.acceleration).max()
    assert steps * PERIOD == pytest.approx(longest, abs=0.005)
    way = reference.q - began
    assert np.abs(np.cross([way[0], way[3], 0], [moving[0], moving[3], 0])).max() < 1e-6


def test_a_far_setpoint_is_reached_without_overshoot(reference, setpoint):
    goal = np.array(ARM.home)
    goal[0] += 0.3
    highest = 0.0
    for k in range(4000):
        reference.follow(steady(setpoint, PERIOD * k, goal, np.zeros(ARM.dof)))
        reference.advance(PERIOD * k)
        highest = max(highest, reference.q[0])
    assert highest <= goal[0] + 1e-4
    np.testing.assert_allclose(reference.q, goal, atol=1e-4)
