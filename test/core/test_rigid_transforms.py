import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from hypothesis import strategies as st

from telerobot_nodes.core import transforms as tf

UNIT = st.floats(-1.0, 1.0)
SIX = st.tuples(*[UNIT] * 6)
SIZE = st.sampled_from([0.0, 1e-12, 1e-9, 1e-6, 1e-4, 1e-3, 0.1, 1.0, 3.0])


def se3(six, scale=1.0):
    six = np.array(six)
    return pin.SE3(pin.exp3(scale * six[3:]), six[:3])


@given(vector=st.tuples(UNIT, UNIT, UNIT), size=SIZE)
def test_rotations_and_their_vectors_are_those_of_pinocchio_from_nothing_to_half_a_turn(vector, size):
    w = size * np.array(vector) / max(np.linalg.norm(vector), 1e-3)
    R, back = np.empty((3, 3)), np.empty(3)
    tf.rotation_into(w, R)
    np.testing.assert_allclose(R, pin.exp3(w), atol=1e-12)
    angle = tf.vector_into(R, back)
    np.testing.assert_allclose(pin.exp3(back), R, atol=1e-7)
    assert angle == pytest.approx(np.linalg.norm(back), abs=1e-9)
    if np.linalg.norm(w) < 3.0:
        np.testing.assert_allclose(back, w, atol=1e-9)


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (1, -2, 3), (-1, -1, -1)])
@pytest.mark.parametrize("short_of_half_a_turn", [0.0, 1e-9, 1e-6, 1e-3, 0.05, 0.2])
def test_the_vector_of_nearly_half_a_turn_keeps_its_axis(axis, short_of_half_a_turn):
    w = (np.pi - short_of_half_a_turn) * np.array(axis) / np.linalg.norm(axis)
    back = np.empty(3)
    assert tf.vector_into(pin.exp3(w), back) == pytest.approx(np.pi - short_of_half_a_turn, abs=1e-7)
    np.testing.assert_allclose(pin.exp3(back), pin.exp3(w), atol=1e-7)


@pytest.mark.lengthy
@given(a=SIX, b=SIX)
def test_products_and_inverses_are_those_of_pinocchio(a, b):
    A, B = se3(a, 3.0), se3(b, 3.0)
    R, p = np.empty((3, 3)), np.empty(3)
    tf.compose(A.rotation, A.translation, B.rotation, B.translation, R, p)
    np.testing.assert_allclose(pin.SE3(R, p).homogeneous, (A * B).homogeneous, atol=1e-12)
    tf.invert(A.rotation, A.translation, R, p)
    np.testing.assert_allclose(pin.SE3(R, p).homogeneous, A.inverse().homogeneous, atol=1e-12)


@pytest.mark.lengthy
@given(frame=SIX, small=SIX, size=SIZE)
def test_a_displacement_seen_from_another_frame_is_the_similar_transform(frame, small, size):
    T, d = se3(frame, 3.0), size * np.array(small) / 2.0
    out = np.empty(6)
    tf.displacement_from(T.rotation, T.translation, d, out)
    expected = T * se3(d) * T.inverse()
    np.testing.assert_allclose(se3(out).homogeneous, expected.homogeneous, atol=1e-12)


@given(frame=SIX, wrench=SIX)
@pytest.mark.lengthy
def test_wrenches_change_frames_as_forces_of_pinocchio_and_back(frame, wrench):
    T, w = se3(frame, 3.0), np.array(wrench)
    out, back = np.empty(6), np.empty(6)
    tf.wrench_from(T.rotation, T.translation, w, out)
    np.testing.assert_allclose(out, T.act(pin.Force(w)).vector, atol=1e-12)
    tf.wrench_into(T.rotation, T.translation, out, back)
    np.testing.assert_allclose(back, w, atol=1e-12)


@given(frame=SIX, wrench=SIX, motion=SIX)
def test_work_is_the_same_in_every_frame(frame, wrench, motion):
    T = se3(frame, 3.0)
    w, d = np.array(wrench), 1e-7 * np.array(motion)
    w_out, d_out = np.empty(6), np.empty(6)
    tf.wrench_from(T.rotation, T.translation, w, w_out)
    tf.displacement_from(T.rotation, T.translation, d, d_out)
    assert w_out @ d_out == pytest.approx(w @ d, abs=1e-12)


def test_a_product_of_many_rotations_stays_a_rotation():
    R, S, N = np.eye(3), np.empty((3, 3)), np.empty((3, 3))
    tf.rotation_into(np.array([1e-3, 2e-3, -1e-3]), S)
    zero, p = np.zeros(3), np.empty(3)
    for _ in range(100_000):
        tf.compose(R, zero, S, zero, N, p)
        R[:] = N
        tf.straighten(R)
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-14)


@given(d=SIX)
@pytest.mark.lengthy
def test_limits_per_axis_and_of_the_whole(d):
    most = np.array([0.1, 0.2, 0.3, 1.0, 2.0, 3.0])
    clamped = np.array(d)
    tf.clamp(clamped, most, 0.5)
    np.testing.assert_allclose(clamped, np.clip(d, -0.5 * most, 0.5 * most))
    short, shares = np.array(d), np.empty(2)
    tf.shorten(short, np.array([0.4, 0.8]), 0.5, shares)
    for part, bound in ((slice(0, 3), 0.2), (slice(3, 6), 0.4)):
        size = np.linalg.norm(np.array(d)[part])
        np.testing.assert_allclose(short[part], np.array(d)[part] * min(1.0, bound / max(size, 1e-300)), atol=1e-15)
