"""Checks of values on input name the field and what is allowed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from telerobot_nodes.core.values import finite, finite_array, in_range, one_of, poses
from telerobot_nodes.errors import InvalidValueError

POSE = [0.1, 0.2, 0.3, 0.0, 0.0, 0.0, 1.0]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), True, "1", None, [1.0]])
def test_what_is_no_finite_number_is_rejected(value):
    with pytest.raises(InvalidValueError, match="speed"):
        finite(value, "speed")


@given(st.floats(allow_nan=False))
def test_a_value_is_in_range_exactly_between_the_bounds(value):
    if -1.0 <= value <= 2.0:
        assert in_range(value, "speed", -1.0, 2.0) == value
    else:
        with pytest.raises(InvalidValueError, match="speed"):
            in_range(value, "speed", -1.0, 2.0)


def test_the_error_names_bounds_and_unit():
    with pytest.raises(InvalidValueError, match=r"allowed: 0 \.\. 5 \[m/s\]"):
        in_range(7, "speed", 0.0, 5.0, "m/s")


def test_an_array_is_a_flat_copy():
    values = np.zeros((2, 3))
    flat = finite_array(values, "points")
    flat[0] = 1.0
    assert flat.shape == (6,)
    assert values[0, 0] == 0.0


@pytest.mark.parametrize(
    ("values", "length", "message"),
    [
        ([0.0, float("nan"), 1.0], None, r"points\[1\]"),
        ([0.0, 1.0], 3, r"points \(length\)"),
        (["a"], None, "a list of numbers"),
        ([[0.0], [1.0, 2.0]], None, "a list of numbers"),
    ],
)
def test_an_array_that_is_not_allowed_is_rejected_with_the_place(values, length, message):
    with pytest.raises(InvalidValueError, match=message):
        finite_array(values, "points", length)


def test_a_word_that_is_not_allowed_is_rejected_with_the_allowed_ones():
    assert one_of("tool", "frame", ("world", "tool")) == "tool"
    with pytest.raises(InvalidValueError, match="tool, world"):
        one_of("base", "frame", ("world", "tool"))


def test_poses_are_rows_with_unit_quaternions():
    nearly = [*POSE[:6], 1.0005]
    rows = poses(POSE + nearly, "path")
    assert rows.shape == (2, 7)
    assert np.linalg.norm(rows[:, 3:], axis=1) == pytest.approx([1.0, 1.0], abs=1e-12)


@pytest.mark.parametrize(
    ("values", "message"),
    [(POSE[:6], r"path \(length\)"), ([*POSE, *POSE[:6], 1.1], r"path\[1\]\.orientation"), (7 * [0.0], r"path\[0\]")],
)
def test_poses_that_are_none_are_rejected_by_row(values, message):
    with pytest.raises(InvalidValueError, match=message):
        poses(values, "path")
