"""The source's way to a path: the straight motion, and waypoints beside the part of it that collides: compiled.

[US5347459] claims 5 and 6: where the trial path crosses a collision region, the midpoint of that portion is taken
and trial waypoints are put on lines through it orthogonal to the trial path, systematically: n - 1 directions both
ways, offsets growing, those of best clearance first. A waypoint outside the region is taken and both halves are
treated in the same way.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numba
import numpy as np

from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.cspace.clearance import nearest
from telerobot_nodes.cspace.edges import Edges, edge_free, free_prefix
from telerobot_nodes.cspace.obstacles import World
from telerobot_nodes.cspace.placing import Arm, Places

DEPTH = 3  # waypoints are put beside halves of halves this deep
OFFSETS = 6  # growing distances from the midpoint
FIRST_OFFSET = 0.25  # [rad]
GROWTH = 1.6
WANTED_CLEARANCE = 0.10  # [m] more than this is not looked at when waypoints are sorted
TRIED = 4  # waypoints taken per portion at most


class Trial(NamedTuple):
    """Scratch memory for trial paths."""

    path: FloatArray  # (2 ** (DEPTH + 1) + 1, n) [rad]
    basis: FloatArray  # (DEPTH + 1, n, n) directions orthogonal to the trial path, by depth
    point: FloatArray  # (DEPTH + 1, 2 n OFFSETS, n) trial waypoints
    worth: FloatArray  # (DEPTH + 1, 2 n OFFSETS) their clearance [m]; below 0: not to be tried


def trial_of(dof: int) -> Trial:
    """Scratch memory for `dof` joints."""
    rows = 2 * dof * OFFSETS
    z = np.zeros
    return Trial(
        z((2 ** (DEPTH + 1) + 1, dof)), z((DEPTH + 1, dof, dof)), z((DEPTH + 1, rows, dof)), z((DEPTH + 1, rows))
    )


@numba.njit(cache=True, error_model="numpy")
def orthogonal_basis(direction: FloatArray, basis: FloatArray) -> int:
    """Unit vectors orthogonal to `direction` and each other into rows of `basis`; their number (n - 1)."""
    n, count = direction.size, 0
    norm = math.sqrt(max((direction * direction).sum(), 1e-300))
    for i in range(n):
        v = basis[count]
        for r in range(n):
            v[r] = (1.0 if r == i else 0.0) - direction[i] * direction[r] / (norm * norm)
        for k in range(count):
            along = (v * basis[k]).sum()
            for r in range(n):
                v[r] -= along * basis[k, r]
        size = math.sqrt((v * v).sum())
        if size > 0.3 / math.sqrt(n):
            for r in range(n):
                v[r] /= size
            count += 1
            if count == n - 1:
                break
    return count


@numba.njit(cache=True, error_model="numpy")
def _waypoints(
    arm: Arm, world: World, at: Places, edges: Edges, trial: Trial, depth: int, middle: FloatArray, count: int
) -> int:
    """Trial waypoints around `middle` with their clearance; the number of rows."""
    rows, offset = 0, FIRST_OFFSET
    points, worth, basis = trial.point[depth], trial.worth[depth], trial.basis[depth]
    for _ in range(OFFSETS):
        for k in range(2 * count):
            sign = 1.0 if k % 2 == 0 else -1.0
            inside = True
            for r in range(middle.size):
                value = middle[r] + sign * offset * basis[k // 2, r]
                points[rows, r] = value
                inside = inside and arm.lower[r] <= value <= arm.upper[r]
            if inside:
                edges.count[0] += 1
                worth[rows] = nearest(arm, world, at, points[rows], WANTED_CLEARANCE)[0] - 0.02 * offset
            else:
                worth[rows] = -1.0
            rows += 1
        offset *= GROWTH
    return rows


@numba.njit(cache=True, error_model="numpy")
def _bend(
    arm: Arm, world: World, at: Places, edges: Edges, trial: Trial, a: FloatArray, b: FloatArray, finest: float
) -> int:
    """One waypoint with both halves free, if the first few allow: its row in `trial.point[0]`, else -1."""
    from_a = free_prefix(arm, world, at, edges, a, b, finest)
    if from_a >= 1.0:
        return -2
    from_b = free_prefix(arm, world, at, edges, b, a, finest)
    middle = a + 0.5 * (from_a + 1.0 - from_b) * (b - a)
    count = orthogonal_basis(b - a, trial.basis[0])
    rows = _waypoints(arm, world, at, edges, trial, 0, middle, count)
    worth = trial.worth[0]
    for _ in range(rows):
        best = worth.argmax()
        if worth[best] <= 0.0 or edges.count[0] >= edges.count[1]:
            return -1
        worth[best] = -1.0
        w = trial.point[0, best]
        if edge_free(arm, world, at, edges, a, w, finest) and edge_free(arm, world, at, edges, w, b, finest):
            return int(best)
    return -1


@numba.njit(cache=True, error_model="numpy")
def _halve(
    arm: Arm,
    world: World,
    at: Places,
    edges: Edges,
    trial: Trial,
    a: FloatArray,
    b: FloatArray,
    finest: float,
    depth: int,
    length: int,
) -> int:
    """Waypoints from `a` (already the last of the path) to `b` appended to `trial.path`; new length, -1: none."""
    if edge_free(arm, world, at, edges, a, b, finest):
        trial.path[length] = b
        return length + 1
    if depth > DEPTH or edges.count[0] >= edges.count[1]:
        return -1
    from_a = free_prefix(arm, world, at, edges, a, b, finest)
    from_b = free_prefix(arm, world, at, edges, b, a, finest)
    middle = a + 0.5 * (from_a + 1.0 - from_b) * (b - a)
    count = orthogonal_basis(b - a, trial.basis[depth])
    rows = _waypoints(arm, world, at, edges, trial, depth, middle, count)
    worth = trial.worth[depth]
    for _ in range(min(rows, TRIED)):
        best = worth.argmax()
        if worth[best] <= 0.0:
            return -1
        worth[best] = -1.0
        w = trial.point[depth, best].copy()
        half = _halve(arm, world, at, edges, trial, a, w, finest, depth + 1, length)
        if half > 0:
            done = _halve(arm, world, at, edges, trial, w, b, finest, depth + 1, half)
            if done > 0:
                return done
        if edges.count[0] >= edges.count[1]:
            return -1
    return -1


@numba.njit(cache=True, error_model="numpy")
def trial_path(
    arm: Arm, world: World, at: Places, edges: Edges, trial: Trial, a: FloatArray, b: FloatArray, finest: float
) -> int:
    """Number of waypoints in `trial.path` from `a` to `b`, every straight motion proved free; 0: none found.

    At most `edges.count[1]` probes in all.
    """
    trial.path[0] = a
    if edge_free(arm, world, at, edges, a, b, finest):
        trial.path[1] = b
        return 2
    row = _bend(arm, world, at, edges, trial, a, b, finest)
    if row >= 0:
        trial.path[1] = trial.point[0, row]
        trial.path[2] = b
        return 3
    length = _halve(arm, world, at, edges, trial, a, b, finest, 0, 1)
    return max(length, 0)
