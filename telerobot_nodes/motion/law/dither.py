"""Dither [GCMSF]: a small periodic motion in each degree of freedom of the DITHER frame.

A sample contributes the change of the wave, because sensor motion adds up displacements. What a limit cuts off is added
to the next sample, so the wave does not drift.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from telerobot_nodes.core.transforms import displacement_from
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.motion.law.law_records import Law, LawFrame, LawSix, LawValue, State, StateSix, Wave


@njit(cache=True)
def wave(shape: int, phase: float) -> float:
    """Unit wave at `phase` (period 1); `shape` is a Wave. Triangle and sine start at 0 and rise, the square at 1."""
    x = phase - math.floor(phase)
    if shape == Wave.SINE:
        return math.sin(2.0 * math.pi * x)
    if shape == Wave.SQUARE:
        return 1.0 if x < 0.5 else -1.0
    if x < 0.25:
        return 4.0 * x
    if x < 0.75:
        return 2.0 - 4.0 * x
    return 4.0 * x - 4.0


@njit(cache=True)
def grown(time: float, ramp: float) -> float:
    """Share of the amplitude at `time` [s], which it reaches, without a kick, after `ramp` [s]."""
    if time >= ramp:
        return 1.0
    u = time / ramp
    return u * u * (3.0 - 2.0 * u)


@njit(cache=True)
def dither_motion(law: Law, state: State, time: float, out: FloatArray) -> None:
    """Displacement of NOM (6,) of the sample at `time` [s] that brings the wave to its present value."""
    d = np.empty(6)
    magnitude, shape = law.six[LawSix.DITHER_MAG], int(law.value[LawValue.DITHER_WAVE])
    share = grown(time, law.value[LawValue.DITHER_RAMP])
    for i in range(6):
        target = 0.0
        if magnitude[i] > 0.0:
            target = share * magnitude[i] * wave(shape, time / law.six[LawSix.DITHER_PERIOD, i])
        d[i] = target - state.six[StateSix.DITHER_APPLIED, i]
        state.six[StateSix.DITHER_STEP, i] = d[i]
        state.six[StateSix.DITHER_APPLIED, i] = target
    displacement_from(law.R[LawFrame.DITHER], law.p[LawFrame.DITHER], d, out)


@njit(cache=True)
def return_remainder(state: State, shares: FloatArray) -> None:
    """Keep what was not applied: only `shares` (2,) of the last displacement's offset and rotation were."""
    for i in range(6):
        state.six[StateSix.DITHER_APPLIED, i] -= (1.0 - shares[i // 3]) * state.six[StateSix.DITHER_STEP, i]
