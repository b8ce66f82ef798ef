"""Several arms in one request: each planned in its own c-space, then put in time with each other [US5347459].

The earlier an arm starts the higher its priority, then the order of the goals. Two arms get a schedule in their
coordination space; without one, and for further arms, the later is planned again around what the earlier sweeps.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from telerobot_nodes.core.path_timing import TimedPath, time_path
from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.cspace.coordination import Schedule, coordinate, sampled, swept_obstacles
from telerobot_nodes.cspace.obstacles import Obstacle
from telerobot_nodes.cspace.planner import Plan, Planner
from telerobot_nodes.cspace.requests import Goal, PlanAnswer, PlannedPath, PlanRequest, Result

if TYPE_CHECKING:
    from telerobot_nodes.cspace.planning_service import PlanningService


@dataclass(frozen=True)
class Planned:
    """What one arm's own planning gave."""

    goal: Goal
    planner: Planner
    plan: Plan

    def timed(self, speed: float) -> TimedPath:
        """Its path with its own timing."""
        return time_path(self.plan.path, self.planner.geometry.robot.limits, speed=speed)


def plan_together(service: PlanningService, request: PlanRequest, goals: tuple[Goal, ...]) -> PlanAnswer:
    """Paths of every goal in one time base, or why there are none."""
    ordered = sorted(goals, key=lambda goal: goal.start_time)
    still = service.others(goals, request.standing)
    plans: list[Planned] = []
    for goal in ordered:
        planner, plan = service.plan_goal(goal, request, still)
        if not plan.found:
            return PlanAnswer(Result(plan.outcome.value), f"arm {goal.arm}: {plan.reason}", (), plan.statistics)
        plans.append(Planned(goal, planner, plan))
    if len(ordered) == 2:
        schedule = _schedule(service, request, plans)
        if schedule is not None:
            return _scheduled(service, request, plans, schedule)
    return _around(service, request, ordered, plans[0], still)


def _schedule(service: PlanningService, request: PlanRequest, plans: list[Planned]) -> Schedule | None:
    """Both arms along their paths without meeting; None when there is no such schedule."""
    period = service.settings.sample_period
    first, second = (entry.planner.geometry for entry in plans)
    timed = [entry.timed(request.speed) for entry in plans]
    late = round((plans[1].goal.start_time - plans[0].goal.start_time) / period)
    return coordinate(first, timed[0], second, timed[1], service.settings.apart, period, late)


def _scheduled(service: PlanningService, request: PlanRequest, plans: list[Planned], schedule: Schedule) -> PlanAnswer:
    paths = []
    for i, entry in enumerate(plans):
        path = service.timed(entry.goal.arm, entry.planner, entry.plan, request.speed)
        rows = sampled(entry.timed(request.speed), schedule.period)[schedule.ticks[:, i]]
        paths.append(_in_time(path, rows, schedule.period, plans[-1].goal.start_time))
    answer = service.answer(tuple(paths), {"schedule_ticks": float(len(schedule.ticks))})
    return replace(answer, message=f"scheduled together in {schedule.duration:.2f} s; {answer.message}")


def _in_time(path: PlannedPath, rows: FloatArray, period: float, begins: float) -> PlannedPath:
    """The path as a schedule has it; time counts from the start of the earliest arm."""
    times: FloatArray = begins + period * np.arange(len(rows), dtype=np.float64)
    velocities = np.gradient(rows, period, axis=0) if len(rows) > 1 else np.zeros_like(rows)
    return replace(path, times=times, positions=rows, velocities=velocities)


def _around(
    service: PlanningService, request: PlanRequest, goals: list[Goal], first: Planned, still: list[Obstacle]
) -> PlanAnswer:
    """Every arm around what those before it sweep: they may then move at any time."""
    paths = [service.timed(first.goal.arm, first.planner, first.plan, request.speed)]
    swept = list(still)
    for earlier, goal in pairwise(goals):
        swept += swept_obstacles(service.geometry(earlier.arm), paths[-1].waypoints, f"path of {earlier.arm}")
        planner, plan = service.plan_goal(goal, request, swept)
        if not plan.found:
            reason = f"no schedule, and around the path of {earlier.arm}, arm {goal.arm}: {plan.outcome.value}"
            return PlanAnswer(Result.NO_PATH, f"{reason}: {plan.reason}", (), plan.statistics)
        path = service.timed(goal.arm, planner, plan, request.speed)
        paths.append(replace(path, times=path.times + goal.start_time))
    return service.answer(tuple(paths), {"planned_around": float(len(paths) - 1)})
