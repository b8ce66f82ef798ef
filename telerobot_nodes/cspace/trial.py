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
from telerobot_nodes.cspace.batch import bound_motion
from telerobot_nodes.cspace.edges import Edges, edge_free, free_ends
from telerobot_nodes.cspace.lanes import LANES, apart
from telerobot_nodes.cspace.obstacles import World
from telerobot_nodes.cspace.placing import Arm, IntArray
from telerobot_nodes.cspace.sweep import sweep

DEPTH = 4  # waypoints are put beside halves of halves this deep
WAYPOINTS = 24
OFFSETS = 3  # growing distances from the midpoint
FIRST_OFFSET = 0.6  # [rad]
GROWTH = 2.0
WANTED_CLEARANCE = 0.05  # [m] more than this is not looked at when waypoints are sorted
TRIED = 3  # waypoints of one offset tried at most


class Trial(NamedTuple):
    """Scratch memory for trial paths."""

    path: FloatArray  # (WAYPOINTS, n) [rad]
    level: IntArray  # (WAYPOINTS,) how often the portion after each waypoint was halved
    basis: FloatArray  # (n, n) directions orthogonal to the trial path
    point: FloatArray  # (2 n, n) trial waypoints at one offset
    worth: FloatArray  # (2 n,) their clearance [m]; below 0: not to be tried
    taken: FloatArray  # (n,) the waypoint taken


def trial_of(dof: int) -> Trial:
    """Scratch memory for `dof` joints."""
    z = np.zeros
    return Trial(z((WAYPOINTS, dof)), z(WAYPOINTS, np.int64), z((dof, dof)), z((2 * dof, dof)), z(2 * dof), z(dof))


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


@numba.njit(error_model="numpy", inline="always")
def _waypoints(arm: Arm, world: World, edges: Edges, trial: Trial, middle: FloatArray, offset: float) -> int:
    """Trial waypoints at one offset from `middle` and their clearance; below 0: not to be tried. Their number."""
    points, worth, rows = trial.point, trial.worth, 2 * (middle.size - 1)
    edges.batch.delta[:] = 0.0
    bound_motion(edges.flat, edges.batch)
    for k in range(rows):
        sign = offset if k % 2 == 0 else -offset
        inside = True
        for r in range(middle.size):
            value = middle[r] + sign * trial.basis[k // 2, r]
            points[k, r] = value
            inside = inside and arm.lower[r] <= value <= arm.upper[r]
        worth[k] = 1.0 if inside else -1.0
    for first in range(0, rows, LANES):
        _weigh(world, edges, points[first:rows], worth[first:rows])
    return rows


@numba.njit(error_model="numpy", inline="always")
def _weigh(world: World, edges: Edges, points: FloatArray, worth: FloatArray) -> None:
    """The clearance of up to LANES waypoints, those outside the limits left out."""
    batch, count = edges.batch, min(worth.size, LANES)
    for lane in range(LANES):
        row = min(lane, count - 1)
        for r in range(points.shape[1]):
            batch.q[r * LANES + lane] = points[row, r]
        batch.half[lane] = 0.0
    edges.probes[0] += count
    sweep(edges.flat, world, batch, edges.keep[0], WANTED_CLEARANCE, False)
    for lane in range(count):
        if worth[lane] > 0.0:
            worth[lane] = batch.ratio[lane] * WANTED_CLEARANCE


@numba.njit(cache=True, error_model="numpy")
def trial_path(arm: Arm, world: World, edges: Edges, trial: Trial, a: FloatArray, b: FloatArray, finest: float) -> int:
    """Number of waypoints in `trial.path` from `a` to `b`, every straight motion proved free; 0: none found.

    A row of portions instead of recursion: each is free, or gets a waypoint and becomes two. At most
    `edges.probes[1]` probes.
    """
    apart()
    path, level, taken = trial.path, trial.level, trial.taken
    path[0], path[1], level[0] = a, b, 0
    length, k = 2, 0
    while k < length - 1:
        if edge_free(world, edges, path[k], path[k + 1], finest):
            k += 1
            continue
        if level[k] >= DEPTH or edges.probes[0] >= edges.probes[1] or length == path.shape[0]:
            return 0
        if not _split(arm, world, edges, trial, path[k], path[k + 1], finest):
            return 0
        for row in range(length, k + 1, -1):
            path[row] = path[row - 1]
            level[row] = level[row - 1]
        path[k + 1] = taken
        level[k] += 1
        level[k + 1] = level[k]
        length += 1
    return length


@numba.njit(error_model="numpy", inline="always")
def _split(arm: Arm, world: World, edges: Edges, trial: Trial, a: FloatArray, b: FloatArray, finest: float) -> bool:
    """A waypoint beside the collision region of the motion from `a` to `b` into `trial.taken`.

    Of the nearest offset that has one: with both halves free, else with one half free; else the first outside.
    """
    from_a, to_b = free_ends(world, edges, a, b)
    middle = a + 0.5 * (from_a + to_b) * (b - a)
    orthogonal_basis(b - a, trial.basis)
    worth, rank, offset = trial.worth, 0, FIRST_OFFSET
    for _ in range(OFFSETS):
        rows = _waypoints(arm, world, edges, trial, middle, offset)
        for _ in range(TRIED):
            best = worth[:rows].argmax()
            if worth[best] <= 0.0 or edges.probes[0] >= edges.probes[1]:
                break
            worth[best] = -1.0
            w = trial.point[best]
            value = 1
            if rank < 3:
                value += 1 if edge_free(world, edges, a, w, finest) else 0
                value += 1 if (value == 2 or rank < 2) and edge_free(world, edges, w, b, finest) else 0
            if value > rank:
                rank = value
                trial.taken[:] = w
            if rank == 3:
                return True
        if rank == 2:
            return True
        offset *= GROWTH
    return rank > 0
