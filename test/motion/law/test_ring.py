import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from telerobot_nodes.motion.law import law_records as lr
from telerobot_nodes.motion.law.ring import absorb, accumulate, solve_ring

SIX = st.tuples(*[st.floats(-1.0, 1.0)] * 6)


def se3(six, scale=1.0):
    six = np.array(six)
    return pin.SE3(pin.exp3(scale * six[3:]), six[:3])


def pose(T):
    return pin.SE3ToXYZQUAT(T).tolist()


def set_frame(state, row, T):
    state.R[row], state.p[row] = T.rotation, T.translation


@pytest.mark.parametrize("scale", [1e-6, 1e-2, 1.0, 2.5])
@given(base=SIX, nom=SIX, dest=SIX, drive=SIX, delta=SIX)
@settings(max_examples=20)
@pytest.mark.lengthy
def test_the_solution_satisfies_the_ring_equation(make_law, arm, scale, base, nom, dest, drive, delta):
    T_base, T_nom, T_dest = se3(base, 2.0), se3(nom, 2.0), se3(dest, 2.0)
    tr_drive, tr_del = se3(scale * np.array(drive)), se3(scale * np.array(delta))
    law, state, _ = make_law(arm, tr_base=pose(T_base), tr_nom=pose(T_nom))
    set_frame(state, lr.StateFrame.NOMINAL, T_dest * T_nom * tr_drive.inverse())
    set_frame(state, lr.StateFrame.DEL_INVERSE, tr_del.inverse())
    solve_ring(law, state)
    tr_tn = pin.SE3(state.R[lr.StateFrame.GOAL].copy(), state.p[lr.StateFrame.GOAL].copy())
    left = T_base * tr_tn * T_nom * tr_del * tr_drive
    np.testing.assert_allclose(left.homogeneous, (T_dest * T_nom).homogeneous, atol=1e-9)
    assert state.value[lr.StateValue.TRANS] == pytest.approx(np.linalg.norm(tr_del.translation), abs=1e-9)
    assert state.value[lr.StateValue.ANGLE] == pytest.approx(np.linalg.norm(pin.log3(tr_del.rotation)), abs=1e-6)


@given(before=SIX, step=SIX)
def test_sensor_motion_moves_nom_by_its_displacement_and_premultiplies_trdel_by_the_inverse(before, step):
    tr_del, D = se3(before, 2.0), se3(0.01 * np.array(step))
    E = tr_del.inverse()
    R, p = E.rotation.copy(), E.translation.copy()
    accumulate(R, p, 0.01 * np.array(step))
    nominal = se3((0.3, -0.2, 0.5, 0.4, -0.9, 0.2))
    moved = nominal * pin.SE3(R, p)
    np.testing.assert_allclose(moved.homogeneous, (nominal * tr_del.inverse() * D).homogeneous, atol=1e-9)
    np.testing.assert_allclose(pin.SE3(R, p).inverse().homogeneous, (D.inverse() * tr_del).homogeneous, atol=1e-9)


@given(nom=SIX, delta=SIX)
@settings(max_examples=20)
@pytest.mark.lengthy
def test_absorbing_a_tool_pose_makes_the_ring_give_it_back(make_law, arm, nom, delta):
    law, state, _ = make_law(arm, tr_nom=pose(se3(nom, 2.0)))
    set_frame(state, lr.StateFrame.NOMINAL, se3((0.1, 0.2, 0.3, 1.0, 0.0, 0.5)))
    T_tn = se3(delta, 2.0)
    absorb(law, state, T_tn.rotation, T_tn.translation)
    solve_ring(law, state)
    np.testing.assert_allclose(
        pin.SE3(state.R[lr.StateFrame.GOAL], state.p[lr.StateFrame.GOAL]).homogeneous, T_tn.homogeneous, atol=1e-9
    )
