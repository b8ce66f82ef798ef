"""[GCMSF] parameters of force, dither and springs: a test per parameter, by the source's name."""

import numpy as np
import pinocchio as pin
import pytest
from gcmsf_play import ALL, ARM, HOME, PERIOD, QUARTER_Z, QUIET, SENSOR, moved, play, stops

from telerobot_nodes.motion.law import Termination
from telerobot_nodes.motion.parameters import parameters_from
from telerobot_nodes.motion.primitives import Primitive

pytestmark = pytest.mark.lengthy


SOFT = {"force_gains": [1e-3] * 3 + [1e-2] * 3, "dead_zone": [0] * 6, "trans_threshold": 1.0}


def test_tr_force():
    p = play(0.5, wrench=[0, 0, 0, 0, 0, -1], comply_vect=ALL, **SOFT, tr_force=[0.1, 0, 0, 0, 0, 0, 1])
    # it turns about FORCE, so the tool swings round a point 0.1 m away
    centre = np.array([0.1, 0, 0])
    T = HOME.actInv(p.poses[-1])
    assert np.linalg.norm(pin.log3(T.rotation)) > 1e-3
    np.testing.assert_allclose(T.act(centre), centre, atol=1e-4)


def test_tr_sense():
    p = play(0.5, wrench=[0, 5, 0, 0, 0, 0], comply_vect=[0, 0, 0, 1, 1, 1], **SOFT, tr_sense=[0.2, 0, 0, 0, 0, 0, 1])
    # felt 0.2 m beside the line of the force, it is a moment of -1 N m about z, and gives way to it
    np.testing.assert_allclose(moved(p)[3:], [0, 0, 0.005], atol=3e-4)


def test_sel_vect_fc():
    values = {"sel_vect_fc": [1, 0, 0, 0, 0, 0], "force_setpoints": [5, 0, 0, 0, 0, 0], **SOFT}
    np.testing.assert_allclose(moved(play(1, **values))[:3], [0.005, 0, 0], atol=2e-4)


def test_comply_vect():
    p = play(1, wrench=[5, 5, 5, 0, 0, 0], comply_vect=[0, 1, 0, 0, 0, 0], **SOFT)
    np.testing.assert_allclose(moved(p)[:3], [0, -0.005, 0], atol=2e-4)


def test_force_setpoints():
    for wanted in (-4.0, 4.0):
        p = play(
            1,
            wrench=[0, 0, 1, 0, 0, 0],
            sel_vect_fc=[0, 0, 1, 0, 0, 0],
            force_setpoints=[0, 0, wanted, 0, 0, 0],
            **SOFT,
        )
        assert moved(p)[2] == pytest.approx(1e-3 * (wanted - 1.0), abs=2e-4)


def test_dead_zone():
    for zone, expected in ((0, -0.005), (2, -0.003), (6, 0.0)):
        p = play(1, wrench=[5, 0, 0, 0, 0, 0], comply_vect=ALL, **{**SOFT, "dead_zone": [zone] * 6})
        assert moved(p)[0] == pytest.approx(expected, abs=2e-4)


def test_force_gains():
    for gain in (1e-4, 1e-3):
        p = play(1, wrench=[5, 0, 0, 0, 0, 0], comply_vect=ALL, **{**SOFT, "force_gains": [gain] * 6})
        assert moved(p)[0] == pytest.approx(-5 * gain, rel=0.05)


def test_max_force_vel():
    p = play(1, wrench=[50, 0, 0, 0, 0, 0], comply_vect=ALL, **SOFT, max_force_vel=[0.01] * 6)
    assert moved(p)[0] == pytest.approx(-0.01, rel=0.05)


def contact_lost(name, touching, reason):
    primitive = Primitive(ARM, PERIOD)
    primitive.start(0.0, ARM.home, parameters_from({**QUIET, name: 2.0}))
    for k, scale in enumerate((0.0, 1.0, 1.0, 0.1)):
        primitive.set_wrench(0.01 * k, scale * SENSOR.actInv(pin.Force(np.array(touching, float))).vector)
        primitive.step(0.01 * k)
        assert primitive.reason is (reason if k == 3 else Termination.RUNNING)


def test_min_force_thres():
    contact_lost("min_force_thres", [0, 0, 5, 0, 0, 0], Termination.MIN_FORCE)


def test_min_torque_thres():
    contact_lost("min_torque_thres", [0, 0, 0, 0, 0, 5], Termination.MIN_TORQUE)


def test_max_force_thres():
    stops(Termination.MAX_FORCE, wrench=[0, 6, 0, 0, 0, 0], max_force_thres=5)
    assert play(0.5, wrench=[0, 4, 0, 0, 0, 0], max_force_thres=5).reason is Termination.RUNNING


def test_max_torque_thres():
    stops(Termination.MAX_TORQUE, wrench=[0, 0, 0, 0, 2, 0], max_torque_thres=1)
    assert play(0.5, wrench=[0, 0, 0, 0, 0.5, 0], max_torque_thres=1).reason is Termination.RUNNING


def dithered(seconds=2.0, **values):
    p = play(seconds, **{"dither_mag": [2e-3, 0, 0, 0, 0, 0], "dither_period": [0.5] * 6, **values})
    return np.array([HOME.actInv(T).translation for T in p.poses])


def test_dither_wave():
    t = PERIOD * (1 + np.arange(400))
    sine = 2e-3 * np.sin(2 * np.pi * t / 0.5)
    triangle = 2e-3 * 2 / np.pi * np.arcsin(np.sin(2 * np.pi * t / 0.5))
    np.testing.assert_allclose(dithered(dither_wave="sine")[:, 0], sine, atol=1e-4)
    np.testing.assert_allclose(dithered(dither_wave="triangle")[:, 0], triangle, atol=1e-4)
    square = dithered(dither_wave="square")[:, 0]
    assert np.mean(np.abs(np.abs(square) - 2e-3) < 2e-4) > 0.5  # the joints take their time


def test_tr_dither():
    way = dithered(tr_dither=QUARTER_Z)
    assert np.ptp(way[:, 1]) == pytest.approx(4e-3, rel=0.05)
    assert np.ptp(way[:, 0]) < 2e-4


def test_dither_mag():
    for mag in (1e-3, 3e-3):
        assert np.ptp(dithered(dither_mag=[0, mag, 0, 0, 0, 0])[:, 1]) == pytest.approx(2 * mag, rel=0.05)


def test_dither_period():
    for period, turns in ((0.5, 4), (1.0, 2)):
        x = dithered(dither_period=[period] * 6)[:, 0]
        rising = np.flatnonzero((x[:-1] < 0) & (x[1:] >= 0))
        assert len(rising) in (turns - 1, turns)


PUSHED = {"sel_vect_tp": ALL, "hand": [0.02, 0.02, 0, 0, 0, 0.1]}


def sprung(**values):
    """The hand pushes for a second against the springs."""
    return moved(play(1.0, **PUSHED, **values))


def test_sel_vect_sp():
    free = sprung()
    held = sprung(sel_vect_sp=[1, 0, 0, 0, 0, 1], spring_gains=[20] * 4, max_spring_vel=[1] * 4)
    assert abs(held[0]) < 0.2 * free[0]
    assert held[1] > 0.8 * free[1]
    # one orientation DOF, z: the z axis is held in its direction, and free to turn about itself
    assert held[5] == pytest.approx(free[5], rel=0.1)
    free, held = (
        moved(play(1.0, **{**PUSHED, "hand": [0, 0, 0, 0.1, 0, 0]}, sel_vect_sp=s, spring_gains=[20] * 4))
        for s in ([0] * 6, [0, 0, 0, 0, 0, 1])
    )
    assert abs(held[3]) < 0.2 * free[3]


def test_spring_gains():
    stiff, soft = (sprung(sel_vect_sp=ALL, spring_gains=[k] * 4, max_spring_vel=[1] * 4) for k in (10.0, 2.0))
    # a spring k against a hand v rests at v / k
    assert stiff[0] == pytest.approx(0.02 / 10, rel=0.15)
    assert soft[0] == pytest.approx(0.02 / 2 * (1 - np.exp(-2.0)), rel=0.15)
    assert stiff[5] == pytest.approx(0.1 / 10, rel=0.15)


def test_max_spring_vel():
    held = sprung(sel_vect_sp=ALL, spring_gains=[50] * 4, max_spring_vel=[0.01, 0.01, 0.01, 0.02])
    assert held[0] == pytest.approx(0.02 - 0.01, abs=2e-3)
    assert held[5] == pytest.approx(0.1 - 0.02, abs=5e-3)
