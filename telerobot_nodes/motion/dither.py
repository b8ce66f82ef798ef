"""Dither [GCMSF]: a small wave in each DOF of DITHER.

Sensor motion adds up displacements, so a sample contributes the wave's change. What a limit cut off is made up
later: the wave does not drift.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.motion.law_records import (
    DITHER,
    DITHER_APPLIED,
    DITHER_MAG,
    DITHER_PERIOD,
    DITHER_STEP,
    DITHER_WAVE,
    Law,
    State,
)
from telerobot_nodes.motion.transforms import displacement_from

TRIANGLE, SINE, SQUARE = range(3)


@njit(cache=True)
def wave(shape: int, phase: float) -> float:
    """Unit wave at `phase` (1: one period); triangle and sine begin at 0 and rise, the square begins at 1."""
    x = phase - math.floor(phase)
    if shape == SINE:
        return math.sin(2.0 * math.pi * x)
    if shape == SQUARE:
        return 1.0 if x < 0.5 else -1.0
    if x < 0.25:
        return 4.0 * x
    if x < 0.75:
        return 2.0 - 4.0 * x
    return 4.0 * x - 4.0


@njit(cache=True)
def dither_motion(law: Law, state: State, time: float, out: FloatArray) -> None:
    """Displacement of NOM (6,) in the sample at `time` [s] that brings the wave where it should be."""
    d = np.empty(6)
    for i in range(6):
        target = 0.0
        if law.six[DITHER_MAG, i] > 0.0:
            target = law.six[DITHER_MAG, i] * wave(law.value[DITHER_WAVE], time / law.six[DITHER_PERIOD, i])
        d[i] = target - state.six[DITHER_APPLIED, i]
        state.six[DITHER_STEP, i] = d[i]
        state.six[DITHER_APPLIED, i] = target
    displacement_from(law.R[DITHER], law.p[DITHER], d, out)


@njit(cache=True)
def give_back(state: State, shares: FloatArray) -> None:
    """Only shares (2,) of the last displacement's offset and rotation were applied: the rest is still to come."""
    for i in range(6):
        state.six[DITHER_APPLIED, i] -= (1.0 - shares[i // 3]) * state.six[DITHER_STEP, i]
