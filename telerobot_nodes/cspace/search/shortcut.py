"""Path shortcutting: shorter paths whose every straight motion is still proved free: compiled."""

from __future__ import annotations

import math
from itertools import pairwise

import numba
import numpy as np

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.cspace.geometry import World
from telerobot_nodes.cspace.search.edge_validation import Edges, edge_free
from telerobot_nodes.cspace.simd import noinline

MOST = 256  # waypoints a path may have while it is shortened
IDLE_CUTS = 12  # cuts in a row that may gain nothing before the end


@numba.njit(cache=True, error_model="numpy")
def length_of(a: FloatArray, b: FloatArray) -> float:
    """Euclidean distance [rad] of two configurations (n,)."""
    total = 0.0
    for r in range(a.size):
        total += (a[r] - b[r]) ** 2
    return math.sqrt(total)


@numba.njit(cache=True, error_model="numpy")
def halton(index: int, base: int) -> float:
    """Element `index` of the Halton sequence [Halton1960] to `base`, 0 .. 1."""
    value, part = 0.0, 1.0
    while index > 0:
        part /= base
        value += part * (index % base)
        index //= base
    return value


@numba.njit(error_model="numpy", inline="always")
def _skip(world: World, edges: Edges, path: FloatArray, count: int, finest: float) -> int:
    """Remove waypoints between two that are joined by a free motion, farthest first; the number left."""
    i = 0
    while i < count - 2:
        j = count - 1
        while j > i + 1:
            if edge_free(world, edges, path[i], path[j], finest):
                removed = j - i - 1
                for k in range(j, count):
                    path[k - removed] = path[k]
                count -= removed
                break
            j = i + 1 + (j - i - 1) // 2
        i += 1
    return count


@numba.njit(cache=True, error_model="numpy")
def _point_at(path: FloatArray, count: int, length: float, point: FloatArray) -> int:
    """The point `length` [rad] along a path into `point` (n,); the number of its motion."""
    done, last = 0.0, count - 2
    for k in range(last + 1):
        step = length_of(path[k], path[k + 1])
        if length < done + step or k == last:
            part = min((length - done) / max(step, 1e-12), 1.0)
            for r in range(point.size):
                point[r] = path[k, r] + part * (path[k + 1, r] - path[k, r])
            return k
        done += step
    return last


@numba.njit(error_model="numpy", inline="always")
def _cut(world: World, edges: Edges, path: FloatArray, count: int, low: float, high: float, finest: float) -> int:
    """Replace the path between the lengths low < high [rad] by a straight motion if that is free; the new count."""
    begin, end = path[0].copy(), path[0].copy()
    first, last = _point_at(path, count, low, begin), _point_at(path, count, high, end)
    if last <= first or count + 2 > path.shape[0]:
        return count
    if not edge_free(world, edges, begin, end, finest):
        return count
    tail = path[last + 1 : count].copy()
    path[first + 1] = begin
    path[first + 2] = end
    for k in range(tail.shape[0]):
        path[first + 3 + k] = tail[k]
    return int(first + 3 + tail.shape[0])


@numba.njit(error_model="numpy", inline="always")
def _pull(world: World, edges: Edges, path: FloatArray, count: int, finest: float) -> None:
    """Move every inner waypoint towards the line between its neighbours as far as both motions stay free."""
    moved = path[0].copy()
    for k in range(1, count - 1):
        before, waypoint, after = path[k - 1], path[k], path[k + 1]
        span = length_of(before, after)
        along = 0.0
        for r in range(waypoint.size):
            along += (waypoint[r] - before[r]) * (after[r] - before[r])
        along = min(max(along / max(span * span, 1e-12), 0.0), 1.0)
        part = 0.5
        for _ in range(4):
            for r in range(waypoint.size):
                moved[r] = waypoint[r] + part * (before[r] + along * (after[r] - before[r]) - waypoint[r])
            if edge_free(world, edges, before, moved, finest) and edge_free(world, edges, moved, after, finest):
                path[k] = moved
            else:
                part *= 0.5


@numba.njit(cache=True, error_model="numpy")
def shorten(world: World, edges: Edges, path: FloatArray, count: int, finest: float, rounds: int) -> int:
    """Shorten `path[:count]` in place, keeping its ends; the number of waypoints left.

    `path` (MOST, n) [rad]; at most `rounds` cuts, within the budget of `edges`.
    """
    noinline()
    count = _skip(world, edges, path, count, finest)
    idle, index = 0, 1
    while count > 2 and idle < IDLE_CUTS and index < rounds and edges.effort.probes < edges.effort.budget:
        u, v = halton(index, 2), halton(index, 3)
        index += 1
        before = count
        total = _length(path, count)
        if abs(u - v) > 0.02:
            count = _cut(world, edges, path, count, min(u, v) * total, max(u, v) * total, finest)
        if count > before:
            count = _skip(world, edges, path, count, finest)
        idle = idle + 1 if _length(path, count) > 0.995 * total else 0
    for _ in range(3):
        _pull(world, edges, path, count, finest)
    return _skip(world, edges, path, count, finest)


@numba.njit(cache=True, error_model="numpy")
def _length(path: FloatArray, count: int) -> float:
    total = 0.0
    for k in range(count - 1):
        total += length_of(path[k], path[k + 1])
    return total


def path_samples(path: FloatArray, step: float) -> FloatArray:
    """Configurations (m, n) along a path (k, n) [rad], no joint turning more than `step` between two; all waypoints."""
    rows = [path[0]]
    for a, b in pairwise(path):
        count = max(math.ceil(float(np.abs(b - a).max()) / step), 1)
        rows += [a + i / count * (b - a) for i in range(1, count + 1)]
    return np.array(rows)


def path_length(path: FloatArray) -> float:
    """Length [rad] of a path (k, n)."""
    return float(np.linalg.norm(np.diff(path, axis=0), axis=1).sum())
