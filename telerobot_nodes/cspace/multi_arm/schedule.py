"""Schedules of several arms on their own paths: the quickest monotone way through the coordination space.

Each arm has a timed path that is free of the stationary world. A third arm and further ones are scheduled against the
ones before them as a whole. `right_of_way` keeps arms to a schedule whatever delays them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, pairwise

import numba
import numpy as np

from telerobot_nodes.core.timing import TimedPath
from telerobot_nodes.core.values import FloatArray, IntArray, in_range
from telerobot_nodes.cspace.geometry import ArmGeometry
from telerobot_nodes.cspace.multi_arm.coordination_space import BoolArray, blocked_cells, tick_times

NEVER = np.iinfo(np.int64).max // 2


@dataclass(frozen=True)
class Schedule:
    """For every tick of `period` [s] the tick of its own timing that each arm has reached (ticks, arms).

    `times[i]` [s]: when arm i alone would reach its ticks; `blocked[i, j]`: cells of the coordination space of arms
    i < j that are not proved free.
    """

    period: float
    ticks: IntArray
    times: tuple[FloatArray, ...] = ()
    blocked: Mapping[tuple[int, int], BoolArray] = field(default_factory=dict)

    @property
    def duration(self) -> float:
        """Time [s] until all have arrived."""
        return self.period * (len(self.ticks) - 1)


def coordinate(
    geometries: Sequence[ArmGeometry],
    timed: Sequence[TimedPath],
    margin: float = 0.01,
    period: float = 0.02,
    start_last: int = 0,
) -> Schedule | None:
    """A schedule in which the arms stay `margin` [m] apart, the earlier in the list first; None when there is none.

    The last arm begins when the others are `start_last` ticks along their paths.
    """
    return scheduled(unscheduled(geometries, timed, margin, period), start_last)


def unscheduled(
    geometries: Sequence[ArmGeometry], timed: Sequence[TimedPath], margin: float = 0.01, period: float = 0.02
) -> Schedule:
    """The coordination spaces of every two arms, without ticks yet. Raises InvalidValueError."""
    in_range(margin, "margin", 0.0, 0.5, "m")
    in_range(period, "period", 1e-3, 1.0, "s")
    times = tuple(tick_times(path, period) for path in timed)
    rows = [np.array([path.at(t)[0] for t in row]) for path, row in zip(timed, times, strict=True)]
    held = [np.repeat(row, 2, axis=0) for row in rows]  # each tick twice: rest (even) and motion (odd) in turn
    blocked = {
        (i, j): blocked_cells(geometries[i], held[i], geometries[j], held[j], margin)
        for i, j in combinations(range(len(timed)), 2)
    }
    return Schedule(period, np.zeros((0, len(timed)), dtype=np.int64), times, blocked)


def scheduled(planes: Schedule, start_last: int = 0) -> Schedule | None:
    """The quickest schedule through the coordination spaces; None when there is none."""
    ticks = np.arange(len(planes.times[0])).reshape(-1, 1)
    arms = len(planes.times)
    for k in range(1, arms):
        start = min(start_last, len(ticks) - 1) if k == arms - 1 else 0
        steps = monotone(_against(ticks, [planes.blocked[i, k] for i in range(k)]), start)
        if steps is None:
            return None
        ticks = np.column_stack([ticks[steps[:, 0]], steps[:, 1]])
    return replace(planes, ticks=ticks)


def taking_turns(schedule: Schedule) -> Schedule | None:
    """The same two paths with one arm moving at a time and as few changes as possible; None when there is none."""
    blocked = schedule.blocked[0, 1]
    left = _steps_left(blocked, False)
    found = [ticks for first in (0, 1) if (ticks := _in_turns(blocked, left, first)) is not None]
    if not found:
        return None
    ticks = min(found, key=lambda ticks: int(np.count_nonzero(np.diff(np.diff(ticks[:, 0])))))
    return Schedule(schedule.period, ticks, schedule.times, schedule.blocked)


def _in_turns(blocked: BoolArray, left: IntArray, mover: int) -> IntArray | None:
    """Ticks (m, 2) of single moves that stay with one arm while the end can be reached so; None when there are none."""
    if left[0, 0] >= NEVER:
        return None
    node = [0, 0]
    rows = [tuple(node)]
    while left[node[0], node[1]] > 0:
        for arm in (mover, 1 - mover):
            there = [node[0] + (arm == 0), node[1] + (arm == 1)]
            between = [2 * node[0] + (arm == 0), 2 * node[1] + (arm == 1)]
            within = there[0] < left.shape[0] and there[1] < left.shape[1]
            if within and not blocked[between[0], between[1]] and left[there[0], there[1]] < NEVER:
                node, mover = there, arm
                break
        rows.append(tuple(node))
    return np.array(rows, dtype=np.int64)


def _against(ticks: IntArray, blocked: Sequence[BoolArray]) -> BoolArray:
    """Blocked cells of a schedule (rows, arms) and one more arm, from the spaces of that arm with each of those."""
    out = np.zeros((2 * len(ticks) - 1, blocked[0].shape[1]), dtype=np.bool_)
    for column, plane in enumerate(blocked):
        own = ticks[:, column]
        out[::2] |= plane[2 * own]
        out[1::2] |= plane[2 * own[:-1] + np.diff(own)]
    return out


def monotone(blocked: BoolArray, start: int = 0) -> IntArray | None:
    """Shortest monotone path (m, 2) of ticks from (start, 0) to the end; None when there is none."""
    left = _steps_left(blocked, True)
    i, j = start, 0
    if left[i, j] >= NEVER:
        return None
    rows = [(i, j)]
    while left[i, j] > 0:
        for di, dj in ((1, 1), (1, 0), (0, 1)):
            within = i + di < left.shape[0] and j + dj < left.shape[1]
            free = within and (not blocked[2 * i + di, 2 * j + dj] if di + dj < 2 else _diagonal(blocked, i, j) > 0)
            if free and left[i + di, j + dj] == left[i, j] - 1:
                i, j = i + di, j + dj
                break
        rows.append((i, j))
    return np.array(rows, dtype=np.int64)


@numba.njit(cache=True, error_model="numpy")
def _diagonal(blocked: BoolArray, i: int, j: int) -> int:
    """Which arm may go first from ticks (i, j) to the next ones, 1 or 2, when both may also go at once; 0: none."""
    a, b = 2 * i, 2 * j
    if blocked[a + 1, b + 1] or blocked[a + 2, b + 2]:
        return 0
    if not (blocked[a + 1, b] or blocked[a + 2, b] or blocked[a + 2, b + 1]):
        return 1
    if not (blocked[a, b + 1] or blocked[a, b + 2] or blocked[a + 1, b + 2]):
        return 2
    return 0


def single_moves(blocked: BoolArray, ticks: IntArray) -> IntArray:
    """The schedule `ticks` (m, 2) with one arm moving at a time, as each step of both at once allows."""
    rows = [ticks[0]]
    for row, after in pairwise(ticks):
        if (after > row).all():
            rows.append(row + ([1, 0] if _diagonal(blocked, int(row[0]), int(row[1])) == 1 else [0, 1]))
        rows.append(after)
    return np.array(rows, dtype=np.int64)


@numba.njit(cache=True, error_model="numpy")
def _steps_left(blocked: BoolArray, together: bool) -> IntArray:
    """Fewest steps from every pair of ticks to the last one; `NEVER`: the end cannot be reached."""
    n, m = (blocked.shape[0] + 1) // 2, (blocked.shape[1] + 1) // 2
    left = np.full((n, m), NEVER, dtype=np.int64)
    for i in range(n - 1, -1, -1):
        for j in range(m - 1, -1, -1):
            if blocked[2 * i, 2 * j]:
                continue
            if i == n - 1 and j == m - 1:
                left[i, j] = 0
            if together and i + 1 < n and j + 1 < m and _diagonal(blocked, i, j) > 0:
                left[i, j] = min(left[i, j], left[i + 1, j + 1] + 1)
            if i + 1 < n and not blocked[2 * i + 1, 2 * j]:
                left[i, j] = min(left[i, j], left[i + 1, j] + 1)
            if j + 1 < m and not blocked[2 * i, 2 * j + 1]:
                left[i, j] = min(left[i, j], left[i, j + 1] + 1)
            left[i, j] = min(left[i, j], NEVER)
    return left
