"""Right of way: how far each arm may go along its path now, so that arms keep to a schedule despite any delay.

A schedule is a path through the coordination space at its own pace; arms in motion are pushed, lag and stop. What must
be kept is the order: which of two arms first passes a place where both would meet. Every cell not proved free lies on
one side of the schedule. Above it, at (a, b), the second arm may not reach b before the first has passed a; below it,
the other way round. An arm is granted its path up to the first such cell. So the rectangle between where two arms are
and where they may go is always free; and since one sequence of single moves keeps every order, two arms never wait
for each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from telerobot_nodes.core.values import FloatArray, IntArray
from telerobot_nodes.cspace.multi_arm.coordination_space import BoolArray
from telerobot_nodes.cspace.multi_arm.schedule import Schedule, single_moves
from telerobot_nodes.errors import InvalidValueError

ON_TICK = 1e-9  # [s]


class Granting(Protocol):
    """Something that limits how far arms may go."""

    def grant(self, clocks: Sequence[float]) -> list[float]:
        """Times [s] along its own path up to which each arm, now at `clocks` [s], may go."""


class RightOfWay:
    """The order of a schedule, kept at any pace."""

    def __init__(self, schedule: Schedule) -> None:
        arms = schedule.ticks.shape[1]
        if len(schedule.times) != arms or len(schedule.blocked) != arms * (arms - 1) // 2:
            raise InvalidValueError("schedule", len(schedule.blocked), "allowed: one with times and planes of all arms")
        self._times = schedule.times
        self._until: list[tuple[int, int, IntArray]] = []  # arm, the arm it waits for, its first cell barred
        for (i, j), plane in schedule.blocked.items():
            cells = _cells(single_moves(plane, schedule.ticks[:, [i, j]]))
            self._until.append((j, i, _barred(plane, cells)))
            self._until.append((i, j, _barred(plane.T, cells[:, ::-1])))

    def grant(self, clocks: Sequence[float]) -> list[float]:
        """Times [s] along its own path up to which each arm, now at `clocks` [s], may go."""
        now = [_cell(times, clock) for times, clock in zip(self._times, clocks, strict=True)]
        last = [len(times) - 1 for times in self._times]
        for arm, other, until in self._until:
            last[arm] = min(last[arm], (int(until[now[other]]) - 1) // 2)
        return [float(times[max(k, 0)]) for times, k in zip(self._times, last, strict=True)]


class InTurns:
    """A schedule in which one arm moves at a time, kept so: the next one starts when the one before has stopped."""

    def __init__(self, schedule: Schedule) -> None:
        moves = np.diff(schedule.ticks, axis=0)
        if (np.count_nonzero(moves, axis=1) > 1).any():
            raise InvalidValueError("schedule", "arms that move at once", "allowed: one at a time")
        change = np.flatnonzero(np.abs(np.diff(moves, axis=0)).sum(axis=1)) + 1
        self._turns = schedule.ticks[[*change.tolist(), len(schedule.ticks) - 1]]
        self._times, self._turn = schedule.times, 0

    def grant(self, clocks: Sequence[float]) -> list[float]:
        """Times [s] along its own path up to which each arm, now at `clocks` [s], may go."""
        granted = self._granted()
        if self._turn + 1 < len(self._turns) and all(c >= g - ON_TICK for c, g in zip(clocks, granted, strict=True)):
            self._turn += 1
            granted = self._granted()
        return granted

    def _granted(self) -> list[float]:
        return [float(times[k]) for times, k in zip(self._times, self._turns[self._turn], strict=True)]


def _cells(ticks: IntArray) -> IntArray:
    """Cells (m, 2) of a plane that a schedule passes: rest at every row, motion between rows."""
    rest, moving = 2 * ticks, 2 * ticks[:-1] + np.diff(ticks, axis=0)
    return np.vstack([rest, moving])


def _barred(plane: BoolArray, cells: IntArray) -> IntArray:
    """For each cell of the first arm the first cell of the second one that is barred until the first has passed.

    That is the lowest one not proved free above the schedule, in this column of the plane or any later one.
    """
    above = np.full(plane.shape[0], cells[0, 1], dtype=np.int64)  # before the schedule begins as at its beginning
    np.maximum.at(above, cells[:, 0], cells[:, 1])
    free = ~plane | (np.arange(plane.shape[1]) <= above[:, None])
    first = np.where(free.all(axis=1), 2 * plane.shape[1], np.argmin(free, axis=1))
    return np.minimum.accumulate(first[::-1])[::-1]


def _cell(times: FloatArray, clock: float) -> int:
    """The cell of a plane's axis an arm is in: 2 k at tick k, 2 k + 1 between k and k + 1."""
    k = max(int(np.searchsorted(times, clock + ON_TICK, side="right")) - 1, 0)
    return 2 * k if clock <= times[k] + ON_TICK or k + 1 >= len(times) else 2 * k + 1
