"""Distance to the planned path: exact on straight parts, and a crossing cannot hide an error."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.review.path_error import path_distance, segment_distance

TIME = np.arange(0.0, 4.0, 0.02)


@given(st.floats(0.0, 3.9), st.floats(-0.01, 0.01))
@pytest.mark.lengthy
def test_beside_a_straight_path_the_distance_is_the_offset(progress, offset):
    plan = np.column_stack([0.1 * TIME, 0.0 * TIME, 0.0 * TIME])
    found = path_distance(np.array([[0.1 * progress, offset, 0.0]]), np.array([progress]), plan, TIME)
    np.testing.assert_allclose(found, abs(offset), atol=1e-12)


def test_lag_along_the_path_is_no_error_but_a_later_crossing_does_not_count():
    there_and_back = np.where(TIME < 2.0, TIME, 4.0 - TIME)
    plan = np.column_stack([there_and_back, np.where(TIME < 2.0, 0.0, 0.05), 0.0 * TIME])
    lagging = path_distance(np.array([[0.4, 0.0, 0.0]]), np.array([0.5]), plan, TIME)
    on_the_way_back = path_distance(np.array([[0.5, 0.05, 0.0]]), np.array([0.5]), plan, TIME)
    np.testing.assert_allclose(lagging, 0.0, atol=1e-12)
    np.testing.assert_allclose(on_the_way_back, 0.05, atol=1e-12)


def test_distance_beyond_an_end_is_to_the_end():
    ends = np.array([[0.0, 0, 0]]), np.array([[1.0, 0, 0]])
    np.testing.assert_allclose(segment_distance(np.array([[2.0, 0, 0]]), *ends), 1.0)
    np.testing.assert_allclose(segment_distance(np.array([[-3.0, 4.0, 0]]), *ends), 5.0)


def test_a_plan_of_one_point_is_refused():
    with pytest.raises(InvalidValueError, match="plan"):
        path_distance(np.zeros((1, 3)), np.zeros(1), np.zeros((1, 3)), np.zeros(1))
