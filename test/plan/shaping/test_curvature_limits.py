"""Speed limits from curvature."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from telerobot_nodes.core.robot import JointLoad
from telerobot_nodes.plan.shaping.curvature_limits import (
    ACROSS,
    ALONG,
    LEAST_RAMP,
    CurvatureLimits,
    joint_limits,
)


def limits_of(across, half_width=0.05, ceiling=1.0):
    found = CurvatureLimits(0.005, half_width)
    for value in across:
        found.add(value, ceiling)
    return found


def test_both_shares_together_are_one_acceleration():
    assert math.hypot(ACROSS, ALONG) == pytest.approx(1.0)


def test_a_straight_path_has_full_speed():
    squares, ramps = limits_of([0.0] * 40).limits(41, 1.0)
    assert np.all(squares == 1.0)
    assert np.all(ramps == 1.0)


def test_the_acceleration_across_stays_within_its_share():
    across = 3.2
    squares, ramps = limits_of([0.0] * 20 + [across] + [0.0] * 20).limits(42, 1.0)
    assert across * squares.min() == pytest.approx(ACROSS)
    assert ramps.min() == ALONG


@pytest.mark.parametrize("across", [0.1, 0.5, 0.79])
def test_a_gentle_curve_keeps_full_speed_and_leaves_the_rest_along(across):
    squares, ramps = limits_of([across] * 40).limits(41, 1.0)
    assert squares.min() == 1.0
    assert ramps.min() ** 2 + across**2 == pytest.approx(1.0)


def test_a_limit_holds_as_far_as_the_average_extends_to_both_sides():
    found = limits_of([0.0] * 40 + [0.81] + [0.0] * 40)
    squares, _ = found.limits(82, 1.0)
    low = np.flatnonzero(squares < 1.0)
    assert 41 in low
    assert (41 - low[0]) == (low[-1] - 41) >= 0.05 / 0.005


def test_a_wider_average_extends_the_limit():
    def reach(half_width):
        squares, _ = limits_of([0.0] * 60 + [2.0] + [0.0] * 60, half_width).limits(122, 1.0)
        return np.count_nonzero(squares < 1.0)

    assert reach(0.1) > reach(0.05)


def test_another_speed_limit_counts():
    squares, _ = limits_of([0.0] * 20, ceiling=0.5).limits(21, 1.0)
    assert squares.min() == pytest.approx(0.25)


def test_vertices_that_later_ones_may_lower_have_the_unknown_ramp():
    found = limits_of([0.0] * 60)
    _, ramps = found.limits(61, ALONG)
    assert np.all(ramps[: 61 - found.reach] == 1.0)
    assert np.all(ramps[-found.reach :] == ALONG)


def test_dropped_vertices_leave_the_others_as_they_are():
    found = limits_of([0.0] * 30 + [1.5] + [0.0] * 30)
    before = found.limits(62, 1.0)[0]
    found.drop(10)
    assert len(found) == 52
    assert np.array_equal(found.limits(52, 1.0)[0], before[10:])


SHARE = st.floats(0.0, 30.0)


@given(SHARE, SHARE, SHARE, st.floats(0.5, 10.0))
def test_joints_keep_their_limits_while_they_leave_the_least_ramp(velocity, bending, changing, full):
    speed, ramp = joint_limits(JointLoad(velocity, bending, changing), full)
    assert speed * velocity <= 1.0 + 1e-9
    assert LEAST_RAMP <= ramp <= 1.0
    assert ramp == LEAST_RAMP or speed**2 * bending + ramp * full * changing <= 1.0 + 1e-9


def test_joints_far_from_their_limits_change_nothing():
    assert joint_limits(JointLoad(), 2.5) == (1.0, 1.0)
    assert joint_limits(JointLoad(0.9, 0.4, 0.2), 2.5) == (1.0, 1.0)


def test_a_ramp_that_joints_allow_counts():
    found = CurvatureLimits(0.005, 0.05)
    for _ in range(30):
        found.add(0.0, 1.0, 0.4)
    assert found.limits(31, 1.0)[1][1:19] == pytest.approx(0.4)
