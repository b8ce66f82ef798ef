"""The complete search: A* [HartNilssonRaphael1968] over adjacent cells, halved where they are mixed.

A channel of cells that are not full is searched from start to goal; mixed cells cost more. Mixed cells on it are halved
and the search is repeated, until a channel of free cells is found or none is left. Then every chain of cells of the
finest size is blocked by cells not proved free, so "no path at this resolution" is a proof.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

import numpy as np

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.cspace.search.cells import FREE, FULL, MIXED, CellDatabase

MIXED_PRICE = 4.0  # [-] times the way through a mixed cell, by which free ones are preferred


class Blocked(Enum):
    """Why there is no channel."""

    NO_PATH = "no chain of cells that may be free joins start and goal at this resolution"
    SPENT = "the cells allowed were made before a channel was found"


@dataclass(frozen=True)
class Channel:
    """Free cells in order, each sharing a face with the next, and a path (k, n) [rad] inside them."""

    cells: tuple[int, ...]
    path: FloatArray


def search_cells(
    cells: CellDatabase, start: FloatArray, goal: FloatArray, finest: float, most: int
) -> Channel | Blocked:
    """A channel of free cells from `start` to `goal`, with cells down to half widths `finest` [rad].

    `most` bounds the cells of the database.
    """
    while True:
        first, last = cells.leaf(start), cells.leaf(goal)
        chain = _best_chain(cells, first, last, goal, finest)
        if not chain:
            return Blocked.NO_PATH
        mixed = [cell for cell in chain if cells.status[cell] == MIXED]
        if not mixed:
            return Channel(tuple(chain), _path_in(cells, chain, start, goal))
        if len(cells) + 2 * len(mixed) > most:
            return Blocked.SPENT
        for cell in mixed:
            cells.halve(cell)


def reachable(cells: CellDatabase, q: FloatArray, finest: float) -> set[int]:
    """Leaves that chains of cells not proved full, nor mixed at the finest size, join with that of `q`."""
    seen, stack = set(), [cells.leaf(q)]
    while stack:
        cell = stack.pop()
        if cell in seen or not _passable(cells, cell, finest):
            continue
        seen.add(cell)
        stack += cells.neighbours(cell)
    return seen


def _passable(cells: CellDatabase, cell: int, finest: float) -> bool:
    status = cells.status[cell]
    return status == FREE or (status != FULL and not cells.is_finest(cell, finest))


def _best_chain(cells: CellDatabase, first: int, last: int, goal: FloatArray, finest: float) -> list[int]:
    """Cheapest chain of passable leaves by A* [HartNilssonRaphael1968]; empty if there is none."""
    if not (_passable(cells, first, finest) and _passable(cells, last, finest)):
        return []
    cost, came, closed = {first: 0.0}, {first: -1}, set()
    heap = [(0.0, first)]
    while heap:
        _, cell = heapq.heappop(heap)
        if cell == last:
            return _back(came, last)
        if cell in closed:
            continue
        closed.add(cell)
        for other in cells.neighbours(cell):
            if other in closed or not _passable(cells, other, finest):
                continue
            price = MIXED_PRICE if cells.status[other] == MIXED else 1.0
            step = cost[cell] + price * float(np.linalg.norm(cells.center[other] - cells.center[cell]))
            if step < cost.get(other, np.inf):
                cost[other], came[other] = step, cell
                heapq.heappush(heap, (step + float(np.linalg.norm(cells.center[other] - goal)), other))
    return []


def _back(came: dict[int, int], cell: int) -> list[int]:
    chain = []
    while cell >= 0:
        chain.append(cell)
        cell = came[cell]
    return chain[::-1]


def _path_in(cells: CellDatabase, chain: list[int], start: FloatArray, goal: FloatArray) -> FloatArray:
    """Waypoints on the faces between neighbours: each motion stays in one (convex) cell."""
    path, q = [start], start
    for cell, other in pairwise(chain):
        low = np.maximum(cells.center[cell] - cells.half[cell], cells.center[other] - cells.half[other])
        high = np.minimum(cells.center[cell] + cells.half[cell], cells.center[other] + cells.half[other])
        shrink = np.minimum(0.05 * (high - low), 0.02)
        q = np.clip(q, np.minimum(low + shrink, high), np.maximum(high - shrink, low))
        path.append(q)
    return np.array([*path, goal])
