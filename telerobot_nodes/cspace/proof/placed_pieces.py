"""An arm placed at the centre of a cell of its joint space, and how far the cell lets its pieces move: compiled.

A cell has centre q and half widths h. In it a point moves at most the sum over the joints of the chord of its circle
about each axis, 2 r sin(h / 2) (h where the joint slides); the farthest point of a piece is one of its corners.
Between two links only the joints between them count. A round piece that its own joint spins about its axis is not moved
by that joint.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numba
import numpy as np

from telerobot_nodes.core.values import FloatArray, IntArray
from telerobot_nodes.cspace.proof.arm_pieces import PieceArrays
from telerobot_nodes.cspace.proof.convex_gap import Simplex, simplex_of
from telerobot_nodes.cspace.proof.solid_arrays import DEEPEST

UNPLACED, MIDDLE, CORNERS = 0, 1, 2  # of a piece: what of it is placed


class Placed(NamedTuple):
    """Scratch memory of one thread: the arm at the centre of a cell, and how far the cell lets it move."""

    rotation: FloatArray  # (n + 1, 3, 3) links in WORLD
    origin: FloatArray  # (n + 1, 3) [m]
    axis: FloatArray  # (n, 3) of a turning joint
    moment: FloatArray  # (n, 3) [m] of its axis; along what a sliding one moves
    width: FloatArray  # (n,) how far a joint may move a point at 1 m [-]; [m] of a sliding joint
    link_middle: FloatArray  # (n + 1, 3) [m]
    link_moved: FloatArray  # (n + 1, n + 1) [m] most that a sphere around a link moves with joints 1 .. column
    state: IntArray  # (m,) UNPLACED, MIDDLE or CORNERS
    middle: FloatArray  # (m, 3) [m]
    moved: FloatArray  # (m, n + 1) [m] most that a sphere around a piece moves with joints 1 .. column
    corner: FloatArray  # (k, 3) [m]
    simplex: Simplex
    stack: IntArray  # (DEEPEST,) nodes that wait


@numba.njit(cache=True, error_model="numpy")
def placed_of(arm: PieceArrays) -> Placed:
    """Scratch memory for an arm."""
    n, m = len(arm.turns), len(arm.link)
    rotation = np.zeros((n + 1, 3, 3))
    for r in range(3):
        rotation[0, r, r] = 1.0
    return Placed(
        rotation,
        np.zeros((n + 1, 3)),
        np.zeros((n, 3)),
        np.zeros((n, 3)),
        np.zeros(n),
        np.zeros((n + 1, 3)),
        np.zeros((n + 1, n + 1)),
        np.zeros(m, np.int64),
        np.zeros((m, 3)),
        np.zeros((m, n + 1)),
        np.zeros(arm.corner.shape),
        simplex_of(),
        np.zeros(DEEPEST, np.int64),
    )


@numba.njit(cache=True, error_model="numpy")
def place(arm: PieceArrays, at: Placed, q: FloatArray, half: FloatArray) -> None:
    """Place links and axes for a cell of centre `q` and half widths `half` (n,) into `at`; pieces when asked for."""
    for j in range(q.size):
        _place_link(arm, at, j, q[j])
        at.width[j] = 2.0 * math.sin(0.5 * min(half[j], math.pi)) if arm.turns[j] else half[j]
    for k in range(q.size + 1):
        _move(at.rotation, at.origin, k, arm.link_middle, k, at.link_middle, k)
        reach = arm.link_reach[k]
        _bound_motion(at.axis, at.moment, at.width, arm.turns, k, k, at.link_middle, reach, k, at.link_moved)
    at.state[:] = UNPLACED


@numba.njit(cache=True, error_model="numpy")
def _place_link(arm: PieceArrays, at: Placed, j: int, q: float) -> None:
    """Link j + 1 from link j, and the axis of joint j."""
    R, A, out, origin, t = at.rotation[j], arm.rotation[j], at.rotation[j + 1], at.origin[j + 1], arm.offset[j]
    u, v = arm.turn[j], arm.slide[j]
    s, c = (math.sin(q), math.cos(q)) if arm.turns[j] else (0.0, 1.0)
    for r in range(3):
        a0 = R[r, 0] * A[0, 0] + R[r, 1] * A[1, 0] + R[r, 2] * A[2, 0]
        a1 = R[r, 0] * A[0, 1] + R[r, 1] * A[1, 1] + R[r, 2] * A[2, 1]
        a2 = R[r, 0] * A[0, 2] + R[r, 1] * A[1, 2] + R[r, 2] * A[2, 2]
        along = (a0 * u[0] + a1 * u[1] + a2 * u[2]) * (1.0 - c)  # Rodrigues' formula: c I + s [u] + (1 - c) u u^T
        out[r, 0] = c * a0 + s * (a1 * u[2] - a2 * u[1]) + along * u[0]
        out[r, 1] = c * a1 + s * (a2 * u[0] - a0 * u[2]) + along * u[1]
        out[r, 2] = c * a2 + s * (a0 * u[1] - a1 * u[0]) + along * u[2]
        way = a0 * v[0] + a1 * v[1] + a2 * v[2]
        origin[r] = at.origin[j, r] + R[r, 0] * t[0] + R[r, 1] * t[1] + R[r, 2] * t[2] + way * q
        at.axis[j, r] = a0 * u[0] + a1 * u[1] + a2 * u[2]
        at.moment[j, r] = way
    x, p, m = at.axis[j], origin, at.moment[j]
    m[0] += p[1] * x[2] - p[2] * x[1]
    m[1] += p[2] * x[0] - p[0] * x[2]
    m[2] += p[0] * x[1] - p[1] * x[0]


@numba.njit(error_model="numpy", inline="always")
def _move(R: FloatArray, origin: FloatArray, k: int, local: FloatArray, i: int, out: FloatArray, o: int) -> None:
    """Row i of `local` in link k, in WORLD into row o of `out`."""
    for r in range(3):
        out[o, r] = origin[k, r] + R[k, r, 0] * local[i, 0] + R[k, r, 1] * local[i, 1] + R[k, r, 2] * local[i, 2]


@numba.njit(error_model="numpy", inline="always")
def _lever(axis: FloatArray, moment: FloatArray, j: int, x: float, y: float, z: float) -> float:
    """Speed [m/rad] of a point at unit rate of joint j."""
    a = moment[j, 0] + axis[j, 1] * z - axis[j, 2] * y
    b = moment[j, 1] + axis[j, 2] * x - axis[j, 0] * z
    c = moment[j, 2] + axis[j, 0] * y - axis[j, 1] * x
    return math.sqrt(a * a + b * b + c * c)


@numba.njit(cache=True, error_model="numpy")
def _bound_motion(
    axis: FloatArray,
    moment: FloatArray,
    width: FloatArray,
    turns: IntArray,
    k: int,
    joints: int,
    middle: FloatArray,
    reach: float,
    i: int,
    moved: FloatArray,
) -> None:
    """Most [m] that a sphere on link k moves with its first joints, for every number of them, into row i of `moved`.

    Only the first `joints` of the k joints move it.
    """
    x, y, z, total = middle[i, 0], middle[i, 1], middle[i, 2], 0.0
    for j in range(k):
        if width[j] > 0.0 and j < joints:
            total += width[j] * (_lever(axis, moment, j, x, y, z) + (reach if turns[j] else 0.0))
        moved[i, j + 1] = total


@numba.njit(cache=True, error_model="numpy")
def place_middles(arm: PieceArrays, at: Placed, k: int) -> None:
    """Middles of the pieces of link k, and how far spheres around them move."""
    state, middle, moved, local, reach, turns = at.state, at.middle, at.moved, arm.middle, arm.reach, arm.turns
    R, origin, axis, moment, width = at.rotation, at.origin, at.axis, at.moment, at.width
    for i in range(arm.link_first[k], arm.link_first[k + 1]):
        state[i] = MIDDLE
        _move(R, origin, k, local, i, middle, i)
        _bound_motion(axis, moment, width, turns, k, arm.joints[i], middle, reach[i], i, moved)


@numba.njit(error_model="numpy", inline="always")
def place_corners(arm: PieceArrays, at: Placed, i: int) -> None:
    """Corners of piece i, if they are not placed yet."""
    if at.state[i] != CORNERS:
        at.state[i] = CORNERS
        _move_corners(at.rotation, at.origin, arm.link[i], arm.corner, arm.corner_first, i, at.corner)


@numba.njit(cache=True, error_model="numpy")
def _move_corners(
    R: FloatArray, origin: FloatArray, k: int, local: FloatArray, first: IntArray, i: int, out: FloatArray
) -> None:
    """Corners of piece i, on link k, in WORLD into their rows of `out`."""
    for c in range(first[i], first[i + 1]):
        _move(R, origin, k, local, c, out, c)


@numba.njit(cache=True, error_model="numpy")
def corner_motion(
    axis: FloatArray,
    moment: FloatArray,
    width: FloatArray,
    corner: FloatArray,
    first: int,
    last: int,
    below: int,
    joints: int,
) -> tuple[float, int]:
    """Most [m] that a corner `first` .. `last` moves with the joints after the first `below` of `joints`.

    And the joint that moves that corner most.
    """
    most, worst = 0.0, below
    for c in range(first, last):
        total, largest, joint = 0.0, -1.0, below
        for j in range(below, joints):
            if width[j] > 0.0:
                step = width[j] * _lever(axis, moment, j, corner[c, 0], corner[c, 1], corner[c, 2])
                total += step
                if step > largest:
                    largest, joint = step, j
        if total > most:
            most, worst = total, joint
    return most, worst
