"""Spline segments of the joint path: derivatives, bounds, evaluation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from telerobot_nodes.plan.executor.curve import (
    CELL,
    MAX_CELLS,
    cells_of,
    evaluate_into,
    knot_derivatives,
    segment_limits,
)

BOUNDS = np.array([[2.0], [5.0], [200.0], [3.0], [1.5]])
VALUE = st.floats(-1.0, 1.0)


def evaluated(time, q, v, a, taus):
    shape = (len(taus), q.shape[1])
    out, slope, curvature = np.empty(shape), np.empty(shape), np.empty(shape)
    evaluate_into(time, q, v, a, np.asarray(taus, float), out, slope, curvature)
    return out, slope, curvature


def derivatives(time, q):
    v, a = np.zeros(1), np.zeros(1)
    knot_derivatives(np.asarray(time, float), np.asarray(q, float).reshape(-1, 1), 1, v, a)
    return v[0], a[0]


@pytest.mark.parametrize(("duration", "cells"), [(0.001, 1), (CELL, 1), (1.01 * CELL, 2), (100.0, MAX_CELLS)])
def test_long_segments_have_more_cells_up_to_a_limit(duration, cells):
    assert cells_of(duration) == cells


def test_a_parabola_has_exact_derivatives_at_even_knots():
    assert derivatives([0.0, 0.1, 0.2], [0.0, 0.01, 0.04]) == pytest.approx((0.2, 2.0))


def test_a_line_has_no_curvature_at_uneven_knots():
    assert derivatives([0.0, 0.01, 1.0], [0.0, 0.02, 2.0]) == pytest.approx((2.0, 0.0))


def test_a_segment_takes_the_values_given_at_its_knots():
    time = np.array([1.0, 1.3])
    q, v, a = np.array([[0.1], [0.4]]), np.array([[0.5], [-0.2]]), np.array([[1.0], [2.0]])
    out, slope, curvature = evaluated(time, q, v, a, [1.0, 1.3])
    for found, given_ in ((out, q), (slope, v), (curvature, a)):
        assert found == pytest.approx(given_, abs=1e-9)


def test_slope_and_curvature_are_derivatives():
    time = np.array([0.0, 0.4])
    q, v, a = np.array([[0.1], [0.4]]), np.array([[0.5], [-0.2]]), np.array([[1.0], [2.0]])
    taus = np.linspace(0.0, 0.4, 4001)
    out, slope, curvature = evaluated(time, q, v, a, taus)
    assert np.gradient(out[:, 0], taus)[1:-1] == pytest.approx(slope[1:-1, 0], abs=1e-5)
    assert np.gradient(slope[:, 0], taus)[1:-1] == pytest.approx(curvature[1:-1, 0], abs=1e-3)


def test_one_knot_is_a_rest():
    out, slope, curvature = evaluated(np.zeros(1), np.array([[0.3]]), np.zeros((1, 1)), np.zeros((1, 1)), [-1.0, 5.0])
    assert out.tolist() == [[0.3], [0.3]]
    assert not slope.any()
    assert not curvature.any()


@settings(max_examples=60, deadline=None)  # the first example compiles
@given(st.tuples(VALUE, VALUE, VALUE, VALUE, VALUE, VALUE), st.floats(0.005, 0.5))
def test_no_rate_within_the_limits_exceeds_a_bound_anywhere_in_its_cell(values, h):
    q0, v0, a0, q1, v1, a1 = (np.array([value]) for value in values)
    n = cells_of(h)
    rate, change = np.empty(n), np.empty(n)
    segment_limits(q0, v0, a0, q1, v1, a1, h, BOUNDS, 10.0, 0.1, rate, change)
    taus = np.linspace(0.0, h, 40 * n + 1)
    _, slope, curvature = evaluated(
        np.array([0.0, h]), np.array([q0, q1]), np.array([v0, v1]), np.array([a0, a1]), taus
    )
    for k in range(n):
        inside = slice(40 * k, 40 * (k + 1) + 1)
        fastest = np.abs(slope[inside]).max()
        assert rate[k] * fastest <= BOUNDS[0, 0] * (1.0 + 1e-6)
        assert rate[k] ** 2 * np.abs(curvature[inside]).max() <= BOUNDS[1, 0] * (1.0 + 1e-6)
        assert change[k] * fastest <= BOUNDS[3, 0] * (1.0 + 1e-6)
        assert change[k] * rate[k] * np.abs(curvature[inside]).max() <= BOUNDS[4, 0] * (1.0 + 1e-6)
        assert rate[k] <= 10.0
        assert change[k] <= rate[k] / 0.1 + 1e-12
