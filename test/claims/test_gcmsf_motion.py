"""[GCMSF] parameters of system, trajectory, fusion and ending: a test per parameter, by the source's name."""

import numpy as np
import pinocchio as pin
import pytest
from gcmsf_play import ALL, ARM, HOME, PERIOD, QUIET, SENSOR, along, moved, play, shift, stops

from telerobot_nodes.motion.law import Termination
from telerobot_nodes.motion.parameters import parameters_from
from telerobot_nodes.motion.primitives import Phase, Primitive

pytestmark = pytest.mark.lengthy


def test_tr_base():
    T_base = shift(0.5, -0.2, 0.1, (0, 0, 0.4))
    goal = T_base * HOME * shift(0.02)
    p = play(3, tr_base=pin.SE3ToXYZQUAT(T_base).tolist(), tr_tn_dest=pin.SE3ToXYZQUAT(goal).tolist())
    np.testing.assert_allclose((T_base * p.poses[-1]).homogeneous, goal.homogeneous, atol=1e-4)


def test_mass_prop():
    # the arm holds 2 kg up, 0.1 m out: without the load's properties it gives way
    weight = pin.SE3(np.eye(3), np.array([0, 0, 0.1])).act(
        pin.Force(HOME.rotation.T @ np.array([0, 0, 2 * 9.81]), np.zeros(3))
    )
    known = play(1, wrench=weight.vector, comply_vect=ALL, mass_prop=[2, 0, 0, 0.1])
    unknown = play(1, wrench=weight.vector, comply_vect=ALL)
    assert np.abs(moved(known)).max() < 1e-4 < np.abs(moved(unknown)[:3]).max()


def test_period():
    for period in (0.1, 0.5):
        primitive = Primitive(ARM, PERIOD)
        primitive.start(0.0, ARM.home, parameters_from({**QUIET, "period": period}))
        assert sum(primitive.report_due(t) for t in np.arange(0, 2, PERIOD)) == round(2 / period)


def test_tr_tn_dest():
    p = play(7, tr_tn_dest=along(shift(0.03, -0.02, 0.01, (0.1, 0, 0.2))))
    np.testing.assert_allclose(moved(p), [0.03, -0.02, 0.01, 0.1, 0, 0.2], atol=1e-4)


def test_tr_nom():
    # a crank: the tool turns about an axis 0.1 m away, on an arc
    T_nom = shift(x=-0.1)
    goal = HOME * T_nom * shift(turn=(0, 0, 0.6)) * T_nom.inverse()
    p = play(5, tr_nom=pin.SE3ToXYZQUAT(T_nom).tolist(), tr_tn_dest=pin.SE3ToXYZQUAT(goal).tolist(), time_vel_val=0.3)
    for T in p.poses:
        seen = (HOME * T_nom).actInv(T).translation
        assert np.linalg.norm(seen) == pytest.approx(0.1, abs=1e-4)
    np.testing.assert_allclose(p.poses[-1].homogeneous, goal.homogeneous, atol=1e-4)


def arrival(**values):
    p = play(8, tr_tn_dest=along(shift(0.06)), **{**values, "end_time": 0.0})
    assert p.reason is Termination.COMPLETED
    return p.now


def test_time_vel_sel():
    assert arrival(time_vel_sel="time", time_vel_val=2.0) == pytest.approx(2.0, abs=0.05)
    assert arrival(time_vel_sel="velocity", time_vel_val=0.02) == pytest.approx(3.3, abs=0.05)


def test_time_vel_val():
    assert arrival(time_vel_sel="time", time_vel_val=1.0) == pytest.approx(1.0, abs=0.05)
    assert arrival(time_vel_sel="time", time_vel_val=3.0) == pytest.approx(3.0, abs=0.05)


def test_acc_time():
    for acc_time in (0.2, 0.8):
        p = play(0.7 * acc_time, tr_tn_dest=along(shift(0.1)), time_vel_val=0.05, acc_time=acc_time)
        speed = (p.poses[-1].translation - p.poses[-2].translation) / PERIOD
        u = 0.7
        assert np.linalg.norm(speed) == pytest.approx(0.05 * (3 * u**2 - 2 * u**3), abs=1e-3)


def test_max_sf_vel():
    p = play(1, hand=[1, 0, 0, 0, 0, 0], sel_vect_tp=ALL, max_tele_vel=[1] * 6, max_sf_vel=[0.02, 0.1])
    assert np.linalg.norm(moved(p)[:3]) == pytest.approx(0.02, rel=0.02)
    p = play(1, hand=[0, 0, 0, 0, 0, 1], sel_vect_tp=ALL, max_tele_vel=[1] * 6, max_sf_vel=[0.02, 0.1])
    assert np.linalg.norm(moved(p)[3:]) == pytest.approx(0.1, rel=0.02)


def test_trans_threshold():
    p = stops(Termination.TRANS_THRESHOLD, hand=[0.05, 0, 0, 0, 0, 0], sel_vect_tp=ALL, trans_threshold=0.02)
    assert 0.02 <= np.linalg.norm(moved(p)[:3]) < 0.025


def test_ang_threshold():
    p = stops(Termination.ANG_THRESHOLD, hand=[0, 0, 0, 0.2, 0, 0], sel_vect_tp=ALL, ang_threshold=0.1)
    assert 0.1 <= np.linalg.norm(moved(p)[3:]) < 0.12


def test_select():
    drift = {"hand": [0.01, 0, 0, 0, 0, 0], "sel_vect_tp": ALL, "end_time": 2.0, "end_trans_err": 1e-4}
    assert play(5, **drift, select=8).reason is Termination.CONDITIONS
    assert play(5, **drift, select=1).reason is Termination.END_TIME
    assert play(5, **drift, select=1 + 8).reason is Termination.END_TIME


def test_test_time():
    for test_time in (0.4, 1.2):
        p = play(5, select=1, test_time=test_time, end_time=4.0)
        assert p.now == pytest.approx(test_time, abs=0.05)


def test_end_time():
    for end_time in (1.0, 2.0):
        p = play(5, select=4, end_trans_vel=0.0, hand=[0.01, 0, 0, 0, 0, 0], sel_vect_tp=ALL, end_time=end_time)
        assert p.reason is Termination.END_TIME
        assert p.now == pytest.approx(end_time, abs=0.05)


def assert_ends_below(name, bit, small, large, **values):
    """Below its limit the condition holds, above it does not."""
    common = {**values, "select": bit, "end_time": 3.0}
    assert play(5, **common, **{name: large}).reason is Termination.CONDITIONS
    assert play(5, **common, **{name: small}).reason is Termination.END_TIME


HAND_X = {"hand": [0.01, 0, 0, 0, 0, 0], "sel_vect_tp": ALL}
TURN_X = {"hand": [0, 0, 0, 0.05, 0, 0], "sel_vect_tp": ALL}
PRESS = {"sel_vect_fc": [0, 0, 1, 0, 0, 1], "force_gains": [0] * 6, "dead_zone": [0] * 6, "wrench": [0, 0, 4, 0, 0, 2]}


def test_end_trans_err():
    assert_ends_below("end_trans_err", 1, 0.001, 0.1, **HAND_X)


def test_end_ang_err():
    assert_ends_below("end_ang_err", 2, 0.005, 0.5, **TURN_X)


def test_end_trans_vel():
    assert_ends_below("end_trans_vel", 4, 0.005, 0.02, **HAND_X)


def test_end_ang_vel():
    assert_ends_below("end_ang_vel", 8, 0.02, 0.1, **TURN_X)


def test_end_force_err():
    assert_ends_below("end_force_err", 16, 3.9, 4.1, **PRESS)


def test_end_torque_err():
    assert_ends_below("end_torque_err", 32, 1.9, 2.1, **PRESS)


def assert_ends_while_changing_slowly(name, bit):
    """The error changes while the condition is tested: 10 N/s, 5 N m/s."""
    for limit, expected in ((20.0, Termination.CONDITIONS), (1.0, Termination.END_TIME)):
        values = {k: v for k, v in PRESS.items() if k != "wrench"}
        primitive = Primitive(ARM, PERIOD)
        chosen = {**QUIET, **values, "select": bit, "end_time": 3.0, name: limit}
        primitive.start(0.0, ARM.home, parameters_from(chosen))
        now = 0.0
        while primitive.phase is not Phase.ENDED:
            now += PERIOD
            at_tn = pin.Force(np.array([0, 0, 10 * now, 0, 0, 5 * now]))
            primitive.set_wrench(now, SENSOR.actInv(at_tn).vector)
            primitive.step(now)
        assert primitive.reason is expected


def test_end_force_vel():
    assert_ends_while_changing_slowly("end_force_vel", 64)


def test_end_torque_vel():
    assert_ends_while_changing_slowly("end_torque_vel", 128)
