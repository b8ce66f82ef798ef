"""[GCMSF] parameters of teleoperation and joints: a test per parameter, by the source's name."""

import numpy as np
import pinocchio as pin
import pytest
from gcmsf_play import ALL, ARM, HOME, PERIOD, QUARTER_Z, moved, play

from telerobot_nodes.motion.law import Termination

pytestmark = pytest.mark.lengthy


def handed(hand, **values):
    """The hand moves for a second; a quarter of a second later all of it has arrived."""
    return moved(play(1.25, hand=hand, hand_rests=1.0 + PERIOD / 2, **{"sel_vect_tp": ALL, **values}))


def test_tele_mode():
    np.testing.assert_allclose(handed([0.02, 0, 0, 0, 0, 0], tele_mode="tool")[:3], [0.02, 0, 0], atol=5e-4)
    in_world = HOME.rotation @ handed([0.02, 0, 0, 0, 0, 0], tele_mode="world")[:3]
    np.testing.assert_allclose(in_world, [0.02, 0, 0], atol=5e-4)


def test_tr_camera():
    in_world = HOME.rotation @ handed([0.02, 0, 0, 0, 0, 0], tele_mode="camera", tr_camera=QUARTER_Z)[:3]
    np.testing.assert_allclose(in_world, [0, 0.02, 0], atol=5e-4)


def test_tr_teleop():
    np.testing.assert_allclose(handed([0.02, 0, 0, 0, 0, 0], tr_teleop=QUARTER_Z)[:3], [0, 0.02, 0], atol=5e-4)
    way = handed([0, 0, 0, 0, 0, 0.2], tr_teleop=[0.1, 0, 0, 0, 0, 0, 1])
    T = pin.SE3(pin.exp3(way[3:]), way[:3])
    np.testing.assert_allclose(T.act(np.array([0.1, 0, 0])), [0.1, 0, 0], atol=1e-3)


def test_sel_vect_tp():
    way = handed([0.02, 0.02, 0.02, 0.1, 0.1, 0.1], sel_vect_tp=[0, 1, 0, 0, 0, 0])
    np.testing.assert_allclose(way, [0, 0.02, 0, 0, 0, 0], atol=5e-4)


def test_tele_gains():
    way = handed([0.02, 0.02, 0, 0, 0, 0], tele_gains=[0.5, -1, 1, 1, 1, 1])
    np.testing.assert_allclose(way[:2], [0.01, -0.02], atol=5e-4)


def test_max_tele_vel():
    way = moved(play(1.0, hand=[1.0, 0, 0, 0, 0, 0], sel_vect_tp=ALL, max_tele_vel=[0.03] * 6))
    assert way[0] == pytest.approx(0.03, rel=0.03)


def near_limit():
    q = ARM.home.copy()
    q[0] = ARM.limits.upper[0] - 0.05
    return q


def first_joint(seconds=1.0, **values):
    return play(seconds, q=near_limit(), **values).joints[-1][0] - near_limit()[0]


def test_sel_vect_lim():
    assert first_joint(sel_vect_lim=[1, 0, 0, 0, 0, 0]) < -0.01
    assert first_joint(sel_vect_lim=[0, 1, 1, 0, 0, 0]) == pytest.approx(0.0, abs=1e-6)


def near_singularity(**values):
    q = ARM.home.copy()
    q[4] = 0.03
    p = play(1.0, q=q, trans_threshold=5, **values)
    sigma = [np.linalg.svd(ARM.jacobian(x), compute_uv=False)[-1] for x in (q, p.joints[-1])]
    return sigma[1] - sigma[0]


def test_sel_vect_sing():
    assert near_singularity(sel_vect_sing=False) == pytest.approx(0.0, abs=1e-9)
    assert near_singularity(sel_vect_sing=True, js_theta=[0, 0.5]) > 1e-3


def test_js_gain():
    weak = first_joint(0.2, sel_vect_lim=ALL, js_gain=[0.0005, 0])
    strong = first_joint(0.2, sel_vect_lim=ALL, js_gain=[0.002, 0])
    assert strong < 2 * weak < 0


def test_js_theta():
    assert first_joint(sel_vect_lim=ALL, js_theta=[0.04, 0]) == pytest.approx(0.0, abs=1e-6)
    assert first_joint(sel_vect_lim=ALL, js_theta=[0.2, 0]) < -0.01


def test_j_safety_limit():
    for end, reason in ((0.03, Termination.JOINT_LIMIT), (-0.1, Termination.RUNNING)):
        goal = near_limit()
        goal[0] += end
        p = play(2, q=near_limit(), joint_dest=goal.tolist(), j_safety_limit=[0.1, 0.0])
        assert p.reason is reason
