"""Compiled functions of the joint path: knot derivatives, bounds of spline segments, evaluation.

A segment is the quintic with position, velocity and acceleration given at both knots, so the path is C2.
"""

from __future__ import annotations

import math

import numba
import numpy as np
import numpy.typing as npt

from telerobot_nodes.core.interpolation import quintic_into
from telerobot_nodes.core.values import FloatArray

CELL = 0.01  # [s] plan time per cell of the rate limits
MAX_CELLS = 64  # per segment


@numba.njit(cache=True)
def cells_of(duration: float) -> int:
    """Number of cells of a spline segment [s]."""
    return min(max(math.ceil(duration / CELL - 1e-9), 1), MAX_CELLS)


@numba.njit(cache=True)
def knot_derivatives(time: FloatArray, q: FloatArray, i: int, v: FloatArray, a: FloatArray) -> None:
    """Velocity and acceleration (dof,) of knot `i` from its neighbours, by non-uniform differences.

    Where neighbouring intervals differ by more than 2, weights move towards the secant: the deviation from the
    chords then stays within what the shorter interval allows, instead of growing with the longer one.
    """
    h0, h1 = time[i] - time[i - 1], time[i + 1] - time[i]
    ratio = min(h0, h1) / max(h0, h1)
    exact = min(max((ratio - 0.25) / 0.25, 0.0), 1.0)
    shrink = exact + (1.0 - exact) * ratio
    for j in range(q.shape[1]):
        d0, d1 = (q[i, j] - q[i - 1, j]) / h0, (q[i + 1, j] - q[i, j]) / h1
        secant = (h0 * d0 + h1 * d1) / (h0 + h1)
        v[j] = exact * (h1 * d0 + h0 * d1) / (h0 + h1) + (1.0 - exact) * secant
        a[j] = shrink * 2.0 * (d1 - d0) / (h0 + h1)


@numba.njit(cache=True)
def stay_inside(
    q: FloatArray,
    before: float,
    after: float,
    lower: FloatArray,
    upper: FloatArray,
    v: FloatArray,
    a: FloatArray,
) -> None:
    """Scale `v` and `a` (dof,) of a knot at `q` (dof,) so that its segments do not leave the joints' limits.

    `before`, `after` [s]: lengths of the two segments. A quintic stays between the least and the greatest of its Bezier
    points, which on one side of a knot are q, q + h v / 5 and q + 2 h v / 5 + h^2 a / 20, with h < 0 before it.
    """
    for j in range(q.size):
        share = 1.0
        for h in (-before, after):
            for way in (0.2 * h * v[j], 0.4 * h * v[j] + 0.05 * h * h * a[j]):
                room = max(upper[j] - q[j] if way > 0.0 else q[j] - lower[j], 0.0)
                if abs(way) > room:
                    share = min(share, room / abs(way))
        v[j] *= share
        a[j] *= share


@numba.njit(cache=True)
def segment_limits(
    q0: FloatArray,
    v0: FloatArray,
    a0: FloatArray,
    q1: FloatArray,
    v1: FloatArray,
    a1: FloatArray,
    h: float,
    bounds: FloatArray,
    ceiling: float,
    ramp: float,
    rate: FloatArray,
    change: FloatArray,
) -> None:
    """Largest rate r [-] and rate change [1/s] per cell of one segment into `rate`, `change` (n,).

    `bounds` (5, dof): velocity; acceleration left to r^2 q''; jerk left to r^3 q'''; most q' dr/dt; most r q'' dr/dt.
    Derivatives are bounded over each cell rigorously: |f| <= max of both ends + width^2 / 8 max|f''|.
    """
    n = rate.size
    w = h / n
    bend = np.zeros(n)
    rate[:] = ceiling
    change[:] = ceiling / ramp
    for j in range(q0.size):
        dq = q1[j] - q0[j]
        c1, c2 = v0[j], 0.5 * a0[j]
        c3 = (10.0 * dq - (6.0 * v0[j] + 4.0 * v1[j]) * h - (1.5 * a0[j] - 0.5 * a1[j]) * h * h) / h**3
        c4 = (-15.0 * dq + (8.0 * v0[j] + 7.0 * v1[j]) * h + (1.5 * a0[j] - a1[j]) * h * h) / h**4
        c5 = (6.0 * dq - 3.0 * (v0[j] + v1[j]) * h - 0.5 * (a0[j] - a1[j]) * h * h) / h**5
        fifth = 120.0 * abs(c5)
        d1, d2, d3, d4 = c1, 2.0 * c2, 6.0 * c3, 24.0 * c4
        for k in range(n):
            t = (k + 1) * w
            e1 = c1 + t * (2.0 * c2 + t * (3.0 * c3 + t * (4.0 * c4 + t * 5.0 * c5)))
            e2 = 2.0 * c2 + t * (6.0 * c3 + t * (12.0 * c4 + t * 20.0 * c5))
            e3 = 6.0 * c3 + t * (24.0 * c4 + t * 60.0 * c5)
            e4 = 24.0 * c4 + t * 120.0 * c5
            m4 = max(abs(d4), abs(e4))
            m3 = max(abs(d3), abs(e3)) + 0.125 * w * w * fifth
            m2 = max(abs(d2), abs(e2)) + 0.125 * w * w * m4
            m1 = max(abs(d1), abs(e1)) + 0.125 * w * w * m3 + 1e-12
            rate[k] = min(
                rate[k],
                bounds[0, j] / m1,
                math.sqrt(bounds[1, j] / (m2 + 1e-12)),
                (bounds[2, j] / (m3 + 1e-12)) ** (1.0 / 3.0),
            )
            change[k] = min(change[k], bounds[3, j] / m1)
            bend[k] = max(bend[k], m2 / bounds[4, j])
            d1, d2, d3, d4 = e1, e2, e3, e4
    for k in range(n):
        change[k] = min(change[k], rate[k] / ramp, 1.0 / (rate[k] * bend[k] + 1e-12))


@numba.njit(cache=True)
def settle(
    time: FloatArray,
    q: FloatArray,
    v: FloatArray,
    a: FloatArray,
    sealed: npt.NDArray[np.bool_],
    first: int,
    last: int,
    lower: FloatArray,
    upper: FloatArray,
    bounds: FloatArray,
    ceiling: float,
    ramp: float,
    cell_end: FloatArray,
    rate: FloatArray,
    change: FloatArray,
    cell_first: npt.NDArray[np.int64],
    base: int,
) -> None:
    """Derivatives of knots and limits of segments `first` .. `last - 1` (segment i joins knots i and i + 1)."""
    for i in range(first, last + 1):
        if not sealed[i] and i > first:
            knot_derivatives(time, q, i, v[i], a[i])
            stay_inside(q[i], time[i] - time[i - 1], time[i + 1] - time[i], lower, upper, v[i], a[i])
    c = 0
    for i in range(first, last):
        h = time[i + 1] - time[i]
        n = cells_of(h)
        cell_first[i] = base + c
        for k in range(n):
            cell_end[c + k] = time[i] + h * (k + 1) / n
        cell_end[c + n - 1] = time[i + 1]
        segment_limits(
            q[i],
            v[i],
            a[i],
            q[i + 1],
            v[i + 1],
            a[i + 1],
            h,
            bounds,
            ceiling,
            ramp,
            rate[c : c + n],
            change[c : c + n],
        )
        c += n
    cell_first[last] = base + c


@numba.njit(cache=True)
def evaluate_into(
    time: FloatArray,
    q: FloatArray,
    v: FloatArray,
    a: FloatArray,
    taus: FloatArray,
    out: FloatArray,
    slope: FloatArray,
    curvature: FloatArray,
) -> None:
    """Path and its first two derivatives by plan time at `taus` (n,), held to the range of the knots given."""
    last = time.size - 1
    for k in range(taus.size):
        if last == 0:
            out[k], slope[k], curvature[k] = q[0], 0.0, 0.0
            continue
        i = min(max(int(np.searchsorted(time, taus[k], side="right")) - 1, 0), last - 1)
        h = time[i + 1] - time[i]
        quintic_into(
            q[i], v[i], a[i], q[i + 1], v[i + 1], a[i + 1], h, taus[k] - time[i], out[k], slope[k], curvature[k]
        )
