"""The judge of a trial: which targets the actual arm has passed, as the operator sees it, and how the trial ends.

What belongs here: positions, times, targets. What must never enter: the display, the graph, clocks.
"""

from __future__ import annotations

from enum import Enum

import numpy as np

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.study.design.conditions import TOUCH_COST
from telerobot_nodes.study.design.operator import Goal
from telerobot_nodes.study.design.tasks import Task

SETTLE = 0.2  # [s] the arm must be seen inside the last target


class Ending(Enum):
    """How a trial ended."""

    REACHED = "reached"
    TIMED_OUT = "timed out"
    ABANDONED = "abandoned"


class Judge:
    """One trial of `task`, from when the operator first sees the targets, `begun` [s].

    `start` (3,) [m]: tool then, in WORLD; `limit` [s]: longest trial.
    """

    def __init__(self, task: Task, seed: int, start: FloatArray, begun: float, limit: float) -> None:
        self.goals = task.goals(seed, start)
        self.done = 0  # targets that the arm has passed, in their order
        self.touches = 0  # of the plate
        self.ending: Ending | None = None
        self.elapsed = 0.0  # [s]
        self._task, self._start, self._begun, self._limit = task, np.array(start), begun, limit
        self._seen = np.array(start)
        self._touching, self._moved = False, task.moves is None
        self._inside: float | None = None  # [s] since when the arm is in the last target

    @property
    def plate(self) -> float | None:
        """Height of the plate in WORLD [m]; None: there is none."""
        return None if self._task.plate is None else float(self._start[2]) + self._task.plate

    def see(self, now: float, arm: FloatArray) -> None:
        """The operator sees the actual tool at `arm` (3,) [m] in WORLD at `now` [s]."""
        if self.ending is not None:
            return
        self.elapsed = now - self._begun
        self._watch_plate(arm)
        self._pass_targets(arm)
        self._move_targets()
        self._seen = np.array(arm)
        self._watch_last(now, arm)
        if self.ending is None and self.elapsed >= self._limit:
            self.ending, self.elapsed = Ending.TIMED_OUT, self._limit

    def abandon(self, now: float) -> None:
        """The operator gives up."""
        if self.ending is None:
            self.elapsed, self.ending = now - self._begun, Ending.ABANDONED

    def seconds(self, round_trip: float) -> float | None:
        """Task time [s], touches of the plate included; None: the last target was not reached."""
        if self.ending is not Ending.REACHED:
            return None
        return round(self.elapsed + self.touches * (TOUCH_COST + round_trip), 2)

    def planned(self, path: FloatArray) -> int:
        """Targets passed once the arm has executed `path` (n, 3) [m], the plan ahead of it."""
        done, begin = self.done, 0
        points = np.concatenate((self._seen[None], path))
        while done < len(self.goals) - 1:
            goal, rest = self.goals[done], points[begin:]
            if len(rest) < 2:
                break
            near = np.flatnonzero(_distances(goal.position, rest[:-1], rest[1:]) <= 0.5 * goal.width)
            if near.size == 0:
                break
            done, begin = done + 1, begin + int(near[0])
        last = self.goals[-1]
        at_last = done == len(self.goals) - 1 and _is_in(points[-1], last)
        return done + int(at_last)

    def _watch_plate(self, arm: FloatArray) -> None:
        if self.plate is not None:
            below = bool(arm[2] < self.plate)
            self.touches += below and not self._touching
            self._touching = below

    def _pass_targets(self, arm: FloatArray) -> None:
        """Pass the targets on the straight way since the last sight; the last one is for `_watch_last`."""
        begin, end = self._seen[None], np.array(arm)[None]
        while self.done < len(self.goals) - 1:
            goal = self.goals[self.done]
            if float(_distances(goal.position, begin, end)[0]) > 0.5 * goal.width:
                return
            self.done += 1

    def _move_targets(self) -> None:
        move = self._task.moves
        if move is not None and not self._moved and self.done > move.passed:
            self._moved = True
            self.goals = self._task.moved(self.goals)
            self.done = min(self.done, move.first)

    def _watch_last(self, now: float, arm: FloatArray) -> None:
        if self.done < len(self.goals) - 1 or not _is_in(arm, self.goals[-1]):
            self._inside = None
        elif self._inside is None:
            self._inside = now
        elif now - self._inside >= SETTLE:
            self.done, self.ending = len(self.goals), Ending.REACHED


def _is_in(point: FloatArray, goal: Goal) -> bool:
    return float(np.linalg.norm(point - goal.position)) <= 0.5 * goal.width


def _distances(point: FloatArray, begins: FloatArray, ends: FloatArray) -> FloatArray:
    """(n,) [m] from `point` (3,) to the stretches from `begins` to `ends` (n, 3)."""
    way = ends - begins
    length = np.einsum("ij,ij->i", way, way)
    along = np.einsum("ij,ij->i", point - begins, way) / np.where(length > 0.0, length, 1.0)
    nearest = begins + np.clip(along, 0.0, 1.0)[:, None] * way
    return np.asarray(np.linalg.norm(nearest - point, axis=1))
