import numpy as np
import pinocchio as pin
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from telerobot_nodes.motion.law import law_records as lr
from telerobot_nodes.motion.law.ring import accumulate
from telerobot_nodes.motion.law.springs import orientation_pull, spring_motion

SIX = st.tuples(*[st.floats(-1.0, 1.0)] * 6)
PERIOD = 0.005
ALL = [1] * 6


def se3(six, scale=2.0):
    six = np.array(six)
    return pin.SE3(pin.exp3(scale * six[3:]), six[:3])


def pulled(make_law, arm, tr_del, chosen, steps=1, **values):
    """trDel after some samples of springs alone."""
    law, state, _ = make_law(arm, sel_vect_sp=chosen, **values)
    E = tr_del.inverse()
    state.R[lr.StateFrame.DEL_INVERSE], state.p[lr.StateFrame.DEL_INVERSE] = E.rotation, E.translation
    out = np.empty(6)
    for _ in range(steps):
        spring_motion(law, state, out)
        accumulate(state.R[lr.StateFrame.DEL_INVERSE], state.p[lr.StateFrame.DEL_INVERSE], out)
    return pin.SE3(state.R[lr.StateFrame.DEL_INVERSE].copy(), state.p[lr.StateFrame.DEL_INVERSE].copy()).inverse()


@given(delta=SIX)
@settings(max_examples=30)
def test_springs_premultiply_trdel_by_their_pull(make_law, arm, delta):
    tr_del = se3(delta, 1.5)
    got = pulled(make_law, arm, tr_del, ALL, spring_gains=[1, 2, 3, 3], max_spring_vel=[10] * 4)
    pull = -PERIOD * np.array([1, 2, 3]) * tr_del.translation
    turn = -PERIOD * 3 * pin.log3(tr_del.rotation)
    expected = pin.SE3(pin.exp3(turn), pull) * tr_del
    np.testing.assert_allclose(got.homogeneous, expected.homogeneous, atol=1e-9)


@pytest.mark.lengthy
@given(delta=SIX)
@settings(max_examples=20)
def test_springs_in_every_dof_bring_trdel_to_identity(make_law, arm, delta):
    got = pulled(make_law, arm, se3(delta, 1.5), ALL, steps=2000, spring_gains=[3] * 4, max_spring_vel=[9] * 4)
    np.testing.assert_allclose(got.homogeneous, np.eye(4), atol=1e-6)


def test_springs_keep_their_speed_limits(make_law, arm):
    tr_del = pin.SE3(pin.exp3(np.array([0.0, 1.0, 0.0])), np.array([0.2, -0.3, 0.4]))
    got = pulled(make_law, arm, tr_del, ALL, spring_gains=[50] * 4, max_spring_vel=[0.01, 0.02, 0.03, 0.1])
    step = got * tr_del.inverse()
    np.testing.assert_allclose(step.translation, PERIOD * np.array([-0.01, 0.02, -0.03]), atol=1e-12)
    np.testing.assert_allclose(pin.log3(step.rotation), [0.0, -0.1 * PERIOD, 0.0], atol=1e-12)


@pytest.mark.parametrize("axis", [0, 1, 2])
@given(delta=SIX)
@settings(max_examples=20)
@pytest.mark.lengthy
@pytest.mark.brief(1)
def test_one_orientation_dof_aligns_that_axis_and_leaves_the_turn_about_it(make_law, arm, axis, delta):
    tr_del = se3(delta, 1.2)
    n = tr_del.rotation[:, axis]
    assume(n[axis] > -0.99)
    chosen = [0, 0, 0] + [int(i == axis) for i in range(3)]
    pull = np.empty(3)
    orientation_pull(tr_del.rotation, np.array(chosen[3:], dtype=float), pull)
    expected = np.cross(n, np.eye(3)[axis])
    size = np.linalg.norm(expected)
    if size > 1e-9:
        expected *= np.arccos(np.clip(n[axis], -1, 1)) / size
    np.testing.assert_allclose(pull, expected, atol=1e-6)
    got = pulled(make_law, arm, tr_del, chosen, steps=3000, spring_gains=[3] * 4, max_spring_vel=[9] * 4)
    np.testing.assert_allclose(got.rotation[:, axis], np.eye(3)[axis], atol=1e-6)
    np.testing.assert_allclose(got.translation, pin.exp3(pull) @ np.zeros(3) + got.translation)


def test_an_axis_turned_right_over_is_brought_back(make_law, arm):
    tr_del = pin.SE3(np.diag([-1.0, -1.0, 1.0]), np.zeros(3))
    got = pulled(make_law, arm, tr_del, [0, 0, 0, 1, 0, 0], steps=3000, spring_gains=[3] * 4, max_spring_vel=[9] * 4)
    np.testing.assert_allclose(got.rotation[:, 0], [1, 0, 0], atol=1e-6)


@given(delta=SIX)
@settings(max_examples=20)
def test_two_orientation_dofs_leave_out_the_third_part_of_the_rotation_vector(make_law, arm, delta):
    tr_del = se3(delta, 1.0)
    pull = np.empty(3)
    orientation_pull(tr_del.rotation, np.array([1.0, 0.0, 1.0]), pull)
    np.testing.assert_allclose(pull, -pin.log3(tr_del.rotation) * [1, 0, 1], atol=1e-9)


def test_without_orientation_dofs_there_is_no_orientation_spring(make_law, arm):
    tr_del = se3((0.1, 0.2, 0.3, 0.4, 0.5, 0.6))
    got = pulled(make_law, arm, tr_del, [1, 0, 0, 0, 0, 0], steps=50)
    np.testing.assert_allclose(got.rotation, tr_del.rotation, atol=1e-9)
    assert abs(got.translation[0]) < abs(tr_del.translation[0])
    np.testing.assert_allclose(got.translation[1:], tr_del.translation[1:], atol=1e-9)
