"""Teleoperation in shared control [GCMSF]: from increments of the operator's device to a displacement of NOM.

Increments arrive in bursts, at a lower rate than the samples. What a sample may not take waits for the next samples, up
to MAX_WAITING.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from telerobot_nodes.core.transforms import clamp, copy, displacement_from, turn, turn_back
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.motion.law.law_records import Law, LawFrame, LawSix, LawValue, State, StateSix, TeleMode

LAGS = 4  # low-pass filters in series; two of 12.5 ms left so much of a device's 100 Hz that a contact shook by 1 N
LAG_TIME = 0.008  # [s] time constant of each
MAX_WAITING = 0.1  # [s] of motion at full speed that may wait; more is dropped, which bounds the lag


@njit(cache=True)
def into_teleop(law: Law, R_world_nom: FloatArray, v: FloatArray) -> None:
    """Rotate a vector (3,) from the axes of `tele_mode` into TELEOP, in place."""
    mode = int(law.value[LawValue.TELE_MODE])
    if mode == TeleMode.TOOL:
        return
    if mode == TeleMode.CAMERA:
        turn(law.R[LawFrame.CAMERA], v, v)  # CAMERA -> WORLD
    turn_back(R_world_nom, v, v)
    turn_back(law.R[LawFrame.TELEOP], v, v)


@njit(cache=True)
def teleoperation_motion(
    law: Law, state: State, increment: FloatArray, R_world_nom: FloatArray, out: FloatArray
) -> None:
    """Displacement of NOM (6,) of this sample by the operator.

    `increment` (6,) is the device's motion since the last sample, offset [m] and rotation vector [rad], along the
    axes of `tele_mode`.
    """
    d = np.empty(6)
    copy(increment, d)
    into_teleop(law, R_world_nom, d[:3])
    into_teleop(law, R_world_nom, d[3:])
    pending = state.six[StateSix.TELE_PENDING]
    for i in range(6):
        bound = law.six[LawSix.MAX_TELE_VEL, i] * MAX_WAITING
        pending[i] += law.six[LawSix.TELE_GAINS, i] * d[i] if law.six[LawSix.SEL_VECT_TP, i] > 0.0 else -pending[i]
        pending[i] = min(max(pending[i], -bound), bound)
        d[i] = pending[i]
    clamp(d, law.six[LawSix.MAX_TELE_VEL], law.value[LawValue.SAMPLE_PERIOD])
    for i in range(6):
        pending[i] -= d[i]
    displacement_from(law.R[LawFrame.TELEOP], law.p[LawFrame.TELEOP], d, out)


@njit(cache=True)
def release_increments(kept: FloatArray, period: float, out: FloatArray) -> None:
    """Add one sample's share of the waiting increments to `out` (6,); in the end all of them are released.

    `kept` (LAGS, 6) [m], [rad] holds what waits in each low-pass filter; the caller adds increments to its first row.
    The filters are discretized implicitly, so they are stable for every period.
    """
    share = period / (LAG_TIME + period)
    for i in range(6):
        flow = 0.0
        for k in range(LAGS):
            kept[k, i] += flow
            flow = share * kept[k, i]
            kept[k, i] -= flow
        out[i] += flow
