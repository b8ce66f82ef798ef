"""Multi-arm planner of the node: each arm is planned in its own configuration space, then coordinated [US5347459].

Prioritized planning: an arm that starts earlier goes first, then the order of the goals counts. For two arms these
strategies are tried: together: planned without each other, waiting at waypoints; in turns: the first avoids where
the second stands, the second where the first ends; around: the second avoids everything that the first sweeps.
Further arms avoid what the earlier ones sweep. `multi_arm.dual_arm_planner` is the benchmark's scheduler.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from telerobot_nodes.core.timing import TimedPath, time_path
from telerobot_nodes.core.values import FloatArray, IntArray
from telerobot_nodes.cspace.geometry import Obstacle
from telerobot_nodes.cspace.multi_arm import swept_obstacles, unscheduled
from telerobot_nodes.cspace.search import Plan, Planner
from telerobot_nodes.cspace.service.arm_planning import ArmPlanning
from telerobot_nodes.cspace.service.requests import Goal, PlanAnswer, PlannedPath, PlanRequest, Result
from telerobot_nodes.cspace.service.waiting_schedule import follow_schedule, schedule_waits

TICK_MOTION = 0.006  # [m] by which a tick of an arm's motion is larger than the arm


@dataclass(frozen=True)
class Planned:
    """The plan of one arm alone, with its timing."""

    goal: Goal
    planner: Planner
    plan: Plan
    timed: TimedPath


def plan_together(service: ArmPlanning, request: PlanRequest, goals: tuple[Goal, ...]) -> PlanAnswer:
    """Paths of every goal in one time base, or why there are none."""
    return _Team(service, request, goals).answer()


class _Team:
    """One request for several arms."""

    def __init__(self, service: ArmPlanning, request: PlanRequest, goals: tuple[Goal, ...]) -> None:
        self._service, self._request = service, request
        self._goals = sorted(goals, key=lambda goal: goal.start_time)
        self._still = service.others(goals, request.standing)
        self._tried: list[str] = []
        self._last = Result.NO_PATH

    def answer(self) -> PlanAnswer:
        """Paths, or the reason why there are none."""
        alone = [self._alone(goal, []) for goal in self._goals]
        there = [entry for entry in alone if entry is not None]
        if len(there) < len(alone):
            return self._failed()
        if len(there) == 2:
            for way, pair in self._ways(there):
                paths = self._scheduled(pair)
                if paths is not None:
                    answer = self._service.answer(paths, {"ticks": float(len(paths[0].times))})
                    return replace(answer, message=f"{way}, {paths[0].times[-1]:.2f} s in all; {answer.message}")
                self._tried.append(f"{way}: no schedule")
        return self._around(there[0])

    def _alone(self, goal: Goal, others: list[Obstacle]) -> Planned | None:
        """A path of one arm around `others`; None, and why is noted."""
        planner, plan = self._service.plan_goal(goal, self._request, self._still + others)
        if not plan.found:
            self._tried.append(f"arm {goal.arm}: {plan.outcome.value}: {plan.reason}")
            self._last = Result(plan.outcome.value)
            return None
        limits = planner.geometry.robot.limits
        return Planned(goal, planner, plan, time_path(plan.path, limits, speed=self._request.speed))

    def _ways(self, alone: list[Planned]) -> Iterator[tuple[str, list[Planned]]]:
        """Pairs of paths, the most promising first."""
        yield "together", alone
        orders = ((0, 1),) if self._goals[1].start_time > self._goals[0].start_time else ((0, 1), (1, 0))
        for a, b in orders:
            first = self._alone(self._goals[a], self._standing(self._goals[b], self._goals[b].start))
            if first is None:
                continue
            second = self._alone(self._goals[b], self._standing(self._goals[a], first.plan.path[-1]))
            if second is not None:
                yield "in turns", [first, second] if a == 0 else [second, first]

    def _standing(self, goal: Goal, q: FloatArray) -> list[Obstacle]:
        """An arm that stands, larger by what arms keep from each other beyond the margin, and a tick's motion."""
        settings = self._service.settings
        return self._service.body(goal.arm, q, max(settings.apart - settings.planner.margin, 0.0) + TICK_MOTION)

    def _scheduled(self, pair: list[Planned]) -> tuple[PlannedPath, ...] | None:
        """Both paths in one time base; None when they cannot be put in time."""
        settings = self._service.settings
        first, second = (entry.timed for entry in pair)
        geometries = [entry.planner.geometry for entry in pair]
        planes = unscheduled(geometries, [first, second], settings.apart, settings.sample_period)
        late = round((pair[1].goal.start_time - pair[0].goal.start_time) / settings.sample_period)
        ticks = schedule_waits(planes.blocked[0, 1], first, second, settings.sample_period, late)
        if ticks is None:
            return None
        return tuple(self._in_time(entry, ticks[:, i]) for i, entry in enumerate(pair))

    def _in_time(self, entry: Planned, ticks: IntArray) -> PlannedPath:
        period = self._service.settings.sample_period
        positions, velocities = follow_schedule(entry.timed, ticks, period)
        times: FloatArray = period * np.arange(len(ticks), dtype=np.float64)
        return replace(self._path(entry), times=times, positions=positions, velocities=velocities)

    def _path(self, entry: Planned) -> PlannedPath:
        return self._service.timed(entry.goal.arm, entry.planner, entry.plan, self._request)

    def _around(self, first: Planned) -> PlanAnswer:
        """Every arm around what those before it sweep: they may then move at any time."""
        paths, swept = [self._path(first)], list[Obstacle]()
        for earlier, goal in pairwise(self._goals):
            geometry = self._service.geometry(earlier.arm)
            swept += swept_obstacles(geometry, paths[-1].waypoints, f"path of {earlier.arm}")
            why = self._last
            entry = self._alone(goal, swept)
            if entry is None:
                self._last = why  # being inside another arm's swept volume is no collision
                return self._failed()
            path = self._path(entry)
            paths.append(replace(path, times=path.times + goal.start_time - self._goals[0].start_time))
        return self._service.answer(tuple(paths), {"planned_around": float(len(paths) - 1)})

    def _failed(self) -> PlanAnswer:
        """Everything that was tried; the result is that of the last attempt."""
        return PlanAnswer(self._last, "; ".join(self._tried))
