from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from telerobot_nodes.core.robot import JointLimits, SetpointLimiter, brake_velocity
from telerobot_nodes.errors import InvalidValueError

LIMITS = JointLimits([-2.0, -1.0], [2.0, 0.5], [1.5, 3.0], [6.0, 20.0], [10.0, 10.0])
PERIOD = 0.005
TARGETS = st.lists(
    st.tuples(st.lists(st.floats(-20.0, 20.0), min_size=2, max_size=2), st.integers(1, 150)), min_size=1, max_size=12
)


def run(limiter: SetpointLimiter, targets) -> np.ndarray:
    rows = [limiter.q.copy()]
    for target in targets:
        limiter.apply(np.array(target, dtype=float))
        rows.append(limiter.q.copy())
    return np.array(rows)


def assert_inside(rows: np.ndarray, limits: JointLimits, period: float) -> None:
    v = np.diff(rows, axis=0, prepend=rows[:1]) / period
    a = np.diff(v, axis=0) / period
    assert (rows >= limits.lower).all() and (rows <= limits.upper).all()
    assert (np.abs(v) <= limits.velocity * (1 + 1e-5)).all()
    assert (np.abs(a) <= limits.acceleration * (1 + 1e-5) + 1e-7).all()


@pytest.mark.lengthy
@settings(max_examples=40, deadline=None)
@given(TARGETS)
def test_every_limit_holds_at_every_sample_whatever_is_asked(steps):
    rows = run(SetpointLimiter(LIMITS, PERIOD), [target for target, times in steps for _ in range(times)])
    assert_inside(rows, LIMITS, PERIOD)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0.01, 5.0))
def test_every_limit_holds_under_noise(seed, size):
    noise = np.random.default_rng(seed).normal(0.0, size, (400, 2))
    assert_inside(run(SetpointLimiter(LIMITS, PERIOD), noise), LIMITS, PERIOD)


@pytest.mark.lengthy
@settings(max_examples=40, deadline=None)
@given(st.floats(-2.0, 2.0), st.floats(-2.0, 2.0))
def test_a_step_is_reached_without_overshoot_and_then_held_exactly(start, goal):
    limits = JointLimits([-2.0], [2.0], [1.5], [6.0], [1.0])
    limiter = SetpointLimiter(limits, PERIOD)
    limiter.reset([start])
    rows = run(limiter, [[goal]] * 900)
    low, high = min(start, goal), max(start, goal)
    assert rows.min() >= low - 1e-12 and rows.max() <= high + 1e-12
    assert np.array_equal(rows[-100:], np.full((100, 1), goal))


def test_a_motion_inside_the_limits_passes_bit_for_bit():
    t = np.arange(2000) * PERIOD
    wave = np.stack([0.5 * (1 - np.cos(2.0 * t)), -0.2 * (1 - np.cos(5.0 * t))], axis=1)
    limiter = SetpointLimiter(LIMITS, PERIOD)
    for row in wave:
        assert limiter.apply(row) is False
        assert np.array_equal(limiter.q, row)


def test_a_motion_too_fast_for_a_while_is_met_again_exactly():
    t = np.arange(4000) * PERIOD
    angle = np.where(t < 4.0, 6.0 * t, 24.0 + (t - 4.0))
    limiter = SetpointLimiter(LIMITS, PERIOD)
    saturated = [limiter.apply(np.array([np.sin(x), 0.0])) for x in angle]
    assert any(saturated[:800])
    assert not any(saturated[-1000:])
    assert limiter.q[0] == np.sin(angle[-1])


def test_reset_starts_at_rest_or_with_a_velocity_that_can_be_braked():
    limiter = SetpointLimiter(LIMITS, PERIOD)
    limiter.reset([1.0, 0.0], [1.5, 0.0])
    rows = run(limiter, [[1.0, 0.0]] * 400)
    assert rows[:, 0].max() == pytest.approx(1.0 + 1.5**2 / (2 * 6.0), rel=0.05)
    assert rows[-1, 0] == 1.0


@pytest.mark.parametrize("bad", [[np.nan, 0.0], [0.0, np.inf], [0.0], [0.0, 0.0, 0.0]])
def test_a_bad_target_is_refused_and_changes_nothing(bad):
    limiter = SetpointLimiter(LIMITS, PERIOD)
    limiter.apply(np.array([0.001, 0.0]))
    before = limiter.q.copy(), limiter.qd.copy(), limiter.qdd.copy()
    with pytest.raises(InvalidValueError, match="q_wanted"):
        limiter.apply(np.array(bad))
    for mine, old in zip((limiter.q, limiter.qd, limiter.qdd), before, strict=True):
        assert np.array_equal(mine, old)


@settings(max_examples=40, deadline=None)
@given(st.floats(1e-6, 10.0), st.floats(0.1, 30.0), st.floats(0.001, 0.01))
def test_the_brake_velocity_stops_inside_the_room_and_nothing_faster_does(room, acceleration, period):
    def travel(v: float) -> float:
        n = np.arange(0, int(v / (acceleration * period)) + 1)
        return float(period * (v - n * acceleration * period).sum())

    v = brake_velocity(room, acceleration, period)
    assert travel(v) == pytest.approx(room, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("upper", [-3.0, 0.5]),
        ("velocity", [0.0, 1.0]),
        ("acceleration", [1.0, -1.0]),
        ("effort", [np.nan, 1.0]),
        ("jerk", [0.0, 100.0]),
        ("jerk", [100.0]),
        ("velocity", [1.0]),
    ],
)
def test_limits_that_make_no_sense_are_refused_by_field(field, values):
    good = {name: getattr(LIMITS, name) for name in ("lower", "upper", "velocity", "acceleration", "effort")}
    with pytest.raises(InvalidValueError, match=f"limits.{field}"):
        JointLimits(**{**good, field: values})


def test_a_position_outside_is_refused_naming_joint_and_range():
    with pytest.raises(InvalidValueError, match=r"goal\[1\]: 0.6 .* -1 .. 0.5"):
        LIMITS.check_position([0.0, 0.6], "goal")


def test_limits_are_read_only():
    with pytest.raises(ValueError, match="read-only"):
        LIMITS.lower[0] = -9.0
