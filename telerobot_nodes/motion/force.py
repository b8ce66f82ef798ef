"""Force and compliance [GCMSF]: from the wrist sensor's reading to a displacement of NOM.

SENSOR reading -> gravity of the load taken out -> SENSE -> dead zone -> setpoint minus measured in the DOFs chosen
-> gains -> displacement per sample in FORCE, limited -> NOM. Wrenches are those the tool exerts: a setpoint above
the wrench measured pushes the tool on.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.motion.law_records import (
    BASE,
    BIAS,
    COM,
    DEAD_ZONE,
    FELT_FORCE,
    FELT_TORQUE,
    FILTER,
    FORCE,
    FORCE_ERROR,
    FORCE_GAINS,
    GRAVITY,
    MASS,
    MAX_FORCE_VEL,
    NOM,
    PERIOD,
    SEL_COMPLY,
    SEL_FC,
    SENSE,
    SENSE_WRENCH,
    SENSOR,
    SETPOINTS,
    SMOOTH_WRENCH,
    WRENCH,
    Inputs,
    Law,
    State,
)
from telerobot_nodes.motion.transforms import (
    clamp,
    displacement_from,
    length,
    turn_back,
    wrench_from,
    wrench_into,
)


@njit(cache=True)
def load_wrench(law: Law, R_base_tn: FloatArray, out: FloatArray) -> None:
    """What the sensor reads of the load alone, the arm at rest: it holds the load up. (6,) in SENSOR."""
    g = np.empty(3)
    w = np.zeros(6)
    turn_back(law.R[BASE], law.p[GRAVITY], g)  # WORLD -> BASE
    turn_back(R_base_tn, g, g)  # BASE -> TN
    for i in range(3):
        w[i] = -law.value[MASS] * g[i]
    c = law.p[COM]
    w[3] = c[1] * w[2] - c[2] * w[1]
    w[4] = c[2] * w[0] - c[0] * w[2]
    w[5] = c[0] * w[1] - c[1] * w[0]
    wrench_into(law.R[SENSOR], law.p[SENSOR], w, out)


@njit(cache=True)
def feel(law: Law, state: State, inputs: Inputs, R_base_tn: FloatArray) -> None:
    """Contact wrench in SENSE into `state.six`, as it is and filtered; its magnitudes into `state.value`.

    Unfiltered it must not move the tool: a joint servo passes steps of the setpoint's speed on as force, through
    the arm's inertia, within one sample.
    """
    w, tn, nom = np.empty(6), np.empty(6), np.empty(6)
    load_wrench(law, R_base_tn, w)
    for i in range(6):
        w[i] = inputs.six[WRENCH, i] - inputs.six[BIAS, i] - w[i]
    wrench_from(law.R[SENSOR], law.p[SENSOR], w, tn)  # SENSOR -> TN
    wrench_into(law.R[NOM], law.p[NOM], tn, nom)  # TN -> NOM
    wrench_into(law.R[SENSE], law.p[SENSE], nom, state.six[SENSE_WRENCH])
    for i in range(6):
        state.six[SMOOTH_WRENCH, i] += law.value[FILTER] * (state.six[SENSE_WRENCH, i] - state.six[SMOOTH_WRENCH, i])
    state.value[FELT_FORCE] = length(state.six[SENSE_WRENCH][:3])
    state.value[FELT_TORQUE] = length(state.six[SENSE_WRENCH][3:])


@njit(cache=True)
def beyond(value: float, dead_zone: float) -> float:
    """`value` reduced by the dead zone; nothing inside it."""
    if value > dead_zone:
        return value - dead_zone
    if value < -dead_zone:
        return value + dead_zone
    return 0.0


@njit(cache=True)
def force_motion(law: Law, state: State, out: FloatArray) -> None:
    """Displacement of NOM (6,) in this sample by forces; the errors (6,) into `state.six[FORCE_ERROR]`."""
    d = np.zeros(6)
    for i in range(6):
        error = 0.0
        if law.six[SEL_FC, i] > 0.0 or law.six[SEL_COMPLY, i] > 0.0:
            wanted = law.six[SETPOINTS, i] if law.six[SEL_FC, i] > 0.0 else 0.0
            error = wanted - beyond(state.six[SMOOTH_WRENCH, i], law.six[DEAD_ZONE, i])
        state.six[FORCE_ERROR, i] = error
        d[i] = law.six[FORCE_GAINS, i] * error * law.value[PERIOD]
    clamp(d, law.six[MAX_FORCE_VEL], law.value[PERIOD])
    displacement_from(law.R[FORCE], law.p[FORCE], d, out)
