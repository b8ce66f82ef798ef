"""Straight motions in joint space with a proof, and the cells that cover them.

The search proves sixteen pieces of a motion at a time (`sweep`); where only a part of a piece is proved, its ends are
looked at again. `cover_edge` lays cells (boxes in joint space, `clearance.probe`) along a motion for the certificate.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.cspace.batch import Batch, Flat, batch_of, bound_motion, flat_of
from telerobot_nodes.cspace.clearance import probe
from telerobot_nodes.cspace.lanes import LANES, apart
from telerobot_nodes.cspace.obstacles import MOST_OBSTACLES, World
from telerobot_nodes.cspace.placing import Arm, IntArray, Places, places_of
from telerobot_nodes.cspace.sweep import COLLIDES, sweep

PIECE = 0.3  # [rad] longest piece of a certificate
QUEUE = 512  # pieces of one edge at a time
SHRINK = 0.999  # [-] of a free part that is used
RESERVE = 3e-4  # [m] kept by the search beyond the margin: for single precision, and cells not too small


class Edges(NamedTuple):
    """Scratch memory of one thread and counters for proving edges."""

    flat: Flat
    batch: Batch
    low: FloatArray  # (QUEUE,) pieces still to prove, in 0 .. 1 of the edge
    high: FloatArray  # (QUEUE,)
    probes: IntArray  # (2,) pieces so far; allowed
    keep: FloatArray  # (1,) [m] kept beyond the margins


def edges_of(arm: Arm, obstacles: int = MOST_OBSTACLES) -> Edges:
    """Scratch memory for `arm` among up to `obstacles`, with no bound on probes."""
    bound = np.array([0, np.iinfo(np.int64).max], dtype=np.int64)
    return Edges(flat_of(arm), batch_of(arm, obstacles), np.zeros(QUEUE), np.zeros(QUEUE), bound, np.array([RESERVE]))


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


@numba.njit(error_model="numpy", inline="always")
def start_edge(edges: Edges, a: FloatArray, b: FloatArray) -> float:
    """Make ready for the motion from `a` to `b`; its largest turn [rad]."""
    delta = edges.batch.delta
    for i in range(a.size):
        delta[i] = b[i] - a[i]
    bound_motion(edges.flat, edges.batch)
    return spread(delta)


@numba.njit(error_model="numpy", inline="always")
def sweep_all(world: World, edges: Edges, a: FloatArray, stop: bool) -> int:
    """`sweep` of the whole motion in `LANES` equal pieces."""
    batch = edges.batch
    for i in range(a.size):
        start, step = a[i], batch.delta[i] / LANES
        for lane in range(LANES):
            batch.q[i * LANES + lane] = start + (lane + 0.5) * step
    for lane in range(LANES):
        batch.half[lane] = 0.5 / LANES
    edges.probes[0] += LANES
    return sweep(edges.flat, world, batch, edges.keep[0], 0.0, stop)


@numba.njit(cache=True, error_model="numpy")
def edge_free(world: World, edges: Edges, a: FloatArray, b: FloatArray, finest: float) -> bool:
    """True when the straight motion from `a` to `b` is proved free with pieces of `finest` [rad] or longer."""
    apart()
    if edges.probes[0] >= edges.probes[1]:
        return False
    width = start_edge(edges, a, b)
    bits = sweep_all(world, edges, a, True)
    if bits <= 0:
        return bits == 0
    return _finish(world, edges, a, width, finest)


@numba.njit(error_model="numpy", inline="always")
def _finish(world: World, edges: Edges, a: FloatArray, width: float, finest: float) -> bool:
    """Prove what `sweep_all` left of the motion."""
    batch, low, high, count = edges.batch, edges.low, edges.high, edges.probes
    first, last = 0, 0
    for lane in range(LANES):
        last = _leave(edges, (lane + 0.5) / LANES, 0.5 / LANES, batch.ratio[lane], last)
    while first != last:
        if count[0] >= count[1]:
            return False
        taken = 0
        while taken < LANES and first != last:
            u, v = low[first], high[first]
            if (v - u) * width < finest:
                return False
            _put(batch, a, taken, 0.5 * (u + v), 0.5 * (v - u))
            first = (first + 1) % QUEUE
            taken += 1
        count[0] += taken
        for lane in range(taken, LANES):
            for i in range(a.size):
                batch.q[i * LANES + lane] = batch.q[i * LANES + taken - 1]
            batch.half[lane] = 0.0
        bits = sweep(edges.flat, world, batch, edges.keep[0], 0.0, True)
        if bits == COLLIDES:
            return False
        for lane in range(taken):
            if bits & (1 << lane):
                back = (first - taken + lane) % QUEUE
                u, v = low[back], high[back]
                last = _leave(edges, 0.5 * (u + v), 0.5 * (v - u), batch.ratio[lane], last)
                if last == back or (last - first) % QUEUE > QUEUE - 2 * LANES:
                    return False
    return True


@numba.njit(error_model="numpy", inline="always")
def _put(batch: Batch, a: FloatArray, lane: int, middle: float, half: float) -> None:
    for i in range(a.size):
        batch.q[i * LANES + lane] = a[i] + middle * batch.delta[i]
    batch.half[lane] = half


@numba.njit(error_model="numpy", inline="always")
def _leave(edges: Edges, middle: float, half: float, ratio: float, last: int) -> int:
    """Queue the ends of a piece that are not proved; the new end of the queue."""
    if ratio >= 1.0:
        return last
    free = SHRINK * ratio * half
    edges.low[last], edges.high[last] = middle - half, middle - free
    last = (last + 1) % QUEUE
    edges.low[last], edges.high[last] = middle + free, middle + half
    return (last + 1) % QUEUE


@numba.njit(error_model="numpy", inline="always")
def free_ends(world: World, edges: Edges, a: FloatArray, b: FloatArray) -> tuple[float, float]:
    """How far the motion from `a` to `b` is proved free from `a` on and back from `b`, 0 .. 1 of it; coarse."""
    start_edge(edges, a, b)
    bits = sweep_all(world, edges, a, False)
    if bits == 0:
        return 1.0, 0.0
    first, last = 0, LANES - 1
    while not bits & (1 << first):
        first += 1
    while not bits & (1 << last):
        last -= 1
    return first / LANES, (last + 1) / LANES


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
        elif step * width < 0.1 * finest:
            return -1
        else:
            step *= 0.5
    return count


class EdgeProver:
    """Proves straight motions and cells of one arm among obstacles. One thread."""

    def __init__(self, arm: Arm, world: World, finest: float = 1e-3) -> None:
        self.arm, self.world, self.finest = arm, world, finest
        self.at = places_of(arm)
        self.edges = edges_of(arm, world.kind.size)

    def free(self, a: FloatArray, b: FloatArray) -> bool:
        """True when the straight motion from `a` to `b` (n,) [rad] is proved free."""
        a, b = np.array(a, dtype=np.float64), np.array(b, dtype=np.float64)
        return bool(edge_free(self.world, self.edges, a, b, self.finest))

    def cell_free(self, q: FloatArray, half: FloatArray) -> bool:
        """True when every configuration within `half` (n,) [rad] of `q` is proved free."""
        q, half = np.array(q, dtype=np.float64), np.array(half, dtype=np.float64)
        return bool(probe(self.arm, self.world, self.at, q, half) >= 1.0)
