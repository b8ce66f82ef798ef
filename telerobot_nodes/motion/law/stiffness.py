"""Stiffness of what force control presses on, estimated while it presses, and the gain that follows it.

Force control of gain G [m/s/N] on a surface of stiffness K [N/m] is an integrator with the loop gain G K. With a delay
T [s] from command to force it does not overshoot while G K T <= 1/e, and is stable while G K T < pi/2. A gain of
1 / (K `press_time`) presses as fast on every surface, and its margin depends on T / `press_time` only. It is used where
it is above `force_gains`.

The estimate is conservative. Along each axis of force control, force is compared with the way of FORCE in steps of
force that stand out from the noise; the way counts late (`LAG`), so that a tool that becomes faster seems to be on a
stiffer surface. The estimate falls only while the force is on its way to the setpoint, and by a factor of FALL at once;
it rises without a limit. A tool that follows a surface, or slides on it, meets no growing force and learns nothing.
Without contact the gain is `force_gains`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from telerobot_nodes.core.transforms import copy, turn, turn_back
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.motion.law.law_records import Law, LawFrame, LawSix, LawValue, State, StateSix

SOFTEST = 1e3  # [N/m] lower bound of the estimate
FALL = 0.25  # [-] of the estimate before
FASTEST = 0.01  # [m/s] by the gain that follows: a surface may end, or have a hard core
LAG = 0.1  # [s] above the delay from command to force
RAMP = 0.05  # [s] in which the gain grows: the sensor feels the tool's inertia
FADE = 2.0  # [s] in which a way without a force counts no more
LEAST_NOISE = 0.1  # [N] where `dead_zone` is smaller
UNDERWAY = 0.7  # [-] of the setpoint
_TINY = 1e-7  # [m]


@njit(cache=True)
def follow_stiffness(law: Law, state: State, R_world_nom: FloatArray, p_world_nom: FloatArray) -> None:
    """Take the sample's force, and where NOM is (3, 3), (3,) [m], into the stiffness (3,) of `state.six`."""
    moved = np.empty(3)
    _place(law, R_world_nom, p_world_nom, moved)
    last = state.six[StateSix.FORCE_PLACE]
    for i in range(3):
        moved[i], last[i] = moved[i] - last[i], moved[i]
    turn_back(R_world_nom, moved, moved)
    turn_back(law.R[LawFrame.FORCE], moved, moved)
    for i in range(3):
        if law.six[LawSix.SEL_VECT_FC, i] > 0.0:
            _press(law, state, i, moved[i])
            _follow(law, state, i)


@njit(cache=True)
def start_stiffness(law: Law, state: State, R_world_nom: FloatArray, p_world_nom: FloatArray) -> None:
    """Begin at rest with NOM at (3, 3), (3,) [m]."""
    place = np.empty(3)
    _place(law, R_world_nom, p_world_nom, place)
    copy(place, state.six[StateSix.FORCE_PLACE])


@njit(cache=True)
def followed_speed(law: Law, state: State, i: int, error: float) -> float:
    """Speed [m/s] along axis `i` of FORCE by the error [N] of its force."""
    given: float = law.six[LawSix.FORCE_GAINS, i] * error
    speed: float = min(state.six[StateSix.FOLLOWING_GAIN, i] * abs(error), FASTEST)
    if speed <= abs(given):
        return given
    return speed if error > 0.0 else -speed


@njit(cache=True)
def _place(law: Law, R_world_nom: FloatArray, p_world_nom: FloatArray, place: FloatArray) -> None:
    """Origin (3,) [m] of FORCE in WORLD."""
    turn(R_world_nom, law.p[LawFrame.FORCE], place)
    for i in range(3):
        place[i] += p_world_nom[i]


@njit(cache=True)
def _press(law: Law, state: State, i: int, moved: float) -> None:
    """Estimate along one axis, after a displacement [m] of FORCE; 0: no contact, or nothing known."""
    wanted, force = law.six[LawSix.FORCE_SETPOINTS, i], state.six[StateSix.SMOOTH_WRENCH, i]
    if wanted < 0.0:
        force, moved = -force, -moved
    six, period = state.six, law.value[LawValue.SAMPLE_PERIOD]
    noise = max(law.six[LawSix.DEAD_ZONE, i], LEAST_NOISE)
    six[StateSix.WAY_DUE, i] += moved
    late = six[StateSix.WAY_DUE, i] * period / (LAG + period)
    six[StateSix.WAY_DUE, i] -= late
    six[StateSix.WAY, i] = (six[StateSix.WAY, i] + late) * (1.0 - period / FADE)
    if force < noise or wanted == 0.0:
        six[StateSix.STIFFNESS, i] = 0.0
    rise = force - six[StateSix.FORCE_BEFORE, i]
    if rise <= noise:
        six[StateSix.WAY, i] = 0.0
        six[StateSix.FORCE_BEFORE, i] += max(rise, -noise) * period / FADE + min(rise + noise, 0.0)
    elif rise >= 2.0 * noise:
        known = six[StateSix.STIFFNESS, i]
        found = (rise - 0.5 * noise) / max(six[StateSix.WAY, i], _TINY)
        six[StateSix.STIFFNESS, i] = _corrected(law, i, known, found, force < UNDERWAY * abs(wanted))
        six[StateSix.WAY, i] = 0.0
        six[StateSix.FORCE_BEFORE, i] = force


@njit(cache=True)
def _follow(law: Law, state: State, i: int) -> None:
    """The gain of the estimate: it grows slowly, and falls at once."""
    stiffness, time = state.six[StateSix.STIFFNESS, i], law.value[LawValue.PRESS_TIME]
    gain = 1.0 / (stiffness * time) if stiffness > 0.0 and time > 0.0 else 0.0
    before, period = state.six[StateSix.FOLLOWING_GAIN, i], law.value[LawValue.SAMPLE_PERIOD]
    state.six[StateSix.FOLLOWING_GAIN, i] = min(gain, before + (gain - before) * period / (RAMP + period))


@njit(cache=True)
def _corrected(law: Law, i: int, known: float, found: float, underway: bool) -> float:
    """The estimate [N/m] after `found`; it begins where `force_gains` are what follows it."""
    gain = law.six[LawSix.FORCE_GAINS, i] * law.value[LawValue.PRESS_TIME]
    most = 1.0 / gain if gain > 0.0 else np.inf
    known = known if 0.0 < known < most else most
    if found >= known or not underway:
        return max(found, known)
    return max(found, FALL * known, SOFTEST)
