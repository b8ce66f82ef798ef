"""The follower: limits hold for every target, and it arrives without swinging past."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.plan.shaping import follower as f

LIMITS = f.FollowerLimits(0.5, 2.0, 60.0, 10.0)
STEP = 0.004
coordinates = st.floats(-1.0, 1.0)
vectors = st.tuples(coordinates, coordinates, coordinates)


def follow(targets, hold=40):
    motion, position, history = f.Motion(), (0.0, 0.0, 0.0), []
    for target in targets:
        for _ in range(hold):
            motion = f.advance(motion, f.subtract(target, position), LIMITS, STEP)
            position = f.add(position, f.scale(motion.velocity, STEP))
            history.append((position, motion))
    return history


@settings(max_examples=60, deadline=None)
@given(st.lists(vectors, min_size=1, max_size=8), st.integers(1, 80))
@pytest.mark.lengthy
def test_speed_acceleration_and_jerk_stay_inside_limits_for_any_target(targets, hold):
    before = f.Motion()
    for _, motion in follow(targets, hold):
        rate = f.norm(f.subtract(motion.velocity, before.velocity)) / STEP
        jerk = f.norm(f.subtract(motion.acceleration, before.acceleration)) / STEP
        assert f.norm(motion.velocity) <= LIMITS.speed * (1 + 1e-9)
        assert f.norm(motion.acceleration) <= LIMITS.acceleration * (1 + 1e-9)
        assert rate <= 1.5 * LIMITS.acceleration
        assert jerk <= LIMITS.jerk * (1 + 1e-6)
        before = motion


@pytest.mark.parametrize("distance", [0.001, 0.01, 0.05, 0.2, 1.0])
def test_a_step_is_reached_without_overshoot_and_the_tool_comes_to_rest(distance):
    history = follow([(distance, 0.0, 0.0)], 1500)
    assert max(position[0] for position, _ in history) <= 1.001 * distance
    position, motion = history[-1]
    assert abs(position[0] - distance) < 1e-6
    assert motion.at_rest


@pytest.mark.lengthy
@settings(max_examples=60, deadline=None)
@given(st.lists(vectors, min_size=1, max_size=4), st.integers(1, 120))
def test_braking_ends_within_the_stopping_distance(targets, hold):
    position, motion = follow(targets, hold)[-1]
    start, promised = position, f.stopping_distance(motion, LIMITS)
    for _ in range(400):
        motion = f.brake(motion, LIMITS, STEP)
        position = f.add(position, f.scale(motion.velocity, STEP))
    assert motion.at_rest
    assert f.norm(f.subtract(position, start)) <= promised + 1e-6


@given(vectors, vectors)
def test_rotations_compose_and_invert(a, b):
    qa, qb = f.exponential(a), f.exponential(b)
    back = f.multiply(f.exponential(f.turn(qa, qb)), qa)
    assert abs(abs(sum(x * y for x, y in zip(back, qb, strict=True))) - 1.0) < 1e-9
    assert f.norm(f.logarithm(f.multiply(qa, f.inverse(qa)))) < 1e-7


@given(st.floats(1e-12, math.pi - 1e-3), vectors.filter(lambda v: f.norm(v) > 0.1))
def test_logarithm_inverts_exponential_near_the_identity_too(angle, axis):
    v = f.scale(axis, angle / f.norm(axis))
    assert f.norm(f.subtract(f.logarithm(f.exponential(v)), v)) < 1e-8 + 1e-6 * angle


@pytest.mark.parametrize(("field", "value"), [("speed", 0.0), ("acceleration", math.nan), ("jerk", -1.0), ("gain", 99)])
def test_impossible_limits_are_refused_by_name(field, value):
    values = {"speed": 0.5, "acceleration": 2.0, "jerk": 40.0, "gain": 12.0, field: value}
    with pytest.raises(InvalidValueError, match=f"follower.{field}"):
        f.FollowerLimits(**values)
