"""Quintic Hermite segments: position, velocity and acceleration given at both ends, all joints at once."""

from __future__ import annotations

import numba
import numpy as np

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import InvalidValueError

# one signature for all callers: read-only or strided inputs must not cause a compilation inside a loop
_IN = numba.types.Array(numba.float64, 1, "A", readonly=True)
_OUT1, _OUT2 = numba.float64[:], numba.float64[:, :]
_ENDS = (_IN, _IN, _IN, _IN, _IN, _IN, numba.float64)


@numba.njit(numba.void(*_ENDS, numba.float64, _OUT1, _OUT1, _OUT1), cache=True)
def quintic_into(
    q0: FloatArray,
    v0: FloatArray,
    a0: FloatArray,
    q1: FloatArray,
    v1: FloatArray,
    a1: FloatArray,
    duration: float,
    t: float,
    q: FloatArray,
    v: FloatArray,
    a: FloatArray,
) -> None:
    """Compiled `quintic` at one time `t` [s] into `q`, `v`, `a` (dof,), without allocation or checks."""
    h = duration
    s = min(max(t / h, 0.0), 1.0)
    for i in range(q0.size):
        dq = q1[i] - q0[i]
        c1 = v0[i] * h
        c2 = 0.5 * a0[i] * h * h
        e1 = v1[i] * h
        e2 = a1[i] * h * h
        c3 = 10.0 * dq - 6.0 * c1 - 3.0 * c2 - 4.0 * e1 + 0.5 * e2
        c4 = -15.0 * dq + 8.0 * c1 + 3.0 * c2 + 7.0 * e1 - e2
        c5 = 6.0 * dq - 3.0 * c1 - c2 - 3.0 * e1 + 0.5 * e2
        q[i] = q0[i] + s * (c1 + s * (c2 + s * (c3 + s * (c4 + s * c5))))
        v[i] = (c1 + s * (2.0 * c2 + s * (3.0 * c3 + s * (4.0 * c4 + s * 5.0 * c5)))) / h
        a[i] = (2.0 * c2 + s * (6.0 * c3 + s * (12.0 * c4 + s * 20.0 * c5))) / (h * h)


@numba.njit(numba.void(*_ENDS, _IN, _OUT2, _OUT2, _OUT2), cache=True)
def quintic_many_into(
    q0: FloatArray,
    v0: FloatArray,
    a0: FloatArray,
    q1: FloatArray,
    v1: FloatArray,
    a1: FloatArray,
    duration: float,
    t: FloatArray,
    q: FloatArray,
    v: FloatArray,
    a: FloatArray,
) -> None:
    """Compiled `quintic` at times `t` (n,) [s] into `q`, `v`, `a` (n, dof)."""
    for k in range(t.size):
        quintic_into(q0, v0, a0, q1, v1, a1, duration, t[k], q[k], v[k], a[k])


def quintic(
    q0: FloatArray,
    v0: FloatArray,
    a0: FloatArray,
    q1: FloatArray,
    v1: FloatArray,
    a1: FloatArray,
    duration: float,
    t: float | FloatArray,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Position, velocity, acceleration at `t` [s] of the quintic through both ends, held outside 0 .. duration.

    Ends are (dof,) [rad], [rad/s], [rad/s^2]; scalar `t` gives (dof,), `t` (n,) gives (n, dof).
    Raises InvalidValueError when `duration` is not positive.
    """
    if not duration > 0.0:
        raise InvalidValueError("duration", duration, "allowed: more than 0 [s]")
    times = np.ascontiguousarray(np.atleast_1d(np.asarray(t, dtype=np.float64)))
    shape = (times.size, q0.size)
    q, v, a = np.empty(shape), np.empty(shape), np.empty(shape)
    quintic_many_into(q0, v0, a0, q1, v1, a1, float(duration), times, q, v, a)
    return (q[0], v[0], a[0]) if np.ndim(t) == 0 else (q, v, a)
