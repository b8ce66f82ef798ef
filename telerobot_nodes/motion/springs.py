"""Virtual springs [GCMSF]: they pull trDel to identity, in the DOFs of NOM chosen.

Four springs: one along each axis, and one about one axis, which depends on how many orientation DOFs are chosen:
three - the equivalent axis and angle of trDel; two - its rotation vector without the part about the third axis; one -
the axis that brings the chosen axis back to its own direction; none - no orientation spring.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.motion.law_records import (
    DEL_INVERSE,
    MAX_SPRING_VEL,
    PERIOD,
    SEL_SP,
    SPRING_GAINS,
    SPRING_VECTOR,
    Law,
    State,
)
from telerobot_nodes.motion.transforms import copy, invert, length, rotation_into, turn_back, vector_into


@njit(cache=True)
def orientation_pull(R: FloatArray, chosen: FloatArray, out: FloatArray) -> None:
    """Rotation vector (3,) [rad] that brings a rotation `R` back in the `chosen` (3,) DOFs."""
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
    """Rotation that turns axis i of `R`, seen in NOM, into axis i of NOM: about n x X by arccos(n . X)."""
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
        out[j] = angle  # turned over: any axis across will do
        out[k] = 0.0


@njit(cache=True)
def spring_motion(law: Law, state: State, out: FloatArray) -> None:
    """Displacement of NOM (6,) in this sample by the springs."""
    R, p = np.empty((3, 3)), np.empty(3)
    invert(state.R[DEL_INVERSE], state.p[DEL_INVERSE], R, p)  # trDel
    w = np.empty(3)
    orientation_pull(R, law.six[SEL_SP][3:], w)
    copy(w, state.p[SPRING_VECTOR])
    angle = length(w)
    if angle > 0.0:
        step = min(law.six[SPRING_GAINS, 3] * angle, law.six[MAX_SPRING_VEL, 3]) * law.value[PERIOD]
        for i in range(3):
            w[i] *= min(step, angle) / angle
    for i in range(3):
        bound = law.six[MAX_SPRING_VEL, i] * law.value[PERIOD]
        pull = -min(law.six[SPRING_GAINS, i] * law.value[PERIOD], 1.0) * p[i] if law.six[SEL_SP, i] > 0.0 else 0.0
        p[i] = min(max(pull, -bound), bound)
    # trDel <- (exp(w), p) trDel is motion of NOM by the inverse of that, see ring.accumulate
    S = np.empty((3, 3))
    rotation_into(w, S)
    turn_back(S, p, out[:3])
    for i in range(3):
        out[i] = -out[i]
        out[3 + i] = -w[i]
