"""The operator's hand in shared control [GCMSF]: increments of the device to a displacement of NOM.

Increments come in bursts, slower than samples: what a sample may not take is kept for the next ones, up to KEEP.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.motion.law_records import (
    CAMERA,
    MAX_TELE_VEL,
    PERIOD,
    SEL_TP,
    TELE_GAINS,
    TELE_MODE,
    TELE_PENDING,
    TELEOP,
    Law,
    State,
)
from telerobot_nodes.motion.transforms import clamp, copy, displacement_from, turn, turn_back

MODE_TOOL, MODE_WORLD, MODE_CAMERA = range(3)  # law_records.TELE_MODES
LAGS = 4  # few and long ones leave more of a device's 100 Hz: two of 12.5 ms shook a contact with friction by 1 N
SMOOTH = 0.008  # [s] each
KEEP = 0.1  # [s] of motion at full speed that may wait; more is dropped, and the hand does not lag


@njit(cache=True)
def into_teleop(law: Law, R_world_nom: FloatArray, v: FloatArray) -> None:
    """A vector (3,) along the axes of `tele_mode` turned into TELEOP, in place."""
    if law.value[TELE_MODE] == MODE_TOOL:
        return
    if law.value[TELE_MODE] == MODE_CAMERA:
        turn(law.R[CAMERA], v, v)  # CAMERA -> WORLD
    turn_back(R_world_nom, v, v)
    turn_back(law.R[TELEOP], v, v)


@njit(cache=True)
def hand_motion(law: Law, state: State, increment: FloatArray, R_world_nom: FloatArray, out: FloatArray) -> None:
    """Displacement of NOM (6,) in this sample by the operator.

    `increment` (6,) is the device's motion since the last sample, offset [m] and rotation vector [rad], along the
    axes of `tele_mode`.
    """
    d = np.empty(6)
    copy(increment, d)
    into_teleop(law, R_world_nom, d[:3])
    into_teleop(law, R_world_nom, d[3:])
    pending = state.six[TELE_PENDING]
    for i in range(6):
        bound = law.six[MAX_TELE_VEL, i] * KEEP
        pending[i] += law.six[TELE_GAINS, i] * d[i] if law.six[SEL_TP, i] > 0.0 else -pending[i]
        pending[i] = min(max(pending[i], -bound), bound)
        d[i] = pending[i]
    clamp(d, law.six[MAX_TELE_VEL], law.value[PERIOD])
    for i in range(6):
        pending[i] -= d[i]
    displacement_from(law.R[TELEOP], law.p[TELEOP], d, out)


@njit(cache=True)
def give_out(kept: FloatArray, period: float, out: FloatArray) -> None:
    """Add one sample's part of what the device moved to `out` (6,); all of it is given out, smoothly.

    `kept` (LAGS, 6) [m], [rad] is the caller's: the device's increments are added to its first row. Each lag hands
    what leaves it to the next; implicit, so that long periods are no trouble.
    """
    share = period / (SMOOTH + period)
    for i in range(6):
        flow = 0.0
        for k in range(LAGS):
            kept[k, i] += flow
            flow = share * kept[k, i]
            kept[k, i] -= flow
        out[i] += flow
