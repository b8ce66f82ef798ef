import numpy as np
import pinocchio as pin
import pytest

from telerobot_nodes.motion.law import law_records as lr
from telerobot_nodes.motion.law.dither import dither_motion, return_remainder, wave
from telerobot_nodes.motion.law.ring import accumulate

PERIOD = 0.005


def se3(six, scale=2.0):
    six = np.array(six)
    return pin.SE3(pin.exp3(scale * six[3:]), six[:3])


def pose(T):
    return pin.SE3ToXYZQUAT(T).tolist()


def test_waves_have_their_shape_and_unit_amplitude():
    phases = np.linspace(0.0, 3.0, 3001)
    triangle, sine, square = ([wave(shape, x) for x in phases] for shape in range(3))
    np.testing.assert_allclose(sine, np.sin(2 * np.pi * phases), atol=1e-9)
    np.testing.assert_allclose(triangle, 2 / np.pi * np.arcsin(np.sin(2 * np.pi * phases)), atol=1e-9)
    assert set(square) == {-1.0, 1.0}
    assert np.mean(square) == pytest.approx(0.0, abs=1e-3)


@pytest.mark.parametrize("shape", ["triangle", "sine", "square"])
def test_dither_adds_up_to_its_wave_in_the_dither_frame(make_law, arm, shape):
    T = se3((0.1, -0.2, 0.3, 0.5, 0.1, -0.4))
    law, state, _ = make_law(
        arm,
        dither_wave=shape,
        tr_dither=pose(T),
        dither_mag=[2e-3, 0, 1e-3, 0, 5e-3, 0],
        dither_period=[0.5, 1, 0.2, 1, 0.4, 1],
    )
    out = np.empty(6)
    R, p = np.eye(3), np.zeros(3)
    for k in range(1, 300):
        dither_motion(law, state, k * PERIOD, out)
        accumulate(R, p, out)
        index = ("triangle", "sine", "square").index(shape)
        target = [
            mag * wave(index, k * PERIOD / period)
            for mag, period in zip(law.six[lr.LawSix.DITHER_MAG], law.six[lr.LawSix.DITHER_PERIOD], strict=True)
        ]
        at_dither = T.inverse() * pin.SE3(R, p) * T
        np.testing.assert_allclose(at_dither.translation, target[:3], atol=1e-4)  # jumps add up to second order
        np.testing.assert_allclose(pin.log3(at_dither.rotation), target[3:], atol=1e-9)


@pytest.mark.parametrize("shape", ["triangle", "sine"])
def test_a_wave_that_grows_begins_without_a_kick_and_becomes_the_whole_wave(make_law, arm, shape):
    law, state, _ = make_law(arm, dither_wave=shape, dither_mag=[4e-3, 0, 0, 0, 0, 0], dither_ramp=0.5)
    out, places = np.empty(6), [0.0]
    for k in range(1, 400):
        dither_motion(law, state, k * PERIOD, out)
        places.append(places[-1] + out[0])
    index, times = ("triangle", "sine", "square").index(shape), PERIOD * np.arange(400)
    late = times >= 0.5
    np.testing.assert_allclose(np.array(places)[late], [4e-3 * wave(index, t) for t in times[late]], atol=1e-9)
    speed = np.abs(np.diff(places)) / PERIOD
    assert speed[0] < 0.01 * speed.max()


def test_what_a_limit_cuts_off_a_wave_is_made_up_later(make_law, arm):
    law, state, _ = make_law(arm, dither_wave="square", dither_mag=[1e-3, 0, 0, 0, 0, 0])
    out, x = np.empty(6), 0.0
    for k in range(1, 60):
        dither_motion(law, state, k * PERIOD, out)
        share = min(1.0, 1e-4 / max(abs(out[0]), 1e-12))
        x += share * out[0]
        return_remainder(state, np.array([share, 1.0]))
    assert x == pytest.approx(1e-3)
