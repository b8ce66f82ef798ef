"""Trial paths: the straight motion, then waypoints beside the part of it that collides: compiled.

[US5347459] claims 5 and 6: where the trial path crosses a collision region, trial waypoints are placed on lines
through the midpoint of that portion, orthogonal to the trial path: n - 1 directions both ways, offsets growing, best
clearance first. A waypoint outside the region is taken and both halves are treated in the same way.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numba
import numpy as np

from telerobot_nodes.core.values import FloatArray, IntArray
from telerobot_nodes.cspace.geometry import Arm, World
from telerobot_nodes.cspace.search.edge_validation import Edges, edge_free, free_ends
from telerobot_nodes.cspace.simd import LANES, bound_motion, check_batch, noinline

DEPTH = 4  # times a portion is halved
WAYPOINTS = 24
OFFSETS = 3  # growing distances from the midpoint
FIRST_OFFSET = 0.6  # [rad]
GROWTH = 2.0
WANTED_CLEARANCE = 0.05  # [m] waypoints with more than this rank equal
TRIED = 3  # waypoints of one offset tried at most


class Trial(NamedTuple):
    """Scratch memory for trial paths."""

    path: FloatArray  # (WAYPOINTS, n) [rad]
    level: IntArray  # (WAYPOINTS,) how often the portion after each waypoint was halved
    basis: FloatArray  # (n, n) directions orthogonal to the trial path
    point: FloatArray  # (2 n, n) [rad] trial waypoints at one offset
    clearance: FloatArray  # (2 n,) [m] of the trial waypoints; below 0: not to be tried
    taken: FloatArray  # (n,) [rad] the waypoint taken


def trial_of(dof: int) -> Trial:
    """Scratch memory for `dof` joints."""
    zeros = np.zeros
    return Trial(
        path=zeros((WAYPOINTS, dof)),
        level=zeros(WAYPOINTS, np.int64),
        basis=zeros((dof, dof)),
        point=zeros((2 * dof, dof)),
        clearance=zeros(2 * dof),
        taken=zeros(dof),
    )


@numba.njit(cache=True, error_model="numpy")
def orthogonal_basis(direction: FloatArray, basis: FloatArray) -> int:
    """Unit vectors orthogonal to `direction` (n,) and each other into rows of `basis` (n, n); their number, n - 1.

    Gram-Schmidt on the axes; an axis nearly in the span of the rows before it is skipped.
    """
    n, count = direction.size, 0
    norm = math.sqrt(max((direction * direction).sum(), 1e-300))
    for i in range(n):
        row = basis[count]
        for r in range(n):
            row[r] = (1.0 if r == i else 0.0) - direction[i] * direction[r] / (norm * norm)
        for k in range(count):
            along = (row * basis[k]).sum()
            for r in range(n):
                row[r] -= along * basis[k, r]
        size = math.sqrt((row * row).sum())
        if size > 0.3 / math.sqrt(n):
            for r in range(n):
                row[r] /= size
            count += 1
            if count == n - 1:
                break
    return count


@numba.njit(error_model="numpy", inline="always")
def _waypoints(arm: Arm, world: World, edges: Edges, trial: Trial, middle: FloatArray, offset: float) -> int:
    """Trial waypoints `offset` [rad] from `middle`, with their clearance; their number."""
    rows = 2 * (middle.size - 1)
    edges.batch.delta[:] = 0.0
    bound_motion(edges.arm32, edges.batch)
    for k in range(rows):
        signed = offset if k % 2 == 0 else -offset
        inside = True
        for r in range(middle.size):
            value = middle[r] + signed * trial.basis[k // 2, r]
            trial.point[k, r] = value
            inside = inside and arm.lower[r] <= value <= arm.upper[r]
        trial.clearance[k] = 1.0 if inside else -1.0
    for first in range(0, rows, LANES):
        _measure(world, edges, trial.point[first:rows], trial.clearance[first:rows])
    return rows


@numba.njit(error_model="numpy", inline="always")
def _measure(world: World, edges: Edges, points: FloatArray, clearance: FloatArray) -> None:
    """The clearance of up to LANES waypoints, up to WANTED_CLEARANCE; those outside the limits stay as they are."""
    batch, count = edges.batch, min(clearance.size, LANES)
    for lane in range(LANES):
        row = min(lane, count - 1)
        for r in range(points.shape[1]):
            batch.q[r * LANES + lane] = points[row, r]
        batch.half[lane] = 0.0
    edges.effort.probes += count
    check_batch(edges.arm32, world, batch, edges.effort.reserve, WANTED_CLEARANCE, False)
    for lane in range(count):
        if clearance[lane] > 0.0:
            clearance[lane] = batch.ratio[lane] * WANTED_CLEARANCE


@numba.njit(cache=True, error_model="numpy")
def trial_path(
    arm: Arm, world: World, edges: Edges, trial: Trial, start: FloatArray, goal: FloatArray, finest: float
) -> int:
    """Number of waypoints in `trial.path` from `start` to `goal`, every straight motion proved free; 0: none found.

    Portions are kept in a row instead of by recursion: each is free, or gets a waypoint and becomes two.
    """
    noinline()
    path, level, effort = trial.path, trial.level, edges.effort
    path[0], path[1], level[0] = start, goal, 0
    length, k = 2, 0
    while k < length - 1:
        if edge_free(world, edges, path[k], path[k + 1], finest):
            k += 1
            continue
        if level[k] >= DEPTH or effort.probes >= effort.budget or length == path.shape[0]:
            return 0
        if not _split(arm, world, edges, trial, path[k], path[k + 1], finest):
            return 0
        for row in range(length, k + 1, -1):
            path[row] = path[row - 1]
            level[row] = level[row - 1]
        path[k + 1] = trial.taken
        level[k] += 1
        level[k + 1] = level[k]
        length += 1
    return length


@numba.njit(error_model="numpy", inline="always")
def _split(
    arm: Arm, world: World, edges: Edges, trial: Trial, start: FloatArray, end: FloatArray, finest: float
) -> bool:
    """Put a waypoint beside the collision region of the motion from `start` to `end` into `trial.taken`.

    Of the nearest offset that has one: with both halves free, else with one half free; else the first outside.
    """
    from_start, to_end = free_ends(world, edges, start, end)
    middle = start + 0.5 * (from_start + to_end) * (end - start)
    orthogonal_basis(end - start, trial.basis)
    clearance, effort, rank, offset = trial.clearance, edges.effort, 0, FIRST_OFFSET
    for _ in range(OFFSETS):
        rows = _waypoints(arm, world, edges, trial, middle, offset)
        for _ in range(TRIED):
            best = clearance[:rows].argmax()
            if clearance[best] <= 0.0 or effort.probes >= effort.budget:
                break
            clearance[best] = -1.0
            waypoint = trial.point[best]
            value = 1
            if rank < 3:
                value += 1 if edge_free(world, edges, start, waypoint, finest) else 0
                value += 1 if (value == 2 or rank < 2) and edge_free(world, edges, waypoint, end, finest) else 0
            if value > rank:
                rank = value
                trial.taken[:] = waypoint
            if rank == 3:
                return True
        if rank == 2:
            return True
        offset *= GROWTH
    return rank > 0
