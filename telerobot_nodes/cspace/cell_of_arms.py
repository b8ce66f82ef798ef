"""Plans for two arms in one workspace: each in its own configuration space, then together, so that they never meet.

Tried in turn, until a schedule is near enough to the time of the slower arm alone; else the quickest found is taken:
together   both paths planned without the other arm, coordinated in time
around     one arm first; the other planned around everything the first sweeps: it need not wait
in turns   one arm first, planned around the other's start; the other planned around the first one's goal
aside      one arm goes out of the way, the other to its goal, then the first to its own
both aside both go out of the way first
[US5347459] description: commands for objects that move at once, and that start apart in time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from telerobot_nodes.core.limits import JointLimits
from telerobot_nodes.core.path_timing import TimedPath, time_path
from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.validation import FloatArray, in_range
from telerobot_nodes.cspace.arm_geometry import ArmGeometry
from telerobot_nodes.cspace.coordination import (
    Schedule,
    coordinate_all,
    scheduled,
    standing_obstacles,
    swept_obstacles,
    tick_times,
    unscheduled,
)
from telerobot_nodes.cspace.execution import RESERVE
from telerobot_nodes.cspace.obstacles import Obstacle
from telerobot_nodes.cspace.planner import Planner, PlannerSettings
from telerobot_nodes.errors import InvalidValueError

ORDERS = ((0, 1), (1, 0))
LAST_WAYS = ("in turns", "aside", "both aside")  # slow ones: the first that has a schedule is taken


@dataclass(frozen=True)
class CellSettings:
    """Distances and effort of a cell's planning. Raises InvalidValueError."""

    margin: float = 0.03  # [m] kept from obstacles and between arms
    period: float = 0.03  # [s] of the schedule's ticks
    near_enough: float = 1.2  # [-] times the slower arm alone: no other way is tried
    trial_probes: int = 3000
    tree_probes: int = 60_000
    cells: int = 2000  # of the complete search

    def __post_init__(self) -> None:
        in_range(self.margin, "margin", 1e-3, 0.2, "m")
        in_range(self.period, "period", 1e-3, 0.2, "s")
        in_range(self.near_enough, "near_enough", 1.0, 100.0)


@dataclass(frozen=True)
class CellPlan:
    """Timed paths of both arms with their schedule, or why there is none; `tried` says what each way gave."""

    way: str
    paths: tuple[TimedPath, ...] = ()
    schedule: Schedule | None = None
    reason: str = ""
    tried: tuple[str, ...] = field(default=())

    @property
    def found(self) -> bool:
        """True when both arms can go."""
        return self.schedule is not None


class ArmCell:
    """Plans for two arms; `parks` are configurations out of each other's way. One thread."""

    def __init__(
        self,
        geometries: Sequence[ArmGeometry],
        obstacles: Sequence[Obstacle],
        settings: CellSettings | None = None,
        parks: Sequence[FloatArray] | None = None,
    ) -> None:
        if len(geometries) != 2:
            raise InvalidValueError("geometries (number)", len(geometries), "allowed: 2")
        self.geometries = list(geometries)
        self.settings = settings or CellSettings()
        self._parks = [np.array(p) for p in (parks or [g.robot.home for g in geometries])]
        s = self.settings
        self._planning = PlannerSettings(
            s.margin, trial_probes=s.trial_probes, tree_probes=s.tree_probes, cells=s.cells
        )
        self._limits = [_reserved(geometry.robot) for geometry in geometries]
        self.set_obstacles(obstacles)

    def set_obstacles(self, obstacles: Sequence[Obstacle]) -> None:
        """Use other obstacles from the next plan on; the other arm's base is one always."""
        self.obstacles = list(obstacles)
        bases = [standing_obstacles(g, np.array(g.robot.home), f"base_{i}", 1) for i, g in enumerate(self.geometries)]
        self._fixed = [self.obstacles + bases[1 - i] for i in range(2)]
        self._planners = [Planner(g, f, self._planning) for g, f in zip(self.geometries, self._fixed, strict=True)]

    def plan(self, starts: Sequence[FloatArray], goals: Sequence[FloatArray]) -> CellPlan:
        """Both arms from `starts` to `goals` (n,) [rad] at once. Raises InvalidValueError on what is outside limits."""
        tried: list[str] = []
        best: CellPlan | None = None
        alone = [self._alone(i, starts[i], goals[i], (), tried) for i in range(2)]
        shortest = max((path.duration for path in alone if path is not None), default=0.0)
        if any(path is None for path in alone):
            return CellPlan("none", reason="; ".join(tried), tried=tuple(tried))
        together: list[Schedule] = []
        for way, paths in self._ways(alone, starts, goals, together, tried):
            planes = unscheduled(self.geometries, paths, self.settings.margin, self.settings.period)
            together.append(planes)
            schedule = scheduled(planes)
            tried.append(f"{way}: " + ("no schedule" if schedule is None else f"{schedule.duration:.2f} s"))
            if schedule is not None and (best is None or schedule.duration < _time(best)):
                best = CellPlan(way, tuple(paths), schedule)
            if best is not None and (_time(best) <= self.settings.near_enough * shortest or way in LAST_WAYS):
                break
        if best is None:
            return CellPlan("none", reason=f"no schedule: {'; '.join(tried)}", tried=tuple(tried))
        return CellPlan(best.way, best.paths, best.schedule, tried=tuple(tried))

    def standing_path(self, arm: int, q: FloatArray) -> TimedPath:
        """The path of an arm that stays at `q` (n,) [rad]."""
        return time_path(np.array([q, q]), self._limits[arm])

    def plan_alone(self, arm: int, start: FloatArray, goal: FloatArray, other: FloatArray) -> TimedPath | str:
        """A path of one arm around the other one, which stands at `other`; or why there is none."""
        tried: list[str] = []
        path = self._alone(arm, start, goal, self._standing(1 - arm, other), tried)
        return "; ".join(tried) if path is None else path

    def plan_later(self, arm: int, start: FloatArray, goal: FloatArray, other: TimedPath, reached: float) -> CellPlan:
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
        for way, things in zip(("together", "around", "in turns"), around, strict=True):
            path = self._alone(arm, start, goal, things(), tried)
            schedule = None if path is None else self._joined(arm, path, other, reached)
            if path is not None and schedule is not None:
                paths = (path, other) if arm == 0 else (other, path)
                return CellPlan(way, paths, schedule, tried=tuple(tried))
        return CellPlan("none", reason=f"no schedule: {'; '.join(tried)}", tried=tuple(tried))

    def _joined(self, arm: int, path: TimedPath, other: TimedPath, reached: float) -> Schedule | None:
        s = self.settings
        first = self.geometries[1 - arm], self.geometries[arm]
        schedule = coordinate_all(first, (other, path), s.margin, s.period, _tick(other, reached, s.period))
        return schedule if schedule is None or arm == 1 else _mirrored(schedule)

    def _ways(
        self,
        alone: Sequence[TimedPath | None],
        starts: Sequence[FloatArray],
        goals: Sequence[FloatArray],
        planes: Sequence[Schedule],
        tried: list[str],
    ) -> Iterator[tuple[str, list[TimedPath]]]:
        """Pairs of paths, the most promising first; None's are left out. `planes`: of the pairs given already."""
        yield from _whole("together", list(alone))
        for a, b in ORDERS:
            first, ends = alone[a], planes[0].blocked[0, 1] if a == 0 else planes[0].blocked[0, 1].T
            if first is not None and not ends[:, [0, -1]].any():  # else it sweeps over the other's start or goal
                swept = swept_obstacles(self.geometries[a], first.path)
                yield from _whole("around", _pair(a, first, self._alone(b, starts[b], goals[b], swept, tried)))
        for a, b in ORDERS:
            first = self._alone(a, starts[a], goals[a], self._standing(b, starts[b]), tried)
            after = None if first is None else self._alone(b, starts[b], goals[b], self._standing(a, goals[a]), tried)
            yield from _whole("in turns", _pair(a, first, after))
        for a, b in ORDERS:
            yield from _whole("aside", _pair(a, *self._aside(a, b, starts, goals, tried)))
        for a, b in ORDERS:
            yield from _whole("both aside", _pair(a, *self._both_aside(a, b, starts, goals, tried)))

    def _aside(
        self, a: int, b: int, starts: Sequence[FloatArray], goals: Sequence[FloatArray], tried: list[str]
    ) -> tuple[TimedPath | None, TimedPath | None]:
        """Arm `a` goes to its park, `b` to its goal, then `a` to its own."""
        park = self._parks[a]
        out = self._alone(a, starts[a], park, self._standing(b, starts[b]), tried)
        through = None if out is None else self._alone(b, starts[b], goals[b], self._standing(a, park), tried)
        back = None if through is None else self._alone(a, park, goals[a], self._standing(b, goals[b]), tried)
        return self._chained(a, out, back), through

    def _both_aside(
        self, a: int, b: int, starts: Sequence[FloatArray], goals: Sequence[FloatArray], tried: list[str]
    ) -> tuple[TimedPath | None, TimedPath | None]:
        """Arm `a` goes to its park, `b` to its own, `a` to its goal, `b` to its own."""
        park, other = self._parks[a], self._parks[b]
        out = self._alone(a, starts[a], park, self._standing(b, starts[b]), tried)
        off = None if out is None else self._alone(b, starts[b], other, self._standing(a, park), tried)
        back = None if off is None else self._alone(a, park, goals[a], self._standing(b, other), tried)
        home = None if back is None else self._alone(b, other, goals[b], self._standing(a, goals[a]), tried)
        return self._chained(a, out, back), self._chained(b, off, home)

    def _chained(self, arm: int, first: TimedPath | None, second: TimedPath | None) -> TimedPath | None:
        if first is None or second is None:
            return None
        return time_path(np.vstack([first.path, second.path[1:]]), self._limits[arm])

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
    return JointLimits(full.lower, full.upper, full.velocity, RESERVE * full.acceleration, full.effort)


def _time(plan: CellPlan) -> float:
    return plan.schedule.duration if plan.schedule is not None else np.inf


def _pair(a: int, first: TimedPath | None, second: TimedPath | None) -> list[TimedPath | None]:
    return [first, second] if a == 0 else [second, first]


def _whole(way: str, paths: list[TimedPath | None]) -> Iterator[tuple[str, list[TimedPath]]]:
    """The way, when every arm has a path."""
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
