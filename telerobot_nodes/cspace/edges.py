"""Straight motions in joint space with a proof: cells laid along the line until they cover it, or a collision.

A piece of the line is covered by the cell that just holds it. When only a part of that cell is free, the piece is
known free in that part and the rest is looked at again: few cells where there is room, small ones near obstacles.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.cspace.clearance import probe
from telerobot_nodes.cspace.obstacles import World
from telerobot_nodes.cspace.placing import Arm, IntArray, Places, places_of

PIECE = 0.3  # [rad] longest piece looked at
QUEUE = 512  # pieces of one edge at a time
SHRINK = 0.999  # [-] of a free part that is used


class Edges(NamedTuple):
    """Scratch memory of one thread and counters for proving edges."""

    low: FloatArray  # (QUEUE,) pieces still to prove, in 0 .. 1 of the edge
    high: FloatArray  # (QUEUE,)
    delta: FloatArray  # (n,) [rad]
    probes: IntArray  # (2,) so far; allowed


def edges_of(dof: int) -> Edges:
    """Scratch memory for `dof` joints, with no bound on probes."""
    return Edges(np.zeros(QUEUE), np.zeros(QUEUE), np.zeros(dof), np.array([0, np.iinfo(np.int64).max], dtype=np.int64))


@numba.njit(cache=True, error_model="numpy")
def spread(delta: FloatArray) -> float:
    """Largest turn of a joint [rad]."""
    most = 0.0
    for i in range(delta.size):
        most = max(most, abs(delta[i]))
    return most


@numba.njit(cache=True, error_model="numpy")
def part_free(arm: Arm, world: World, at: Places, a: FloatArray, delta: FloatArray, low: float, high: float) -> float:
    """`probe` of the cell that holds a piece [low, high] of the line a + t delta."""
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    for i in range(a.size):
        at.middle[i] = a[i] + middle * delta[i]
        at.half[i] = abs(half * delta[i])
    return probe(arm, world, at, at.middle, at.half)


@numba.njit(cache=True, error_model="numpy")
def edge_free(arm: Arm, world: World, at: Places, edges: Edges, a: FloatArray, b: FloatArray, finest: float) -> bool:
    """True when the straight motion from `a` to `b` is proved free with pieces of `finest` [rad] or longer."""
    delta, low, high, count = edges.delta, edges.low, edges.high, edges.probes
    for i in range(a.size):
        delta[i] = b[i] - a[i]
    width = spread(delta)
    pieces = min(int(width / PIECE) + 1, QUEUE // 4)
    first, last = 0, 0
    stride = 1
    while stride * 2 <= pieces:
        stride *= 2
    while stride > 0:  # pieces far apart first: a collision is found sooner
        for i in range(stride - 1, pieces, 2 * stride):
            low[last], high[last] = i / pieces, (i + 1) / pieces
            last += 1
        stride //= 2
    while first != last:
        if count[0] >= count[1]:
            return False
        u, v = low[first], high[first]
        first = (first + 1) % QUEUE
        count[0] += 1
        ratio = part_free(arm, world, at, a, delta, u, v)
        if ratio >= 1.0:
            continue
        if ratio <= 0.0 or (v - u) * width < finest:
            return False
        half = 0.5 * (v - u)
        free = SHRINK * ratio * half
        for side in range(2):
            low[last] = u if side == 0 else u + half + free
            high[last] = u + half - free if side == 0 else v
            last = (last + 1) % QUEUE
            if last == first:
                return False
    return True


@numba.njit(cache=True, error_model="numpy")
def free_prefix(arm: Arm, world: World, at: Places, edges: Edges, a: FloatArray, b: FloatArray, finest: float) -> float:
    """How far (0 .. 1) the straight motion from `a` to `b` is proved free from `a` on."""
    delta, count = edges.delta, edges.probes
    for i in range(a.size):
        delta[i] = b[i] - a[i]
    width = max(spread(delta), 1e-12)
    done, step = 0.0, min(1.0, PIECE / width)
    while done < 1.0 and count[0] < count[1]:
        step = min(step, 1.0 - done)
        count[0] += 1
        ratio = part_free(arm, world, at, a, delta, done, done + step)
        if ratio >= 1.0:
            done = 1.0 if step >= 1.0 - done else done + step
            step *= 2.0
        elif step * width < finest:
            return done
        else:
            step *= 0.5
    return done


@numba.njit(cache=True, error_model="numpy")
def cover_edge(
    arm: Arm,
    world: World,
    at: Places,
    a: FloatArray,
    b: FloatArray,
    finest: float,
    low: FloatArray,
    high: FloatArray,
) -> int:
    """Pieces in order, each inside a free cell, that cover the edge into `low`, `high`; -1: not proved."""
    delta = b - a
    width = max(spread(delta), 1e-12)
    done, step, count = 0.0, min(1.0, PIECE / width), 0
    while done < 1.0:
        step = min(step, 1.0 - done)
        ratio = part_free(arm, world, at, a, delta, done, done + step)
        if ratio >= 1.0:
            if count == low.size:
                return -1
            low[count] = done
            done = 1.0 if step >= 1.0 - done else done + step
            high[count] = done
            count += 1
            step *= 2.0
        elif step * width < 0.25 * finest:
            return -1
        else:
            step *= 0.5
    return count


class EdgeProver:
    """Proves straight motions of one arm among obstacles. One thread."""

    def __init__(self, arm: Arm, world: World, finest: float = 1e-3) -> None:
        self.arm, self.world, self.finest = arm, world, finest
        self.at = places_of(arm)
        self.edges = edges_of(arm.lower.size)

    def free(self, a: FloatArray, b: FloatArray) -> bool:
        """True when the straight motion from `a` to `b` (n,) [rad] is proved free."""
        a, b = np.array(a, dtype=np.float64), np.array(b, dtype=np.float64)
        return bool(edge_free(self.arm, self.world, self.at, self.edges, a, b, self.finest))

    def cell_free(self, q: FloatArray, half: FloatArray) -> bool:
        """True when every configuration within `half` (n,) [rad] of `q` is proved free."""
        q, half = np.array(q, dtype=np.float64), np.array(half, dtype=np.float64)
        return bool(probe(self.arm, self.world, self.at, q, half) >= 1.0)
