from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from telerobot_nodes.core.values.frames import distance, interpolate, pose_distance, pose_from_se3, se3_from_pose
from telerobot_nodes.errors import InvalidValueError

SMALL = st.sampled_from([0.0, 1e-12, 1e-7, 1e-3, 1.0])
TWIST = st.lists(st.floats(-3.0, 3.0), min_size=6, max_size=6)


@st.composite
def transforms(draw) -> pin.SE3:
    twist = np.array(draw(TWIST)) * draw(SMALL)
    return pin.exp6(twist)


@settings(max_examples=40, deadline=None)
@given(transforms())
def test_pose_and_transform_are_inverse_of_each_other(T):
    back = se3_from_pose(pose_from_se3(T))
    assert np.allclose(back.homogeneous, T.homogeneous, atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(transforms())
def test_a_pose_has_a_unit_quaternion_with_positive_scalar(T):
    pose = pose_from_se3(T)
    assert pose[6] >= 0.0
    assert np.linalg.norm(pose[3:]) == pytest.approx(1.0, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(transforms(), transforms())
def test_interpolation_is_exact_at_both_ends_and_halves_the_angle(T_a, T_b):
    assert np.array_equal(interpolate(T_a, T_b, 0.0).homogeneous, T_a.homogeneous)
    assert np.array_equal(interpolate(T_a, T_b, 1.0).homogeneous, T_b.homogeneous)
    angle = distance(T_a, T_b)[1]
    if angle < 3.0:
        assert distance(T_a, interpolate(T_a, T_b, 0.5))[1] == pytest.approx(0.5 * angle, abs=1e-7)


@settings(max_examples=40, deadline=None)
@given(transforms(), transforms())
def test_distance_of_poses_equals_distance_of_transforms_and_is_symmetric(T_a, T_b):
    metres, radians = distance(T_a, T_b)
    assert pose_distance(pose_from_se3(T_a), pose_from_se3(T_b)) == pytest.approx((metres, radians), abs=2e-6)
    assert distance(T_b, T_a) == pytest.approx((metres, radians), abs=1e-9)


def test_the_sign_of_a_quaternion_does_not_count():
    pose = pose_from_se3(pin.exp6(np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])))
    other = pose.copy()
    other[3:] *= -1.0
    assert pose_distance(pose, other) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("pose", "field"),
    [
        ([0, 0, 0, 0, 0, 0], "goal (length)"),
        ([np.nan, 0, 0, 0, 0, 0, 1], "goal[0]"),
        ([0, 0, np.inf, 0, 0, 0, 1], "goal[2]"),
        ([0, 0, 0, 0, 0, 0, 2], "goal.orientation"),
        ([0, 0, 0, 0, 0, 0, 0], "goal.orientation"),
        ("home", "goal"),
    ],
)
def test_a_bad_pose_is_refused_by_field(pose, field):
    with pytest.raises(InvalidValueError) as caught:
        se3_from_pose(pose, "goal")
    assert caught.value.field == field
