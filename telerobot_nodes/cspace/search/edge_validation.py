"""Edge validation: straight motions in joint space proved free, and the cells that cover them.

The search validates sixteen pieces of a motion at a time (`check_batch`, a continuous collision check). Where a piece
is proved free only in part, its ends are validated again: bisection by conservative advancement [Mirtich1996].
`cover_edge` makes the cells (boxes in joint space, `clearance.probe`) that prove a motion in its certificate.
A probe is one collision check of a piece or a cell; budgets are counted in probes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.cspace.geometry import MOST_OBSTACLES, Arm, LinkPoses, World, probe
from telerobot_nodes.cspace.simd import (
    COLLIDES,
    LANES,
    Arm32,
    Batch,
    arm32_of,
    batch_of,
    bound_motion,
    check_batch,
    noinline,
)

PIECE = 0.3  # [rad] longest piece of a certificate
GROWTH = 1.6  # [-] of a piece over the one before it that was proved
SLIVER = 1e-6  # [-] of what is left of a motion: less is no piece of its own
LESS, LEAST = 0.95, 0.3  # [-] of the part of a piece that its bounds allow, tried next; at least this much of the piece
QUEUE = 512  # pieces of one edge that wait
SHRINK = 0.999  # [-] of a free part that is used
RESERVE = 3e-4  # [m] kept by the search beyond the margin: for single precision, and cells not too small
EFFORT = np.dtype([("probes", np.int64), ("budget", np.int64), ("reserve", np.float64)])


class Edges(NamedTuple):
    """Scratch memory of one thread for edge validation."""

    arm32: Arm32
    batch: Batch
    low: FloatArray  # (QUEUE,) pieces still to validate, in 0 .. 1 of the edge
    high: FloatArray  # (QUEUE,)
    effort: Any  # record: probes so far; budget of probes; reserve [m] kept beyond the margins


def edges_of(arm: Arm, obstacles: int = MOST_OBSTACLES) -> Edges:
    """Scratch memory for `arm` among up to `obstacles`, with an unlimited budget."""
    effort = np.zeros(1, EFFORT).view(np.recarray)[0]
    effort.budget, effort.reserve = np.iinfo(np.int64).max, RESERVE
    return Edges(arm32_of(arm), batch_of(arm, obstacles), np.zeros(QUEUE), np.zeros(QUEUE), effort)


@numba.njit(cache=True, error_model="numpy")
def largest_turn(delta: FloatArray) -> float:
    """Largest absolute component [rad] of `delta` (n,)."""
    largest = 0.0
    for i in range(delta.size):
        largest = max(largest, abs(delta[i]))
    return largest


@numba.njit(error_model="numpy", inline="always")
def start_edge(edges: Edges, start: FloatArray, end: FloatArray) -> float:
    """Prepare the validation of the motion from `start` to `end` (n,) [rad]; return its largest turn [rad]."""
    delta = edges.batch.delta
    for i in range(start.size):
        delta[i] = end[i] - start[i]
    bound_motion(edges.arm32, edges.batch)
    return largest_turn(delta)


@numba.njit(error_model="numpy", inline="always")
def check_whole_edge(world: World, edges: Edges, start: FloatArray, stop: bool) -> int:
    """`check_batch` of the whole motion in `LANES` equal pieces."""
    batch = edges.batch
    for i in range(start.size):
        origin, step = start[i], batch.delta[i] / LANES
        for lane in range(LANES):
            batch.q[i * LANES + lane] = origin + (lane + 0.5) * step
    for lane in range(LANES):
        batch.half[lane] = 0.5 / LANES
    edges.effort.probes += LANES
    return int(check_batch(edges.arm32, world, batch, edges.effort.reserve, 0.0, stop))


@numba.njit(cache=True, error_model="numpy")
def edge_free(world: World, edges: Edges, start: FloatArray, end: FloatArray, finest: float) -> bool:
    """True when the straight motion from `start` to `end` is proved free with pieces of `finest` [rad] or longer."""
    noinline()
    if edges.effort.probes >= edges.effort.budget:
        return False
    width = start_edge(edges, start, end)
    bits = check_whole_edge(world, edges, start, True)
    if bits <= 0:
        return bits == 0
    return _bisect(world, edges, start, width, finest)


@numba.njit(error_model="numpy", inline="always")
def _bisect(world: World, edges: Edges, start: FloatArray, width: float, finest: float) -> bool:
    """Validate what `check_whole_edge` left of a motion of largest turn `width` [rad]."""
    batch, effort, first, last = edges.batch, edges.effort, 0, 0
    for lane in range(LANES):
        last = _enqueue_ends(edges, (lane + 0.5) / LANES, 0.5 / LANES, batch.ratio[lane], last)
    while first != last:
        if effort.probes >= effort.budget:
            return False
        taken = _load_pieces(edges, start, first, last, width, finest)
        if taken == 0:
            return False
        effort.probes += taken
        bits = check_batch(edges.arm32, world, batch, effort.reserve, 0.0, True)
        if bits == COLLIDES:
            return False
        first = (first + taken) % QUEUE
        for lane in range(taken):
            if bits & (1 << lane):
                piece = (first - taken + lane) % QUEUE
                low, high = edges.low[piece], edges.high[piece]
                last = _enqueue_ends(edges, 0.5 * (low + high), 0.5 * (high - low), batch.ratio[lane], last)
                if last == piece or (last - first) % QUEUE > QUEUE - 2 * LANES:
                    return False
    return True


@numba.njit(error_model="numpy", inline="always")
def _load_pieces(edges: Edges, start: FloatArray, first: int, last: int, width: float, finest: float) -> int:
    """Put up to LANES waiting pieces into the batch; their number, 0 when one is shorter than `finest` [rad]."""
    batch, taken = edges.batch, 0
    while taken < LANES and first != last:
        low, high = edges.low[first], edges.high[first]
        if (high - low) * width < finest:
            return 0
        for i in range(start.size):
            batch.q[i * LANES + taken] = start[i] + 0.5 * (low + high) * batch.delta[i]
        batch.half[taken] = 0.5 * (high - low)
        first = (first + 1) % QUEUE
        taken += 1
    for lane in range(taken, LANES):
        for i in range(start.size):
            batch.q[i * LANES + lane] = batch.q[i * LANES + taken - 1]
        batch.half[lane] = 0.0
    return taken


@numba.njit(error_model="numpy", inline="always")
def _enqueue_ends(edges: Edges, middle: float, half: float, ratio: float, last: int) -> int:
    """Append the ends of a piece of which only the middle `ratio` is proved free; the new end of the queue."""
    if ratio >= 1.0:
        return last
    free = SHRINK * ratio * half
    edges.low[last], edges.high[last] = middle - half, middle - free
    last = (last + 1) % QUEUE
    edges.low[last], edges.high[last] = middle + free, middle + half
    return (last + 1) % QUEUE


@numba.njit(error_model="numpy", inline="always")
def free_ends(world: World, edges: Edges, start: FloatArray, end: FloatArray) -> tuple[float, float]:
    """Up to where a motion is free from its start, and from where on it is free to its end: 0 .. 1, in sixteenths."""
    start_edge(edges, start, end)
    bits = check_whole_edge(world, edges, start, False)
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
    poses: LinkPoses,
    start: FloatArray,
    end: FloatArray,
    finest: float,
    low: FloatArray,
    high: FloatArray,
) -> int:
    """Cover a motion with pieces, each inside a free cell, in order into `low`, `high` (0 .. 1); -1: not proved."""
    delta = end - start
    width = max(largest_turn(delta), 1e-12)
    done, step, count = 0.0, min(1.0, PIECE / width), 0
    while done < 1.0:
        rest = 1.0 - done
        step = rest if step > (1.0 - SLIVER) * rest else step
        ratio = _piece_ratio(arm, world, poses, start, delta, done, done + step)
        if ratio >= 1.0:
            if count == low.size:
                return -1
            low[count] = done
            done = 1.0 if step >= rest else done + step
            high[count] = done
            count += 1
            step *= GROWTH
        elif ratio <= 0.0 or step * width < 0.1 * finest:
            return -1
        else:
            step *= max(LESS * ratio, LEAST)
    return count


@numba.njit(cache=True, error_model="numpy")
def _piece_ratio(
    arm: Arm, world: World, poses: LinkPoses, start: FloatArray, delta: FloatArray, low: float, high: float
) -> float:
    """`probe` of the cell that holds the piece low .. high of the line start + t delta."""
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    for i in range(start.size):
        poses.middle[i] = start[i] + middle * delta[i]
        poses.half[i] = abs(half * delta[i])
    return probe(arm, world, poses, poses.middle, poses.half)


class EdgeValidator:
    """Proves straight motions of one arm among obstacles. One thread."""

    def __init__(self, arm: Arm, world: World, finest: float = 1e-3) -> None:
        """`finest` [rad]: shortest piece of a motion that is validated."""
        self._world, self._finest = world, finest
        self._edges = edges_of(arm, world.kind.size)

    def free(self, start: FloatArray, end: FloatArray) -> bool:
        """True when the straight motion from `start` to `end` (n,) [rad] is proved free."""
        start, end = np.array(start, dtype=np.float64), np.array(end, dtype=np.float64)
        return bool(edge_free(self._world, self._edges, start, end, self._finest))
