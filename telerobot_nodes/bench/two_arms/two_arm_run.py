"""Executes one crossing task in MuJoCo: plan, coordination, execution with the field, contacts counted."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from telerobot_nodes.bench.two_arms.crossing_tasks import (
    PARKS,
    CrossingTask,
    make_task,
    workcell_geometries,
    workcell_obstacles,
)
from telerobot_nodes.bench.two_arms.two_arm_physics import Mismatch, TwoArmPhysics
from telerobot_nodes.cspace.geometry import FieldSettings
from telerobot_nodes.cspace.multi_arm import (
    DualArmExecution,
    DualArmPlan,
    DualArmPlanner,
    DualArmSettings,
    Granting,
    InTurns,
    Phase,
    taking_turns,
)

PERIOD = 0.004  # [s] of the execution; the servos and the physics run at 1 kHz
LONGEST = 60.0  # [s] a task may take
NOISE = 3e-4, 5e-3  # [rad], [rad/s] standard deviation of measurements
SLOPPY = 25.0  # [rad/s] bandwidth of the servos


@dataclass(frozen=True)
class RunOptions:
    """Options of a run; without `field` or `scheduled` it shows their effect."""

    seed: int = 1
    moved_by: float = 0.03  # [m] obstacles stand off from where plans have them
    turns_every: int = 4  # every n-th task is also executed with one arm moving at a time
    field: bool = True
    scheduled: bool = True
    mismatch: bool = True


class TwoArmRunner:
    """Geometry, planner and physics, made once for all tasks of one process."""

    def __init__(self, options: RunOptions) -> None:
        self.options = options
        self.geometries, self.obstacles = workcell_geometries(), workcell_obstacles()
        self.settings = DualArmSettings()
        self.robots = [geometry.robot for geometry in self.geometries]
        self.physics = TwoArmPhysics(self.robots, self.obstacles, bandwidth=SLOPPY)
        self.watch: Any = None  # called after every period with the physics

    def task(self, index: int) -> CrossingTask:
        """Return the task of an index, the same on every machine."""
        o = self.options
        return make_task(self.geometries, self.obstacles, o.seed, index, self.settings.margin, o.moved_by)

    def run(self, index: int) -> dict[str, Any]:
        """Run one task; returns its result as plain values."""
        task = self.task(index)
        planner = DualArmPlanner(self.geometries, self.obstacles, self.settings, PARKS)
        row: dict[str, Any] = {"index": index, "later": task.later}
        began = time.perf_counter()
        plan = planner.plan(task.starts, task.goals)
        row |= {"planning": time.perf_counter() - began, "way": plan.way.value, "tried": len(plan.tried)}
        if plan.schedule is None:
            return row | {"outcome": "unplanned", "reason": plan.reason}
        row |= {"planned": plan.schedule.duration, "alone": [path.duration for path in plan.paths]}
        row |= self._execute(task, planner, None if task.later > 0.0 else plan)
        turns = taking_turns(plan.schedule) if task.later == 0.0 else None
        if turns is not None and index % self.options.turns_every == 0:
            done = self._execute(task, planner, replace(plan, schedule=turns), InTurns(turns))
            row["turns"] = {key: done[key] for key in ("outcome", "seconds", "touches", "deadlocks")}
        return row

    def _execute(
        self, task: CrossingTask, planner: DualArmPlanner, plan: DualArmPlan | None, way: Granting | None = None
    ) -> dict[str, Any]:
        """Execute one plan, or without one the commands at the task's times, in physics."""
        physics, o = self.physics, self.options
        planner.set_obstacles(self.obstacles)
        physics.reset(task.starts, self._mismatch(task), task.index)
        running = DualArmExecution(planner, task.starts, PERIOD, None if o.field else FieldSettings(gain=0.0))
        running.set_obstacles(task.moved if o.mismatch else self.obstacles)
        commands = _Commands(task, planner, running, plan)
        if plan is not None and (way is not None or not o.scheduled):
            running.execution.follow_all(plan.paths, way)
        seen = _Seen()
        while commands.pending or running.phase in (Phase.MOVING, Phase.HOLDING):
            if physics.time >= LONGEST:
                break
            commands.give(physics.time)
            self._period(running, seen)
        return _outcome(running, physics, seen)

    def _period(self, running: DualArmExecution, seen: _Seen) -> None:
        """Run one period of the execution: measure, decide, move."""
        physics = self.physics
        q, v = physics.measured()
        running.step(physics.time, q, v, physics.effort)
        limiters = running.execution.limiters
        physics.command([(m.q, m.qd, m.qdd) for m in limiters])
        physics.step(PERIOD)
        seen.count(running, physics)
        if self.watch is not None:
            self.watch(running, physics)

    def _mismatch(self, task: CrossingTask) -> Mismatch:
        if not self.options.mismatch:
            return Mismatch()
        poses = {obstacle.name: obstacle.pose for obstacle in task.moved}
        return Mismatch(task.payload, task.dry, task.viscous, *NOISE, poses)


class _Commands:
    """The commands of both arms; the second one may come later."""

    def __init__(
        self, task: CrossingTask, planner: DualArmPlanner, running: DualArmExecution, plan: DualArmPlan | None
    ) -> None:
        self._task, self._planner, self._running = task, planner, running
        self.pending, self._alone = plan is None, False
        if plan is not None:
            running.start(plan)
            return
        first = task.first
        path = planner.plan_alone(first, task.starts[first], task.goals[first], task.starts[1 - first])
        if not isinstance(path, str):  # else the other one stands in its way: it waits for that one's command
            running.start_one(first, path)
            self._alone = True

    def give(self, now: float) -> None:
        """Issue the second command when it is due."""
        if not self.pending or now < self._task.later:
            return
        self.pending = False
        second = 1 - self._task.first
        if self._alone:
            self._running.command_later(second, self._task.goals[second])
        else:
            self._running.start(self._planner.plan(self._task.starts, self._task.goals))


class _Seen:
    """Counters of a run."""

    def __init__(self) -> None:
        self.periods, self.pushed, self.gap, self.field_least = 0, 0, 0.0, np.inf

    def count(self, running: DualArmExecution, physics: TwoArmPhysics) -> None:
        """Update the counters after a period."""
        execution = running.execution
        self.periods += 1
        self.pushed += any(execution.pushed)
        self.field_least = min(self.field_least, *execution.field.least)
        for i, limiter in enumerate(execution.limiters):
            self.gap = max(self.gap, float(np.abs(limiter.q - physics.true_position(i)).max()))


def _outcome(running: DualArmExecution, physics: TwoArmPhysics, seen: _Seen) -> dict[str, Any]:
    touches = [[t.first, t.second, round(t.begin, 3), round(t.end, 3), t.depth] for t in physics.touches()]
    return {
        "outcome": "timeout" if running.phase in (Phase.MOVING, Phase.HOLDING) else running.phase.value,
        "reason": running.reason,
        "seconds": physics.time,
        "touches": touches,
        "nearest": None if np.isinf(physics.nearest) else physics.nearest,
        "deadlocks": [
            [d.time, list(d.arms), d.nearest, d.ended, d.way.value if d.way else ""] for d in running.deadlocks
        ],
        "replans": running.replans,
        "pushed": seen.pushed / max(seen.periods, 1),
        "field_least": float(seen.field_least),
        "servo_error": seen.gap,
    }
