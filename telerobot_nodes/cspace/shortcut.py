"""Shorter paths whose every straight motion is still proved free: compiled."""

from __future__ import annotations

import math

import numba
import numpy as np

from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.cspace.edges import Edges, edge_free
from telerobot_nodes.cspace.lanes import apart
from telerobot_nodes.cspace.obstacles import World

MOST = 256  # waypoints a path may have while it is shortened
PATIENCE = 12  # cuts that may gain nothing before the end


@numba.njit(cache=True, error_model="numpy")
def length_of(a: FloatArray, b: FloatArray) -> float:
    """Euclidean distance [rad] of two configurations."""
    total = 0.0
    for r in range(a.size):
        total += (a[r] - b[r]) ** 2
    return math.sqrt(total)


@numba.njit(cache=True, error_model="numpy")
def halton(index: int, base: int) -> float:
    """Element `index` of the Halton sequence to `base`, 0 .. 1."""
    value, part = 0.0, 1.0
    while index > 0:
        part /= base
        value += part * (index % base)
        index //= base
    return value


@numba.njit(error_model="numpy", inline="always")
def _skip(world: World, edges: Edges, path: FloatArray, count: int, finest: float) -> int:
    """Leave out waypoints whose neighbours see each other, farthest first; the number left."""
    i = 0
    while i < count - 2:
        j = count - 1
        while j > i + 1:
            if edge_free(world, edges, path[i], path[j], finest):
                gone = j - i - 1
                for k in range(j, count):
                    path[k - gone] = path[k]
                count -= gone
                break
            j = i + 1 + (j - i - 1) // 2
        i += 1
    return count


@numba.njit(error_model="numpy", inline="always")
def _cut(world: World, edges: Edges, path: FloatArray, count: int, u: float, v: float, finest: float) -> int:
    """Replace the path between the lengths u < v (0 .. 1 of it) by a straight motion if that is free."""
    total = 0.0
    for k in range(count - 1):
        total += length_of(path[k], path[k + 1])
    first, last, p, q = -1, -1, path[0].copy(), path[0].copy()
    done = 0.0
    for k in range(count - 1):
        step = length_of(path[k], path[k + 1])
        for which in range(2):
            mark = (u if which == 0 else v) * total
            if done <= mark < done + step or (k == count - 2 and mark >= done + step):
                part = min((mark - done) / max(step, 1e-12), 1.0)
                for r in range(p.size):
                    value = path[k, r] + part * (path[k + 1, r] - path[k, r])
                    if which == 0:
                        p[r] = value
                    else:
                        q[r] = value
                if which == 0:
                    first = k
                else:
                    last = k
        done += step
    if first < 0 or last <= first or count + 2 > path.shape[0]:
        return count
    if not edge_free(world, edges, p, q, finest):
        return count
    tail = path[last + 1 : count].copy()
    path[first + 1] = p
    path[first + 2] = q
    for k in range(tail.shape[0]):
        path[first + 3 + k] = tail[k]
    return int(first + 3 + tail.shape[0])


@numba.njit(error_model="numpy", inline="always")
def _pull(world: World, edges: Edges, path: FloatArray, count: int, finest: float) -> None:
    """Move every inner waypoint towards the line between its neighbours as far as both motions stay free."""
    trial = path[0].copy()
    for k in range(1, count - 1):
        a, w, b = path[k - 1], path[k], path[k + 1]
        span = length_of(a, b)
        along = 0.0
        for r in range(w.size):
            along += (w[r] - a[r]) * (b[r] - a[r])
        along = min(max(along / max(span * span, 1e-12), 0.0), 1.0)
        part = 0.5
        for _ in range(4):
            for r in range(w.size):
                trial[r] = w[r] + part * (a[r] + along * (b[r] - a[r]) - w[r])
            if edge_free(world, edges, a, trial, finest) and edge_free(world, edges, trial, b, finest):
                path[k] = trial
            else:
                part *= 0.5


@numba.njit(cache=True, error_model="numpy")
def shorten(world: World, edges: Edges, path: FloatArray, count: int, finest: float, rounds: int) -> int:
    """Shorten `path[:count]` in place, keeping its ends; the number of waypoints left. `path` has room for MOST."""
    apart()
    count = _skip(world, edges, path, count, finest)
    idle, index = 0, 1
    while count > 2 and idle < PATIENCE and index < rounds and edges.probes[0] < edges.probes[1]:
        u, v = halton(index, 2), halton(index, 3)
        index += 1
        before = count
        total = _length(path, count)
        if abs(u - v) > 0.02:
            count = _cut(world, edges, path, count, min(u, v), max(u, v), finest)
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


def path_length(path: FloatArray) -> float:
    """Length [rad] of a path (k, n)."""
    return float(np.linalg.norm(np.diff(path, axis=0), axis=1).sum())
