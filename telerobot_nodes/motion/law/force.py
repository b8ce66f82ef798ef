"""Force and compliance [GCMSF]: from the wrist sensor's reading to a displacement of NOM.

SENSOR reading -> minus the load's weight -> SENSE -> dead zone -> setpoint minus measurement in the selected degrees of
freedom -> gains, which follow the stiffness (`stiffness.py`) -> limited displacement per sample in FORCE -> NOM.
Wrenches are those of the tool on the environment: a setpoint above the measured wrench pushes the tool forward.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from telerobot_nodes.core.transforms import clamp, displacement_from, length, turn_back, wrench_from, wrench_into
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.motion.law.law_records import (
    Inputs,
    InputSix,
    Law,
    LawFrame,
    LawSix,
    LawValue,
    State,
    StateSix,
    StateValue,
)
from telerobot_nodes.motion.law.stiffness import followed_speed


@njit(cache=True)
def load_wrench(law: Law, R_base_tn: FloatArray, out: FloatArray) -> None:
    """Reading (6,) [N], [N m] in SENSOR caused by the weight of the load alone, the arm at rest."""
    g = np.empty(3)
    w = np.zeros(6)
    turn_back(law.R[LawFrame.BASE], law.six[LawSix.GRAVITY], g)  # WORLD -> BASE
    turn_back(R_base_tn, g, g)  # BASE -> TN
    for i in range(3):
        w[i] = -law.value[LawValue.MASS] * g[i]
    c = law.six[LawSix.COM]
    w[3] = c[1] * w[2] - c[2] * w[1]
    w[4] = c[2] * w[0] - c[0] * w[2]
    w[5] = c[0] * w[1] - c[1] * w[0]
    wrench_into(law.R[LawFrame.SENSOR], law.p[LawFrame.SENSOR], w, out)


@njit(cache=True)
def contact_wrench(law: Law, state: State, inputs: Inputs, R_base_tn: FloatArray) -> None:
    """Contact wrench in SENSE into `state.six`, unfiltered and filtered; its magnitudes into `state.value`.

    Only the filtered wrench may move the tool: through the arm's inertia, a step of the setpoint's speed is a force on
    the sensor within one sample.
    """
    w, tn, nom = np.empty(6), np.empty(6), np.empty(6)
    felt, smooth = state.six[StateSix.SENSE_WRENCH], state.six[StateSix.SMOOTH_WRENCH]
    load_wrench(law, R_base_tn, w)
    for i in range(6):
        w[i] = inputs.six[InputSix.WRENCH, i] - inputs.six[InputSix.BIAS, i] - w[i]
    wrench_from(law.R[LawFrame.SENSOR], law.p[LawFrame.SENSOR], w, tn)  # SENSOR -> TN
    wrench_into(law.R[LawFrame.NOM], law.p[LawFrame.NOM], tn, nom)  # TN -> NOM
    wrench_into(law.R[LawFrame.SENSE], law.p[LawFrame.SENSE], nom, felt)
    for i in range(6):
        smooth[i] += law.value[LawValue.FILTER] * (felt[i] - smooth[i])
    state.value[StateValue.FELT_FORCE] = length(felt[:3])
    state.value[StateValue.FELT_TORQUE] = length(felt[3:])


@njit(cache=True)
def beyond(value: float, dead_zone: float) -> float:
    """`value` reduced towards zero by the dead zone; zero inside it."""
    if value > dead_zone:
        return value - dead_zone
    if value < -dead_zone:
        return value + dead_zone
    return 0.0


@njit(cache=True)
def force_motion(law: Law, state: State, out: FloatArray) -> None:
    """Displacement of NOM (6,) of this sample by forces; the force errors into `state.six[FORCE_ERROR]`."""
    d = np.zeros(6)
    for i in range(6):
        error = 0.0
        if law.six[LawSix.SEL_VECT_FC, i] > 0.0 or law.six[LawSix.COMPLY_VECT, i] > 0.0:
            wanted = law.six[LawSix.FORCE_SETPOINTS, i] if law.six[LawSix.SEL_VECT_FC, i] > 0.0 else 0.0
            error = wanted - beyond(state.six[StateSix.SMOOTH_WRENCH, i], law.six[LawSix.DEAD_ZONE, i])
        state.six[StateSix.FORCE_ERROR, i] = error
        d[i] = followed_speed(law, state, i, error) * law.value[LawValue.SAMPLE_PERIOD]
    clamp(d, law.six[LawSix.MAX_FORCE_VEL], law.value[LawValue.SAMPLE_PERIOD])
    displacement_from(law.R[LawFrame.FORCE], law.p[LawFrame.FORCE], d, out)
