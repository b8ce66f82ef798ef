"""Two arms in motion: execution is watched, stopped at a deadlock, and planned again from where the arms stand.

A plan is made for the obstacles known then; execution and every further plan use those seen now (`set_obstacles`).
A task that cannot be solved ends in GIVEN_UP with a reason, arms holding. Every wait is bounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

import numpy as np

from telerobot_nodes.core.protocol import next_state
from telerobot_nodes.core.timing import TimedPath
from telerobot_nodes.core.values import FloatArray, in_range
from telerobot_nodes.cspace.geometry import FieldSettings, Obstacle, world_of
from telerobot_nodes.cspace.multi_arm.dual_arm_planner import DualArmPlan, DualArmPlanner, Way
from telerobot_nodes.cspace.multi_arm.execution import Execution
from telerobot_nodes.cspace.multi_arm.right_of_way import RightOfWay
from telerobot_nodes.cspace.search import EdgeValidator
from telerobot_nodes.errors import InvalidValueError


class Phase(Enum):
    """What the arms are doing."""

    MOVING = "moving"
    HOLDING = "holding"
    ARRIVED = "arrived"
    GIVEN_UP = "given up"


class Event(Enum):
    """What happens to them."""

    DEADLOCK = "deadlock"
    PLANNED = "planned"
    NO_PLAN = "no plan"
    AT_GOALS = "at goals"
    COMMAND = "command"


PHASES: dict[tuple[Phase, Event], Phase] = {
    (Phase.MOVING, Event.DEADLOCK): Phase.HOLDING,
    (Phase.MOVING, Event.AT_GOALS): Phase.ARRIVED,
    (Phase.MOVING, Event.COMMAND): Phase.MOVING,
    (Phase.ARRIVED, Event.COMMAND): Phase.MOVING,
    (Phase.HOLDING, Event.COMMAND): Phase.HOLDING,
    (Phase.HOLDING, Event.PLANNED): Phase.MOVING,
    (Phase.HOLDING, Event.NO_PLAN): Phase.GIVEN_UP,
}


@dataclass(frozen=True)
class Deadlock:
    """When arms blocked each other or were blocked by an obstacle, how near, and how it ended."""

    time: float  # [s]
    arms: tuple[int, ...]
    nearest: float  # [m] of the field's spheres
    ended: float = 0.0  # [s] when the next plan began; 0: never
    way: Way | None = None


class DualArmExecution:
    """Two arms from a plan to their goals. Stepped every `period` [s] from one thread.

    After a deadlock the arms hold for `settle` [s], in which the field may push them clear, then another plan is
    made; `tries` times before it is given up, each time they hold again.
    """

    def __init__(
        self,
        planner: DualArmPlanner,
        starts: Sequence[FloatArray],
        period: float,
        field: FieldSettings | None = None,
        settle: float = 0.5,
        tries: int = 4,
        most_replans: int = 6,
    ) -> None:
        self.planner = planner
        self.settle = in_range(settle, "settle", 0.0, 10.0, "s")
        self.tries, self.most_replans = tries, most_replans
        self.phase, self.reason = Phase.MOVING, ""
        self.deadlocks: list[Deadlock] = []
        self.replans = 0
        self.goals = [np.array(q) for q in starts]
        self._seen: list[Obstacle] = list(planner.obstacles)
        self._now, self._since, self._tried = 0.0, 0.0, 0
        standing = [planner.standing_path(i, q) for i, q in enumerate(self.goals)]
        self.paths: list[TimedPath] = standing
        self.execution = Execution(
            planner.geometries, planner.obstacles, standing, period, field or field_for(planner.settings.margin)
        )

    def set_obstacles(self, obstacles: Sequence[Obstacle]) -> None:
        """Use the obstacles seen now: in the field at once, in plans from the next one on.

        The field does not stop an arm at full speed. So if the rest of a path is no longer free, every arm brakes and
        both are planned again.
        """
        if list(obstacles) == self._seen:
            return
        self._seen = list(obstacles)
        self.execution.field.set_obstacles(self._seen)
        if self.phase is Phase.MOVING and not all(self._free_ahead(i) for i in range(len(self.paths))):
            self._stop(())

    def start(self, plan: DualArmPlan) -> None:
        """Begin a plan made from where the arms stand. Raises InvalidValueError when it has no schedule."""
        if plan.schedule is None:
            raise InvalidValueError("plan", plan.way.value, f"allowed: one that was found; {plan.reason}")
        self._handle(Event.COMMAND)
        self.goals = [path.path[-1] for path in plan.paths]
        self._follow(plan)

    def start_one(self, arm: int, path: TimedPath) -> None:
        """Begin a path of one arm; the other stands."""
        self._handle(Event.COMMAND)
        self.goals[arm], self.paths[arm] = path.path[-1], path
        self.execution.follow(arm, path)

    def command_later(self, arm: int, goal: FloatArray) -> DualArmPlan:
        """A goal for one arm, standing, while the other is under way.

        It is planned against the other's path; without such a plan both arms stop and are planned together, as they
        are when they hold already.
        """
        self._handle(Event.COMMAND)
        start, self.goals[arm] = self.paths[arm].path[-1], np.array(goal)
        if self.phase is Phase.HOLDING:
            return DualArmPlan(Way.NONE, reason="arms hold; the next plan includes this goal")
        reached = self.execution.stopping_time(1 - arm)
        plan = self.planner.plan_later(arm, start, self.goals[arm], self.paths[1 - arm], reached)
        if plan.schedule is None:
            self._stop(())
            return plan
        self.paths[arm] = plan.paths[arm]
        self.execution.follow(arm, plan.paths[arm], RightOfWay(plan.schedule))
        return plan

    def step(
        self, now: float, q: Sequence[FloatArray], v: Sequence[FloatArray], effort: Sequence[FloatArray] | None = None
    ) -> list[FloatArray]:
        """Joint setpoints (n,) [rad] of each arm at `now` [s]."""
        self._now = now
        setpoints = self.execution.step(q, v, effort)
        if self.phase is Phase.MOVING and self.execution.holding:
            self._stop(tuple(i for i, told in enumerate(self.execution.deadlocked) if told))
        elif self.phase is Phase.MOVING and self.execution.arrived:
            self._handle(Event.AT_GOALS)
        elif self.phase is Phase.HOLDING and self.execution.resting and now - self._since >= self.settle:
            self._replan(q)
        return setpoints

    def _free_ahead(self, i: int) -> bool:
        """True when the rest of an arm's path is proved free of the obstacles seen now."""
        path, clock, arm = self.paths[i], self.execution.clock[i], self.planner.geometries[i].arm
        rest = np.vstack([path.at(clock)[0], path.path[path.times > clock]])
        prover = EdgeValidator(arm.without_pairs(), world_of(self._seen))
        return all(prover.free(a, b) for a, b in pairwise(rest))

    def _stop(self, arms: tuple[int, ...]) -> None:
        self._handle(Event.DEADLOCK)
        self.execution.hold()
        self.deadlocks.append(Deadlock(self._now, arms, min(self.execution.field.least)))
        self._since, self._tried = self._now, 0

    def _replan(self, q: Sequence[FloatArray]) -> None:
        """Another plan from where the arms stand, for the obstacles seen now."""
        self._since, self._tried = self._now, self._tried + 1
        limits = [geometry.robot.limits for geometry in self.planner.geometries]
        starts = [np.clip(row, limit.lower, limit.upper) for row, limit in zip(q, limits, strict=True)]
        self.planner.set_obstacles(self._seen)
        plan = self.planner.plan(starts, self.goals)
        last = self.deadlocks[-1]
        if plan.schedule is not None and self.replans < self.most_replans:
            self.replans += 1
            self.deadlocks[-1] = Deadlock(last.time, last.arms, last.nearest, self._now, plan.way)
            self._handle(Event.PLANNED)
            self._follow(plan)
        elif self._tried >= self.tries or plan.schedule is not None:
            self.reason = plan.reason or f"{self.replans} plans deadlocked"
            self._handle(Event.NO_PLAN)

    def _follow(self, plan: DualArmPlan) -> None:
        if plan.schedule is not None:
            self.paths = list(plan.paths)
            self.execution.follow_all(plan.paths, RightOfWay(plan.schedule))

    def _handle(self, event: Event) -> None:
        self.phase = next_state("dual-arm execution", PHASES, self.phase, event)


def field_for(margin: float) -> FieldSettings:
    """A field that leaves a plan alone which keeps `margin` [m] and is followed exactly."""
    influence = margin + 0.005
    return FieldSettings(influence=influence, gain=0.25 / (1.0 / 0.005 - 1.0 / influence), max_speed=0.25)
