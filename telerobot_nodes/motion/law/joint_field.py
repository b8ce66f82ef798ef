"""Potential field that keeps the joints away from limits and singularities [GCMSF], and the distances to them.

Within `js_theta` of a limit, a joint moves away from it with speed gain / distance. Near a singularity, measured by the
smallest singular value of the tool Jacobian (m and rad mixed), all joints move along the gradient of that value.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from telerobot_nodes.core.robot import Workspace, smallest_singular
from telerobot_nodes.core.transforms import displacement_from, invert
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.motion.law.law_records import (
    Law,
    LawFrame,
    LawJoint,
    LawSix,
    LawValue,
    State,
    StateJoint,
    StateSix,
    StateValue,
)

_NEAREST = 1e-4  # [rad], [-] lower bound of the distances


@njit(cache=True)
def margins(law: Law, state: State, ws: Workspace, q: FloatArray) -> None:
    """Distance to the nearest joint limit, and smallest singular value, into `state.value`.

    `ws` holds the Jacobian at `q` (dof,) [rad].
    """
    nearest = np.inf
    for i in range(q.size):
        distance = min(q[i] - law.joint[LawJoint.LOWER, i], law.joint[LawJoint.UPPER, i] - q[i])
        if distance < nearest:
            nearest = distance
            state.value[StateValue.NEAREST_JOINT] = i
    state.value[StateValue.JOINT_MARGIN] = nearest
    for i in range(q.size):
        ws.free[i] = 1.0
    state.value[StateValue.SIGMA] = smallest_singular(ws)


@njit(cache=True)
def sigma_gradient(ws: Workspace, sigma: float, gradient: FloatArray) -> None:
    """Gradient (dof,) of the smallest singular value, after `smallest_singular`: d sigma / d q_i = u^T dJ/dq_i v.

    The Jacobian is in the tool frame, where column k changes with joint i > k by the Lie bracket [J_k, J_i].
    """
    J, u = ws.jacobian, ws.work
    n = J.shape[1]
    size = 0.0
    for r in range(6):
        size += u[r] * u[r]
    size = math.sqrt(size)
    for i in range(n):
        gradient[i] = 0.0
    for k in range(n):
        v = 0.0
        for r in range(6):
            v += J[r, k] * u[r] / size
        v /= max(sigma, _NEAREST)
        for i in range(k + 1, n):
            gradient[i] += v * _bracket(J, k, i, u) / size


@njit(cache=True)
def _bracket(J: FloatArray, a: int, b: int, u: FloatArray) -> float:
    """U . [J_a, J_b] of twists (linear, angular): (w_a x v_b + v_a x w_b, w_a x w_b)."""
    total = 0.0
    for r in range(3):
        s, t = (r + 1) % 3, (r + 2) % 3
        linear = J[3 + s, a] * J[t, b] - J[3 + t, a] * J[s, b] + J[s, a] * J[3 + t, b] - J[t, a] * J[3 + s, b]
        angular = J[3 + s, a] * J[3 + t, b] - J[3 + t, a] * J[3 + s, b]
        total += u[r] * linear + u[3 + r] * angular
    return total


@njit(cache=True)
def joint_push(law: Law, state: State, ws: Workspace, q: FloatArray, push: FloatArray) -> None:
    """Joint velocities (dof,) [rad/s] away from limits and singularities, after `margins`."""
    gain, reach = law.six[LawSix.JS_GAIN], law.six[LawSix.JS_THETA]
    for i in range(q.size):
        push[i] = 0.0
        if law.joint[LawJoint.SEL_VECT_LIM, i] > 0.0:
            low, high = q[i] - law.joint[LawJoint.LOWER, i], law.joint[LawJoint.UPPER, i] - q[i]
            if low < reach[0]:
                push[i] += gain[0] / max(low, _NEAREST)
            if high < reach[0]:
                push[i] -= gain[0] / max(high, _NEAREST)
    if law.value[LawValue.SEL_VECT_SING] and state.value[StateValue.SIGMA] < reach[1]:
        g = state.joint[StateJoint.GRADIENT]
        sigma_gradient(ws, state.value[StateValue.SIGMA], g)
        size = 0.0
        for i in range(q.size):
            size += g[i] * g[i]
        size = math.sqrt(size)
        for i in range(q.size):
            push[i] += gain[1] / max(state.value[StateValue.SIGMA], _NEAREST) * g[i] / max(size, 1e-9)
    for i in range(q.size):
        push[i] = min(max(push[i], -law.joint[LawJoint.FIELD_SPEED, i]), law.joint[LawJoint.FIELD_SPEED, i])


@njit(cache=True)
def field_motion(law: Law, state: State, ws: Workspace, q: FloatArray, out: FloatArray) -> None:
    """Displacement of NOM (6,) of this sample by the field: joints -> TN -> NOM."""
    joint_push(law, state, ws, q, state.joint[StateJoint.PUSH])
    d = state.six[StateSix.FIELD_TWIST]
    for r in range(6):
        d[r] = 0.0
        for i in range(q.size):
            d[r] += ws.jacobian[r, i] * state.joint[StateJoint.PUSH, i] * law.value[LawValue.SAMPLE_PERIOD]
    R, p = np.empty((3, 3)), np.empty(3)
    invert(law.R[LawFrame.NOM], law.p[LawFrame.NOM], R, p)  # TN in NOM
    displacement_from(R, p, d, out)
