"""The planner of one arm: a proved path from start to goal, or the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.cspace.geometry import Arm, ArmGeometry, Obstacle, World, least_clearance, nearest, world_of
from telerobot_nodes.cspace.search.cell_search import Blocked, Channel, reachable, search_cells
from telerobot_nodes.cspace.search.cells import CellDatabase
from telerobot_nodes.cspace.search.certificate import Certificate, certify
from telerobot_nodes.cspace.search.find_path import ROUNDS, Budget, Stage, find_path, search_of
from telerobot_nodes.cspace.search.shortcut import path_length, shorten

STATISTICS = ("trial", "tree", "shorten")  # names of a budget's probes


class Outcome(Enum):
    """Outcome of a query."""

    FOUND = "found"
    START_COLLIDES = "start collides"
    GOAL_COLLIDES = "goal collides"
    NO_PATH = "no path at this resolution"
    BUDGET_SPENT = "budget spent"


@dataclass(frozen=True)
class PlannerSettings:
    """Margins, resolutions and budgets of a planner."""

    margin: float = 0.005  # [m] kept from obstacles
    self_margin: float = 0.0  # [m] kept between links
    finest: float = 2e-3  # [rad] shortest piece of a motion that is validated
    cell: float = 0.1  # [rad] finest half width of cells in the complete search
    trial_probes: int = 600
    tree_probes: int = 3_000_000
    shorten_probes: int = 1500
    cells: int = 20_000  # that the complete search may make


@dataclass(frozen=True)
class Plan:
    """Result of a query. `path` (k, n) [rad] is empty unless found; `reason`: why there is none.

    `clearance` [m]: least distance of the spheres beyond the margin, at the centres of the certificate's cells.
    """

    outcome: Outcome
    path: FloatArray
    certificate: Certificate | None = None
    clearance: float = 0.0
    stage: str = "none"
    length: float = 0.0
    reason: str = ""
    statistics: dict[str, int] = field(default_factory=dict)

    @property
    def found(self) -> bool:
        """True when there is a path."""
        return self.outcome is Outcome.FOUND


class Planner:
    """Plans for one arm among obstacles; keeps its cells between queries. One thread.

    `set_obstacles` between queries invalidates only the cells that a moved obstacle can touch.
    """

    def __init__(
        self, geometry: ArmGeometry, obstacles: list[Obstacle], settings: PlannerSettings | None = None
    ) -> None:
        self.geometry = geometry
        self.settings = settings or PlannerSettings()
        self._search = search_of(geometry.arm)
        self.world = self._world(obstacles)
        self.cells = CellDatabase(geometry, obstacles, self.settings.margin, self.settings.self_margin)
        self.obstacles = list(obstacles)

    def _world(self, obstacles: list[Obstacle]) -> World:
        return world_of(obstacles, self.settings.margin, self.settings.self_margin)

    def set_obstacles(self, obstacles: list[Obstacle]) -> int:
        """Use other obstacles from the next query on; the number of cells judged again."""
        self.world = self._world(obstacles)
        self.obstacles = list(obstacles)
        return self.cells.set_obstacles(obstacles)

    def status(self, q: object) -> tuple[float, str]:
        """Clearance [m] at `q` (n,) [rad] beyond the margin, below 0: collision; and the names of the nearest pair.

        Raises InvalidValueError when `q` is not a configuration inside the limits.
        """
        return self._nearest(self.geometry.arm, q)

    def outside(self, q: object) -> tuple[float, str]:
        """`status` for the obstacles alone, without self-collision."""
        return self._nearest(self.geometry.arm.without_pairs(), q)

    def _nearest(self, arm: Arm, q: object) -> tuple[float, str]:
        checked = self.geometry.robot.limits.check_position(q, "q")
        clearance, sphere, other = nearest(arm, self.world, self._search.poses, checked, 1.0)
        if sphere < 0:
            return clearance, "nothing within 1 m"
        names = self.geometry.sphere_names
        return clearance, f"{names[sphere]} and {self.obstacles[other].name if other >= 0 else names[-1 - other]}"

    def plan(self, start: object, goal: object) -> Plan:
        """A path from `start` to `goal` (n,) [rad]; raises InvalidValueError on values outside the limits."""
        limits = self.geometry.robot.limits
        a, b = limits.check_position(start, "start"), limits.check_position(goal, "goal")
        return self.ends_collide(a, b) or self._find(a, b)

    def ends_collide(self, start: object, goal: object) -> Plan | None:
        """The plan without a path when start or goal (n,) [rad] collides; None when both are free.

        Raises InvalidValueError on values outside the limits.
        """
        ends = (("start", start, Outcome.START_COLLIDES), ("goal", goal, Outcome.GOAL_COLLIDES))
        for name, q, outcome in ends:
            clearance, pair = self.status(self.geometry.robot.limits.check_position(q, name))
            if clearance <= 0.0:
                return self._none(outcome, f"{pair}: {-1e3 * clearance:.1f} mm inside the margin")
        return None

    def certified(self, path: FloatArray, stage: str, statistics: dict[str, int] | None = None) -> Plan | None:
        """The plan of a path (k, n) [rad] with its certificate; None when a motion of it cannot be proved free."""
        certificate = certify(self.geometry, self.world, path, self.settings.finest)
        if certificate is None:
            return None
        least = least_clearance(self.geometry.arm, self.world, self._search.poses, certificate.centers)
        return Plan(Outcome.FOUND, path, certificate, least, stage, path_length(path), "", statistics or {})

    def _none(self, outcome: Outcome, reason: str, statistics: dict[str, int] | None = None) -> Plan:
        return Plan(outcome, np.empty((0, self.geometry.dof)), reason=reason, statistics=statistics or {})

    def _find(self, start: FloatArray, goal: FloatArray) -> Plan:
        settings, search = self.settings, self._search
        budget = Budget(settings.trial_probes, settings.tree_probes, settings.shorten_probes)
        found = find_path(self.geometry.arm, self.world, search, start, goal, settings.finest, budget)
        statistics = {f"{name}_probes": probes for name, probes in zip(STATISTICS, found.probes, strict=True)}
        if found.waypoints > 0:
            return self._proved(search.path[: found.waypoints].copy(), Stage(found.stage), statistics)
        answer = search_cells(self.cells, start, goal, settings.cell, settings.cells)
        statistics["cells"] = len(self.cells)
        if isinstance(answer, Channel):
            return self._proved(self._shortened(answer.path), Stage.CELLS, statistics)
        outcome = Outcome.NO_PATH if answer is Blocked.NO_PATH else Outcome.BUDGET_SPENT
        return self._none(outcome, self._reason(answer, start, goal), statistics)

    def _reason(self, answer: Blocked, start: FloatArray, goal: FloatArray) -> str:
        """The reason why there is no path, with the size of the regions that are not connected."""
        finest = self.settings.cell
        if answer is Blocked.SPENT:
            return str(answer.value)
        sides = [f"{n}: {len(reachable(self.cells, q, finest))} cells" for n, q in (("start", start), ("goal", goal))]
        return f"{answer.value} of {finest:g} rad; cells that may be free and join with {', with '.join(sides)}"

    def _shortened(self, path: FloatArray) -> FloatArray:
        rows = np.zeros((max(4 * len(path), 256), path.shape[1]))
        rows[: len(path)] = path
        edges = self._search.edges
        edges.effort.probes, edges.effort.budget = 0, 20 * self.settings.shorten_probes
        count = shorten(self.world, edges, rows, len(path), self.settings.finest, ROUNDS)
        return rows[:count].copy()

    def _proved(self, path: FloatArray, stage: Stage, statistics: dict[str, int]) -> Plan:
        plan = self.certified(path, stage.name.lower(), statistics)
        return plan or self._none(Outcome.BUDGET_SPENT, "the path found could not be proved", statistics)
