"""Planning for one of several named arms in one scene: from a goal to a plan that was proved twice.

Here: choice of the planner, conversion of goals to joints, the proof before every answer. Not here: messages,
processes, files other than the cell database's. One thread.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray, in_range
from telerobot_nodes.cspace.covering import CollisionSphere, NamePair
from telerobot_nodes.cspace.geometry import (
    ArmGeometry,
    Attachment,
    Obstacle,
    Scene,
    arm_geometry,
    sphere_centers,
    sphere_obstacles,
)
from telerobot_nodes.cspace.search import CellCache, Outcome, Plan, Planner, PlannerSettings, check_certificate
from telerobot_nodes.cspace.service.goals import ranked, same_places, solutions
from telerobot_nodes.cspace.service.planner_plugins import PlannerPlugin, default_plugins, plugin_named
from telerobot_nodes.cspace.service.requests import Goal, PlanAnswer, PlannedPath, PlanRequest, Result
from telerobot_nodes.cspace.service.timed_path import timed_path
from telerobot_nodes.errors import InvalidValueError, TelerobotError

SPARE = (1e-4, 3e-4, 1e-3)  # [m] left in cells that are made again for the checker
KEPT = 8  # planners, and geometries, of different arms, margins, contacts and fingers

# arm, what it holds, contacts that are allowed, known fingers
_GeometryKey = tuple[str, tuple[Attachment, ...], frozenset[NamePair], tuple[tuple[str, float], ...]]


@dataclass(frozen=True)
class ServiceSettings:
    """Settings of the service and of its planners. Raises InvalidValueError."""

    planner: PlannerSettings = field(default_factory=PlannerSettings)
    goals: int = 4  # joint goals of one pose that are planned to at most
    sample_period: float = 0.02  # [s] of timed paths
    apart: float = 0.01  # [m] kept between arms that move together

    def __post_init__(self) -> None:
        in_range(self.goals, "goals", 1, 100)
        in_range(self.sample_period, "sample_period", 1e-3, 1.0, "s")
        in_range(self.apart, "apart", 0.0, 0.5, "m")


class ArmPlanning:
    """Planners of named arms in one scene. A path leaves only after the independent checker has agreed."""

    def __init__(
        self,
        arms: Mapping[str, RobotModel],
        settings: ServiceSettings | None = None,
        plugins: Mapping[str, PlannerPlugin] | None = None,
        cache: Path | None = None,
    ) -> None:
        if not arms:
            raise InvalidValueError("arms (number)", 0, "allowed: 1 or more")
        self.settings = settings or ServiceSettings()
        self.scene = Scene()
        self._arms = dict(arms)
        self._plugins = dict(plugins or default_plugins())
        self._geometries: dict[_GeometryKey, ArmGeometry] = {}
        self._planners: dict[tuple[_GeometryKey, float, frozenset[str]], Planner] = {}
        self._cache = CellCache(cache)

    @property
    def arms(self) -> tuple[str, ...]:
        """Names of the arms; the first one answers to an empty name when there is no other."""
        return tuple(self._arms)

    def arm(self, name: str) -> str:
        """The name of the arm meant; raises InvalidValueError."""
        if not name and len(self._arms) == 1:
            return self.arms[0]
        if name not in self._arms:
            raise InvalidValueError("arm", name, f"allowed: {', '.join(self._arms)}")
        return name

    def set_scene(self, scene: Scene) -> None:
        """Use another scene from the next request on; cells that no change touches are kept."""
        self.scene = scene

    # pieces of requests --------------------------------------------------------------------------------------

    def plan_goal(self, goal: Goal, request: PlanRequest, more: list[Obstacle]) -> tuple[Planner, Plan]:
        """The planner used for one arm among the scene and `more` obstacles, and its plan, proved twice."""
        planner = self.planner(goal.arm, more, request.margin, request.ignore, request.allowed, request.fingers)
        back_end = plugin_named(request.back_end, self._plugins)
        candidates = self._goals(planner, goal)
        if isinstance(candidates, Plan):
            return planner, candidates
        plans: list[Plan] = []
        for q in candidates:
            plans.append(back_end(planner, goal.start, q, request.budget / len(candidates)))
            if plans[-1].outcome is Outcome.START_COLLIDES or (plans[-1].found and goal.joints is not None):
                break
        if self._usual(goal.arm, planner) and planner.cells_current:
            self._cache.keep(goal.arm, planner.cells)
        found = [plan for plan in plans if plan.found]
        best = min(found, key=lambda plan: plan.length) if found else plans[0]
        return planner, self._checked_plan(planner, best)

    def timed(self, arm: str, planner: Planner, plan: Plan, request: PlanRequest) -> PlannedPath:
        """The plan's path with its timing, at rest at every waypoint, and its proof."""
        period = self.settings.sample_period
        scene, shown = self.scene.obstacles, request.display
        return timed_path(arm, planner, plan, request.speed, period, request.ignore, scene, shown)

    def answer(self, paths: tuple[PlannedPath, ...], statistics: Mapping[str, float]) -> PlanAnswer:
        """The answer with these paths."""
        parts = [
            f"{path.arm}: {len(path.waypoints)} waypoints, {path.length:.2f} rad, {path.times[-1]:.2f} s, "
            f"{1e3 * path.clearance:.1f} mm beyond the margin, proved by {path.cells} cells"
            for path in paths
        ]
        return PlanAnswer(Result.FOUND, "; ".join(parts), paths, statistics)

    def others(self, goals: tuple[Goal, ...], standing: Mapping[str, FloatArray]) -> list[Obstacle]:
        """Arms whose joints are known and that are not in the request, as obstacles."""
        moving = {goal.arm for goal in goals}
        found = [(name, q) for name, q in standing.items() if name in self._arms and name not in moving]
        return [solid for name, q in found for solid in self.body(name, q)]

    def body(self, arm: str, q: object, larger: float = 0.0) -> list[Obstacle]:
        """The spheres of an arm that stands at `q` (n,) [rad] as obstacles, each `larger` [m] than it is."""
        geometry = self.geometry(arm)
        centers = sphere_centers(geometry.arm, self._arms[arm].limits.check_position(q, f"joints of {arm}"))
        solids = [
            CollisionSphere(center, float(r) + larger)
            for center, r in zip(centers, geometry.arm.sphere_radius, strict=True)
        ]
        return sphere_obstacles(f"arm {arm}", solids)

    # planners ------------------------------------------------------------------------------------------------

    def geometry(
        self, arm: str, allowed: frozenset[NamePair] = frozenset(), fingers: Mapping[str, float] | None = None
    ) -> ArmGeometry:
        """The spheres of an arm with what its tool holds; the last few are kept."""
        key = self._geometry_key(arm, allowed, fingers or {})
        geometry = self._geometries.pop(key, None)
        if geometry is None:
            geometry = arm_geometry(self._arms[arm], key[1], fingers, allowed)
        self._geometries[key] = geometry
        for old in list(self._geometries)[:-KEPT]:
            del self._geometries[old]
        return geometry

    def _geometry_key(self, arm: str, allowed: frozenset[NamePair], fingers: Mapping[str, float]) -> _GeometryKey:
        return arm, tuple(self.scene.attachments(arm)), allowed, tuple(sorted(fingers.items()))

    def planner(
        self,
        arm: str,
        more: list[Obstacle] | None = None,
        margin: float | None = None,
        ignore: frozenset[str] = frozenset(),
        allowed: frozenset[NamePair] = frozenset(),
        fingers: Mapping[str, float] | None = None,
    ) -> Planner:
        """A planner of `arm` in the scene without `ignore` and with `more`; the last few are kept."""
        geometry = self.geometry(arm, allowed, fingers)
        obstacles = (self.scene.without(ignore) if ignore else self.scene).obstacles + (more or [])
        usual = self.settings.planner
        keep = usual.margin if margin is None else in_range(margin, "margin", 0.0, 0.5, "m")
        key = (self._geometry_key(arm, allowed, fingers or {}), keep, ignore)
        planner = self._planners.pop(key, None)
        if planner is None or planner.geometry is not geometry:
            planner = Planner(geometry, obstacles, replace(usual, margin=keep))
            if keep == usual.margin and not (ignore or allowed or fingers):
                self._cache.fill(arm, planner.cells)
        elif planner.obstacles != obstacles:
            planner.set_obstacles(obstacles)
        self._planners[key] = planner  # the last one used is the last one forgotten
        for old in list(self._planners)[:-KEPT]:
            del self._planners[old]
        return planner

    @property
    def cache_notes(self) -> dict[str, str]:
        """Result of reading and writing each arm's file of cells."""
        return dict(self._cache.notes)

    def _usual(self, arm: str, planner: Planner) -> bool:
        """True for the planner of requests without settings of their own; its cells are kept in a file."""
        key = (self._geometry_key(arm, frozenset(), {}), self.settings.planner.margin, frozenset[str]())
        return planner is self._planners.get(key)

    # checks --------------------------------------------------------------------------------------------------

    def checked(self, goal: Goal) -> Goal:
        """The goal with the name of its arm; raises InvalidValueError."""
        name = self.arm(goal.arm)
        limits = self._arms[name].limits
        limits.check_position(goal.start, "start")
        if goal.joints is not None:
            limits.check_position(goal.joints, "joint_goal")
        return Goal(name, goal.start, goal.joints, goal.pose, goal.tolerance, goal.start_time)

    def _goals(self, planner: Planner, goal: Goal) -> list[FloatArray] | Plan:
        """Joint goals, best first; else a plan with the reason why there is none."""
        if goal.joints is not None:
            return same_places(planner.geometry.robot, goal.start, goal.joints)
        if goal.pose is None:
            raise InvalidValueError("pose_goal", None, "allowed: a pose")
        rated = ranked(planner, goal.start, solutions(planner, goal.start, goal.pose, goal.tolerance))
        free = [q for clearance, q in rated if clearance > 0.0]
        if free:
            return free[: self.settings.goals]
        depth, pair = planner.status(rated[0][1])
        reason = f"each of {len(rated)} joint solutions collides; the least: {pair}, {-1e3 * depth:.1f} mm inside"
        return Plan(Outcome.GOAL_COLLIDES, np.empty((0, planner.geometry.dof)), reason=f"{reason} the margin")

    def _checked_plan(self, planner: Planner, plan: Plan) -> Plan:
        """The plan once the independent checker agrees; raises TelerobotError when it does not.

        The checker's bounds are not the planner's: where it does not agree, it is asked again about smaller cells.
        """
        reason = self._objection(planner, plan) if plan.found else ""
        for spare in SPARE if reason else ():
            other = planner.certified(plan.path, plan.stage, plan.statistics, spare)
            if other is not None and not self._objection(planner, other):
                return other
        if reason:
            raise TelerobotError(f"the planner's proof does not hold: {reason}")
        return plan

    def _objection(self, planner: Planner, plan: Plan) -> str:
        """Why the independent checker does not agree; empty when it does."""
        if plan.certificate is None:
            return "there is no certificate"
        margins = planner.settings.margin, planner.settings.self_margin
        return check_certificate(plan.certificate, plan.path, planner.geometry, planner.obstacles, *margins).reason

    def standing_bodies(self, arm: str, standing: Mapping[str, FloatArray]) -> list[Obstacle]:
        """Every other arm that is known to stand somewhere, as obstacles for `arm`."""
        others = [name for name in standing if name in self._arms and name != arm]
        return [solid for name in others for solid in self.body(name, standing[name])]
