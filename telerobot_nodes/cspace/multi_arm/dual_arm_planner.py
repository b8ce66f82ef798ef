"""Plans for two arms in one workspace: each arm in its own configuration space, then coordinated in time.

The strategies of `Way` are tried in turn until a schedule is near enough to the time of the slower arm alone; else the
quickest schedule found is taken. [US5347459] description: commands for objects that move at once, and that start
apart in time. The planner node uses the scheduler of `service.multi_arm_planner` instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from telerobot_nodes.core.robot import JointLimits, RobotModel
from telerobot_nodes.core.timing import TimedPath, time_path
from telerobot_nodes.core.values import FloatArray, in_range
from telerobot_nodes.cspace.geometry import ArmGeometry, Obstacle
from telerobot_nodes.cspace.multi_arm.coordination_space import tick_times
from telerobot_nodes.cspace.multi_arm.execution import RESERVE
from telerobot_nodes.cspace.multi_arm.schedule import Schedule, coordinate, scheduled, unscheduled
from telerobot_nodes.cspace.multi_arm.swept_volume import standing_obstacles, swept_obstacles
from telerobot_nodes.cspace.search import Planner, PlannerSettings
from telerobot_nodes.errors import InvalidValueError

ORDERS = ((0, 1), (1, 0))


class Way(Enum):
    """Strategies to plan two arms."""

    NONE = "none"
    TOGETHER = "together"  # both paths planned without the other arm, coordinated in time
    AROUND = "around"  # the second is planned around everything the first sweeps: it need not wait
    IN_TURNS = "in turns"  # the first is planned around the second's start, the second around the first's goal
    ASIDE = "aside"  # one moves out of the way, the other to its goal, then the first to its own
    BOTH_ASIDE = "both aside"  # both move out of the way first


LAST_WAYS = (Way.IN_TURNS, Way.ASIDE, Way.BOTH_ASIDE)  # slow ones: the first that has a schedule is taken
Move = tuple[int, FloatArray]  # an arm and the configuration (n,) [rad] it moves to


@dataclass(frozen=True)
class DualArmSettings:
    """Distances and effort of planning for two arms. Raises InvalidValueError."""

    margin: float = 0.03  # [m] kept from obstacles and between arms
    period: float = 0.03  # [s] of the schedule's ticks
    near_enough: float = 1.2  # [-] times the slower arm alone: no other strategy is tried
    trial_probes: int = 3000
    tree_probes: int = 60_000
    cells: int = 2000  # of the complete search

    def __post_init__(self) -> None:
        in_range(self.margin, "margin", 1e-3, 0.2, "m")
        in_range(self.period, "period", 1e-3, 0.2, "s")
        in_range(self.near_enough, "near_enough", 1.0, 100.0)


@dataclass(frozen=True)
class DualArmPlan:
    """Timed paths of both arms with their schedule, or why there is none; `tried`: the result of each strategy."""

    way: Way
    paths: tuple[TimedPath, ...] = ()
    schedule: Schedule | None = None
    reason: str = ""
    tried: tuple[str, ...] = ()

    @property
    def found(self) -> bool:
        """True when both arms can go."""
        return self.schedule is not None


class DualArmPlanner:
    """Plans for two arms; `parks` are configurations out of each other's way. One thread."""

    def __init__(
        self,
        geometries: Sequence[ArmGeometry],
        obstacles: Sequence[Obstacle],
        settings: DualArmSettings | None = None,
        parks: Sequence[FloatArray] | None = None,
    ) -> None:
        if len(geometries) != 2:
            raise InvalidValueError("geometries (number)", len(geometries), "allowed: 2")
        self.geometries = list(geometries)
        self.settings = settings or DualArmSettings()
        self._parks = [np.array(p) for p in (parks or [g.robot.home for g in geometries])]
        s = self.settings
        self._planning = PlannerSettings(
            s.margin, trial_probes=s.trial_probes, tree_probes=s.tree_probes, cells=s.cells
        )
        self._limits = [_reserved(geometry.robot) for geometry in geometries]
        self.set_obstacles(obstacles)

    def set_obstacles(self, obstacles: Sequence[Obstacle]) -> None:
        """Use other obstacles from the next plan on; the other arm's base always is one."""
        self.obstacles = list(obstacles)
        bases = [standing_obstacles(g, np.array(g.robot.home), f"base_{i}", 1) for i, g in enumerate(self.geometries)]
        self._fixed = [self.obstacles + bases[1 - i] for i in range(2)]
        self._planners = [Planner(g, f, self._planning) for g, f in zip(self.geometries, self._fixed, strict=True)]

    def plan(self, starts: Sequence[FloatArray], goals: Sequence[FloatArray]) -> DualArmPlan:
        """Both arms from `starts` to `goals` (n,) [rad] at once. Raises InvalidValueError on what is outside limits."""
        tried: list[str] = []
        best: DualArmPlan | None = None
        alone = [self._alone(i, starts[i], goals[i], (), tried) for i in range(2)]
        shortest = max((path.duration for path in alone if path is not None), default=0.0)
        if any(path is None for path in alone):
            return DualArmPlan(Way.NONE, reason="; ".join(tried), tried=tuple(tried))
        together: list[Schedule] = []
        for way, paths in self._ways(alone, starts, goals, together, tried):
            planes = unscheduled(self.geometries, paths, self.settings.margin, self.settings.period)
            together.append(planes)
            schedule = scheduled(planes)
            tried.append(f"{way.value}: " + ("no schedule" if schedule is None else f"{schedule.duration:.2f} s"))
            if schedule is not None and (best is None or schedule.duration < _time(best)):
                best = DualArmPlan(way, tuple(paths), schedule)
            if best is not None and (_time(best) <= self.settings.near_enough * shortest or way in LAST_WAYS):
                break
        if best is None:
            return DualArmPlan(Way.NONE, reason=f"no schedule: {'; '.join(tried)}", tried=tuple(tried))
        return DualArmPlan(best.way, best.paths, best.schedule, tried=tuple(tried))

    def standing_path(self, arm: int, q: FloatArray) -> TimedPath:
        """The path of an arm that stays at `q` (n,) [rad]."""
        return time_path(np.array([q, q]), self._limits[arm])

    def plan_alone(self, arm: int, start: FloatArray, goal: FloatArray, other: FloatArray) -> TimedPath | str:
        """A path of one arm around the other one, which stands at `other`; or why there is none."""
        tried: list[str] = []
        path = self._alone(arm, start, goal, self._standing(1 - arm, other), tried)
        return "; ".join(tried) if path is None else path

    def plan_later(
        self, arm: int, start: FloatArray, goal: FloatArray, other: TimedPath, reached: float
    ) -> DualArmPlan:
        """A plan for one arm while the other is on its path, `reached` [s] on at least; that path is not changed.

        The schedule's columns are the arms in their order, and it starts where the other one can stand.
        """
        tried: list[str] = []
        rest = _from(other, reached)
        around: tuple[Callable[[], Sequence[Obstacle]], ...] = (
            lambda: (),
            lambda: swept_obstacles(self.geometries[1 - arm], rest),
            lambda: self._standing(1 - arm, other.path[-1]),
        )
        for way, things in zip((Way.TOGETHER, Way.AROUND, Way.IN_TURNS), around, strict=True):
            path = self._alone(arm, start, goal, things(), tried)
            schedule = None if path is None else self._joined(arm, path, other, reached)
            if path is not None and schedule is not None:
                paths = (path, other) if arm == 0 else (other, path)
                return DualArmPlan(way, paths, schedule, tried=tuple(tried))
        return DualArmPlan(Way.NONE, reason=f"no schedule: {'; '.join(tried)}", tried=tuple(tried))

    def _joined(self, arm: int, path: TimedPath, other: TimedPath, reached: float) -> Schedule | None:
        s = self.settings
        first = self.geometries[1 - arm], self.geometries[arm]
        schedule = coordinate(first, (other, path), s.margin, s.period, _tick(other, reached, s.period))
        return schedule if schedule is None or arm == 1 else _mirrored(schedule)

    def _ways(
        self,
        alone: Sequence[TimedPath | None],
        starts: Sequence[FloatArray],
        goals: Sequence[FloatArray],
        planes: Sequence[Schedule],
        tried: list[str],
    ) -> Iterator[tuple[Way, list[TimedPath]]]:
        """Pairs of paths, the most promising first. `planes`: of the pairs yielded already."""
        yield from _whole(Way.TOGETHER, list(alone))
        for a, b in ORDERS:
            first, ends = alone[a], planes[0].blocked[0, 1] if a == 0 else planes[0].blocked[0, 1].T
            if first is not None and not ends[:, [0, -1]].any():  # else it sweeps over the other's start or goal
                swept = swept_obstacles(self.geometries[a], first.path)
                second = self._alone(b, starts[b], goals[b], swept, tried)
                yield from _whole(Way.AROUND, [first, second] if a == 0 else [second, first])
        for way in LAST_WAYS:
            for a, b in ORDERS:
                yield from _whole(way, self._one_by_one(self._moves(way, a, b, goals), starts, tried))

    def _moves(self, way: Way, a: int, b: int, goals: Sequence[FloatArray]) -> list[Move]:
        """Moves of one arm after the other, arm `a` first."""
        if way is Way.IN_TURNS:
            return [(a, goals[a]), (b, goals[b])]
        if way is Way.ASIDE:
            return [(a, self._parks[a]), (b, goals[b]), (a, goals[a])]
        return [(a, self._parks[a]), (b, self._parks[b]), (a, goals[a]), (b, goals[b])]

    def _one_by_one(
        self, moves: Sequence[Move], starts: Sequence[FloatArray], tried: list[str]
    ) -> list[TimedPath | None]:
        """The path of each arm over all its moves, each planned around where the other arm stands; None: no path."""
        at, rows = list(starts), [[np.array(q)[None]] for q in starts]
        for arm, goal in moves:
            leg = self._alone(arm, at[arm], goal, self._standing(1 - arm, at[1 - arm]), tried)
            if leg is None:
                return [None, None]
            rows[arm].append(leg.path[1:])
            at[arm] = goal
        return [time_path(np.vstack(rows[arm]), self._limits[arm]) for arm in range(2)]

    def _standing(self, arm: int, q: FloatArray) -> list[Obstacle]:
        return standing_obstacles(self.geometries[arm], q, f"arm_{arm}")

    def _alone(
        self, i: int, start: FloatArray, goal: FloatArray, others: Sequence[Obstacle], tried: list[str]
    ) -> TimedPath | None:
        """A timed path of one arm among the obstacles and `others`; None, and why in `tried`."""
        planner = self._planners[i]
        if others:
            planner = Planner(self.geometries[i], [*self._fixed[i], *others], self._planning)
        plan = planner.plan(start, goal)
        if not plan.found:
            tried.append(f"arm {i}: {plan.outcome.value}{': ' + plan.reason if plan.reason else ''}")
            return None
        return time_path(plan.path, self._limits[i])


def _reserved(robot: RobotModel) -> JointLimits:
    """Limits for timing, with room for braking along the path."""
    full = robot.limits
    return JointLimits(full.lower, full.upper, full.velocity, RESERVE * full.acceleration, full.effort, full.jerk)


def _time(plan: DualArmPlan) -> float:
    return plan.schedule.duration if plan.schedule is not None else np.inf


def _whole(way: Way, paths: list[TimedPath | None]) -> Iterator[tuple[Way, list[TimedPath]]]:
    """The strategy, when every arm has a path."""
    there = [path for path in paths if path is not None]
    if len(there) == len(paths):
        yield way, there


def _tick(timed: TimedPath, t: float, period: float) -> int:
    """First tick of a path at or after `t` [s]."""
    times = tick_times(timed, period)
    return min(int(np.searchsorted(times, t - 1e-9)), len(times) - 1)


def _from(timed: TimedPath, t: float) -> FloatArray:
    """Waypoints (k, n) [rad] of a path from where it is at `t` [s]."""
    return np.vstack([timed.at(t)[0], timed.path[int(np.floor(timed.share(t))) + 1 :], timed.path[-1]])


def _mirrored(schedule: Schedule) -> Schedule:
    planes = {(0, 1): np.ascontiguousarray(schedule.blocked[0, 1].T)}
    return Schedule(schedule.period, np.ascontiguousarray(schedule.ticks[:, ::-1]), schedule.times[::-1], planes)
