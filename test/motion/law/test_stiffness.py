"""Force control on springs, with the delay of sensor and servo: the gain follows the stiffness, with its margin."""

import itertools
import math
from collections import deque

import numpy as np
import pinocchio as pin
import pytest

from telerobot_nodes.motion.law import law_records as lr
from telerobot_nodes.motion.law.force import force_motion
from telerobot_nodes.motion.law.stiffness import follow_stiffness, start_stiffness

PERIOD = 0.002
FILTER = 0.02  # [s]
GIVEN = 1e-4  # [m/s/N] the default gain
SET = 10.0  # [N]
AXIS = 2
R_WORLD_NOM = pin.exp3(np.array([0.4, -1.1, 0.7]))
FORCE_IN_NOM = pin.SE3(pin.exp3(np.array([-0.3, 0.5, 0.2])), np.array([0.1, 0.0, 0.05]))


class Press:
    """NOM pressed along z of FORCE on `surface(depth [m], now [s])` -> [N], felt `delay` [s] late and with noise."""

    def __init__(self, make_law, arm, surface, delay=0.0, **values):
        law = {"sel_vect_fc": [0, 0, 1, 0, 0, 0], "force_setpoints": [0, 0, SET, 0, 0, 0]}
        pose = pin.SE3ToXYZQUAT(FORCE_IN_NOM).tolist()
        self.law, self.state, _ = make_law(arm, PERIOD, tr_force=pose, **{**law, **values})
        self.surface = surface
        self.R, self.p = R_WORLD_NOM.copy(), np.array([0.3, 0.2, 0.1])
        self.axis = (self.R @ FORCE_IN_NOM.rotation)[:, AXIS]
        self.begin = float(self.axis @ self.p)
        self.late = deque([0.0] * round(delay / PERIOD))
        self.random = np.random.default_rng(1)
        self.now = 0.0
        self.force, self.gain, self.speed, self.estimate = [], [], [], []
        start_stiffness(self.law, self.state, self.R, self.p)

    def step(self):
        self.now += PERIOD
        self.force.append(self.surface(float(self.axis @ self.p) - self.begin, self.now))
        self.late.append(self.force[-1] + self.random.normal(0.0, 0.05))
        smooth = self.state.six[lr.StateSix.SMOOTH_WRENCH]
        smooth[AXIS] += PERIOD / (PERIOD + FILTER) * (self.late.popleft() - smooth[AXIS])
        follow_stiffness(self.law, self.state, self.R, self.p)
        moved = np.zeros(6)
        force_motion(self.law, self.state, moved)
        assert np.abs(moved[3:]).max() < 1e-12
        self.p += self.R @ moved[:3]
        self.estimate.append(self.state.six[lr.StateSix.STIFFNESS, AXIS])
        self.gain.append(self.state.six[lr.StateSix.FOLLOWING_GAIN, AXIS])
        self.speed.append(float(np.linalg.norm(moved[:3])) / PERIOD)

    def run(self, seconds):
        for _ in range(round(seconds / PERIOD)):
            self.step()
        return self

    def suits(self, gain):
        """Stiffness [N/m] that this gain follows."""
        return 1.0 / (gain * self.law.value[lr.LawValue.PRESS_TIME])

    def settled(self):
        """Time [s] after which the force stays within a tenth of its setpoint."""
        return PERIOD * (np.flatnonzero(np.abs(np.array(self.force) - SET) > 0.1 * SET)[-1] + 1)


def spring(stiffness):
    return lambda depth, now: max(stiffness * depth, 0.0)


@pytest.mark.parametrize("delay", [0.0, 0.05])
@pytest.mark.parametrize("stiffness", [1e3, 3e3, 1e4])
def test_soft_surfaces_are_pressed_within_two_seconds_and_without_overshoot(make_law, arm, stiffness, delay):
    press = Press(make_law, arm, spring(stiffness), delay).run(3.0)
    assert press.settled() < 2.0
    assert max(press.force) < 1.1 * SET
    slow = Press(make_law, arm, spring(stiffness), delay, press_time=0.0).run(3.0)
    assert press.settled() < 0.8 * slow.settled()


@pytest.mark.parametrize("stiffness", [1e3, 1e4, 1e5])
@pytest.mark.parametrize("delay", [0.0, 0.05])
def test_the_gain_keeps_the_margin_of_the_textbook(make_law, arm, stiffness, delay):
    """G K T <= 1/e: an integrator with the delay T, and the filter's, does not overshoot."""
    press = Press(make_law, arm, spring(stiffness), delay).run(3.0)
    assert max(press.gain) * stiffness * (delay + FILTER) <= 1.0 / math.e
    assert press.estimate[-1] >= 0.7 * min(stiffness, press.suits(GIVEN))


def test_without_the_margin_the_force_swings(make_law, arm):
    """What the estimate is for: the gain that suits 1e3 N/m, given on 1e5 N/m."""
    press = Press(make_law, arm, spring(1e5), 0.05, force_gains=[3e-3] * 6).run(3.0)
    assert max(press.force) > 3.0 * SET


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_setpoint_of_either_sign_is_followed(make_law, arm, sign):
    def surface(depth, now):
        return sign * max(3e3 * sign * depth, 0.0)

    press = Press(make_law, arm, surface, force_setpoints=[0, 0, sign * SET, 0, 0, 0]).run(2.0)
    assert press.force[-1] == pytest.approx(sign * SET, abs=0.5)
    assert max(press.gain) > 3.0 * GIVEN


def test_gains_are_followed_only_where_the_surface_is_softer_than_they_suit(make_law, arm):
    press = Press(make_law, arm, spring(1e4), force_gains=[1e-3] * 6).run(0.5)
    plain = Press(make_law, arm, spring(1e4), force_gains=[1e-3] * 6, press_time=0.0).run(0.5)
    assert press.force == plain.force


def test_without_contact_and_after_it_the_gain_is_as_given(make_law, arm):
    press = Press(make_law, arm, lambda depth, now: max(1e3 * depth, 0.0) if now < 1.5 else 0.0).run(1.4)
    assert press.gain[-1] > 5.0 * GIVEN
    press.run(0.5)
    assert press.gain[-1] == 0.0
    assert press.speed[-1] == pytest.approx(GIVEN * SET, rel=0.05)


def test_an_offset_of_the_sensor_in_the_air_is_no_soft_surface(make_law, arm):
    press = Press(make_law, arm, lambda depth, now: 1.0).run(4.0)
    assert max(press.gain[500:]) <= GIVEN


def test_a_stiff_surface_that_goes_away_is_not_taken_for_a_soft_one(make_law, arm):
    def receding(depth, now):
        return max(1e5 * (depth - 0.0005 * max(now - 1.0, 0.0)), 0.0)

    press = Press(make_law, arm, receding, 0.02).run(4.0)
    assert max(press.gain) <= 1.5 * GIVEN
    assert min(press.force[500:]) > 0.4 * SET


def test_the_way_in_the_air_does_not_count(make_law, arm):
    press = Press(make_law, arm, lambda depth, now: 0.6 + max(5e4 * (depth - 0.001), 0.0), 0.01).run(2.5)
    assert max(press.gain) <= 1.5 * GIVEN


def test_at_the_setpoint_a_surface_that_ripples_and_goes_away_is_not_taken_for_a_soft_one(make_law, arm):
    def rippled(depth, now):
        away = 0.0002 * max(now - 1.0, 0.0)
        return max(2e4 * (depth - away) + 0.6 * math.sin(2.0 * math.pi * 2.0 * now), 0.0)

    press = Press(make_law, arm, rippled, press_time=0.15).run(2.0)
    begun = len(press.gain)
    press.run(3.0)
    assert min(press.force[begun:]) > 0.7 * SET
    assert max(press.gain[begun:]) <= 1.01 * GIVEN


def test_one_estimate_lowers_the_stiffness_by_no_more_than_four_and_never_below_its_bound(make_law, arm):
    press = Press(make_law, arm, spring(3e2)).run(5.0)
    known = [press.suits(GIVEN), *filter(None, press.estimate)]
    assert min(b / a for a, b in itertools.pairwise(known)) >= 0.2499
    assert press.estimate[-1] == 1e3
    assert press.suits(max(press.gain)) >= 0.9999e3


def test_a_hard_core_under_a_soft_layer_is_met_slowly(make_law, arm):
    def layers(depth, now):
        return max(1e3 * depth, 0.0) + max(5e4 * (depth - 0.005), 0.0)

    press = Press(make_law, arm, layers).run(4.0)
    assert 0.005 < max(press.speed) <= 0.0101
    assert max(press.force) < 2.0 * SET
    assert press.force[-1] == pytest.approx(SET, abs=0.5)
