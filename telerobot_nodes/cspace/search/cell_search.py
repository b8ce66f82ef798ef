"""The complete search: A* [HartNilssonRaphael1968] over adjacent cells, halved where they are mixed.

A channel of cells that are not full is searched from start to goal; mixed cells cost more. Mixed cells on it are halved
and the search is repeated, until a channel of free cells is found or none is left. If start and goal lie in free cells,
every chain of cells of the finest size is then blocked by cells not proved free, so "no path at this resolution" is a
proof; else nothing is proved.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
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
    UNPROVED = "the cells of start or goal are not free at this resolution, so they prove nothing"
    SPENT = "the cells or the time allowed were used up before a channel was found"


@dataclass(frozen=True)
class Channel:
    """Free cells in order, each sharing a face with the next, and a path (k, n) [rad] inside them."""

    cells: tuple[int, ...]
    path: FloatArray


def search_cells(
    cells: CellDatabase,
    start: FloatArray,
    goal: FloatArray,
    finest: float,
    most: int,
    left: Callable[[], float] | None = None,
) -> Channel | Blocked:
    """A channel of free cells from `start` to `goal`, with cells down to half widths `finest` [rad].

    `most` bounds the cells of the database, `left` [s] the time.
    """
    while True:
        firsts, lasts = cells.leaves(start), cells.leaves(goal)
        chain = _best_chain(cells, firsts, lasts, goal, finest)
        if not chain:
            proved = all(any(cells.status[c] == FREE for c in ends) for ends in (firsts, lasts))
            return Blocked.NO_PATH if proved else Blocked.UNPROVED
        mixed = [cell for cell in chain if cells.status[cell] == MIXED]
        if not mixed:
            return Channel(tuple(chain), _path_in(cells, chain, start, goal))
        if len(cells) + 2 * len(mixed) > most or (left is not None and left() <= 0.0):
            return Blocked.SPENT
        for cell in mixed:
            cells.halve(cell)


def reachable(cells: CellDatabase, q: FloatArray, finest: float) -> set[int]:
    """Leaves that chains of cells not proved full, nor mixed at the finest size, join with that of `q`."""
    seen, stack = set(), cells.leaves(q)
    while stack:
        cell = stack.pop()
        if cell in seen or not _passable(cells, cell, finest):
            continue
        seen.add(cell)
        stack += cells.neighbours(cell)
    return seen


def separated(cells: CellDatabase, start: FloatArray, goal: FloatArray) -> bool:
    """True when cells in which the arm collides everywhere separate start and goal: proved, at any resolution."""
    seen: set[int] = set()
    stack, ends = cells.leaves(start), set(cells.leaves(goal))
    while stack:
        cell = stack.pop()
        if cell in seen or cells.status[cell] == FULL:
            continue
        if cell in ends:
            return False
        seen.add(cell)
        stack += cells.neighbours(cell)
    return True


def _passable(cells: CellDatabase, cell: int, finest: float) -> bool:
    status = cells.status[cell]
    return status == FREE or (status != FULL and not cells.is_finest(cell, finest))


def _best_chain(cells: CellDatabase, firsts: list[int], lasts: list[int], goal: FloatArray, finest: float) -> list[int]:
    """Cheapest chain of passable leaves by A* [HartNilssonRaphael1968]; empty if there is none."""
    begins = [cell for cell in firsts if _passable(cells, cell, finest)]
    ends = {cell for cell in lasts if _passable(cells, cell, finest)}
    cost, came, closed = dict.fromkeys(begins, 0.0), dict.fromkeys(begins, -1), set()
    heap = [(0.0, cell) for cell in begins] if ends else []
    while heap:
        _, cell = heapq.heappop(heap)
        if cell in ends:
            return _back(came, cell)
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
