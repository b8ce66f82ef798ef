"""Virtual springs [GCMSF]: they pull trDel to the identity in the selected degrees of freedom of NOM.

There are three translation springs and one orientation spring. The axis of the latter depends on the number of selected
rotations: three - the equivalent axis of trDel; two - its rotation vector without the part about the third axis; one -
the axis that turns the selected axis back to its own direction; none - no orientation spring.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from telerobot_nodes.core.transforms import copy, invert, length, rotation_into, turn_back, vector_into
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.motion.law.law_records import Law, LawSix, LawValue, State, StateFrame, StateSix


@njit(cache=True)
def orientation_pull(R: FloatArray, chosen: FloatArray, out: FloatArray) -> None:
    """Rotation vector (3,) [rad] that brings a rotation `R` back in the `chosen` (3,) rotations; zero if none."""
    count = 0
    single = 0
    for i in range(3):
        if chosen[i] > 0.0:
            count += 1
            single = i
    out[0] = out[1] = out[2] = 0.0
    if count == 1:
        _align(R, single, out)
    elif count > 1:
        vector_into(R, out)
        for i in range(3):
            out[i] = -out[i] if chosen[i] > 0.0 else 0.0


@njit(cache=True)
def _align(R: FloatArray, i: int, out: FloatArray) -> None:
    """Rotation vector that turns axis i of `R` into axis i of NOM, about their cross product."""
    j, k = (i + 1) % 3, (i + 2) % 3
    # n x e_i has no part along i
    out[j] = R[k, i]
    out[k] = -R[j, i]
    sine = length(out)
    angle = math.atan2(sine, R[i, i])
    if sine > 1e-9:
        out[j] *= angle / sine
        out[k] *= angle / sine
    else:
        out[j] = angle  # half a turn: any perpendicular axis is right
        out[k] = 0.0


@njit(cache=True)
def spring_motion(law: Law, state: State, out: FloatArray) -> None:
    """Displacement of NOM (6,) of this sample by the springs."""
    R, p = np.empty((3, 3)), np.empty(3)
    invert(state.R[StateFrame.DEL_INVERSE], state.p[StateFrame.DEL_INVERSE], R, p)  # trDel
    w, period = np.empty(3), law.value[LawValue.SAMPLE_PERIOD]
    chosen, gains, speeds = law.six[LawSix.SEL_VECT_SP], law.six[LawSix.SPRING_GAINS], law.six[LawSix.MAX_SPRING_VEL]
    orientation_pull(R, chosen[3:], w)
    copy(w, state.six[StateSix.SPRING])
    angle = length(w)
    if angle > 0.0:
        step = min(gains[3] * angle, speeds[3]) * period
        for i in range(3):
            w[i] *= min(step, angle) / angle
    for i in range(3):
        bound = speeds[i] * period
        pull = -min(gains[i] * period, 1.0) * p[i] if chosen[i] > 0.0 else 0.0
        p[i] = min(max(pull, -bound), bound)
    # trDel <- (exp(w), p) trDel moves NOM by the inverse of (exp(w), p), see `ring.accumulate`
    S = np.empty((3, 3))
    rotation_into(w, S)
    turn_back(S, p, out[:3])
    for i in range(3):
        out[i] = -out[i]
        out[3 + i] = -w[i]
