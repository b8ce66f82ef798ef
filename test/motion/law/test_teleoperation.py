import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from telerobot_nodes.motion.law import law_records as lr
from telerobot_nodes.motion.law.teleoperation import MAX_WAITING, teleoperation_motion

SIX = st.tuples(*[st.floats(-1.0, 1.0)] * 6)
PERIOD = 0.005
ALL = [1] * 6


def se3(six, scale=2.0):
    six = np.array(six)
    return pin.SE3(pin.exp3(scale * six[3:]), six[:3])


def pose(T):
    return pin.SE3ToXYZQUAT(T).tolist()


def displacement(six):
    return pin.SE3(pin.exp3(np.array(six)[3:]), np.array(six)[:3])


@pytest.mark.parametrize("mode", ["tool", "world", "camera"])
@given(nom=SIX, teleop=SIX, camera=SIX, hand=SIX)
@settings(max_examples=15)
@pytest.mark.lengthy
@pytest.mark.brief(2)
def test_the_hand_moves_along_the_axes_of_its_mode(make_law, arm, mode, nom, teleop, camera, hand):
    T_world_nom, T_nom_teleop, T_world_camera = se3(nom), se3(teleop), se3(camera)
    law, state, _ = make_law(
        arm, tele_mode=mode, tr_teleop=pose(T_nom_teleop), tr_camera=pose(T_world_camera), sel_vect_tp=ALL
    )
    d = 1e-4 * np.array(hand)
    out = np.empty(6)
    teleoperation_motion(law, state, d, T_world_nom.rotation, out)
    moved = displacement(out)  # of NOM, seen in NOM
    at_teleop = T_nom_teleop.inverse() * moved * T_nom_teleop
    axes = {
        "tool": np.eye(3),
        "world": (T_world_nom * T_nom_teleop).rotation.T,
        "camera": (T_world_nom * T_nom_teleop).rotation.T @ T_world_camera.rotation,
    }[mode]
    np.testing.assert_allclose(at_teleop.translation, axes @ d[:3], atol=1e-9)
    np.testing.assert_allclose(pin.log3(at_teleop.rotation), axes @ d[3:], atol=1e-9)


def test_gains_and_selection_act_on_each_dof_of_teleop(make_law, arm):
    law, state, _ = make_law(arm, sel_vect_tp=[1, 0, 1, 0, 1, 0], tele_gains=[2, 2, -1, 1, 0.5, 1])
    out = np.empty(6)
    teleoperation_motion(law, state, np.full(6, 1e-4), np.eye(3), out)
    np.testing.assert_allclose(out, 1e-4 * np.array([2, 0, -1, 0, 0.5, 0]), atol=1e-12)


def test_a_burst_of_the_hand_is_spread_over_samples_at_the_speed_limit_and_not_lost(make_law, arm):
    law, state, _ = make_law(arm, sel_vect_tp=ALL, max_tele_vel=[0.1] * 3 + [0.5] * 3)
    out, total = np.empty(6), np.zeros(6)
    burst = np.array([0.004, 0, 0, 0, 0, 0.02])
    for k in range(20):
        teleoperation_motion(law, state, burst if k == 0 else np.zeros(6), np.eye(3), out)
        assert (np.abs(out) <= law.six[lr.LawSix.MAX_TELE_VEL] * PERIOD + 1e-15).all()
        total += out
    np.testing.assert_allclose(total, burst, atol=1e-12)


def test_a_hand_far_too_fast_leaves_no_more_than_a_tenth_of_a_second_of_motion_behind(make_law, arm):
    law, state, _ = make_law(arm, sel_vect_tp=ALL, max_tele_vel=[0.1] * 6)
    out, total = np.empty(6), 0.0
    for _ in range(100):
        teleoperation_motion(law, state, np.array([1.0, 0, 0, 0, 0, 0]), np.eye(3), out)
    for _ in range(100):
        teleoperation_motion(law, state, np.zeros(6), np.eye(3), out)
        total += out[0]
    assert total <= 0.1 * MAX_WAITING + 1e-12
