"""The planner of one arm: a proved path from start to goal, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.cspace.geometry import (
    Arm,
    ArmGeometry,
    Obstacle,
    World,
    all_free,
    least_clearance,
    nearest,
    world_of,
)
from telerobot_nodes.cspace.search.cell_search import Blocked, Channel, reachable, search_cells, separated
from telerobot_nodes.cspace.search.cells import CellDatabase
from telerobot_nodes.cspace.search.certificate import Certificate, certify
from telerobot_nodes.cspace.search.find_path import ROUNDS, Budget, Stage, find_path, reseed, search_of
from telerobot_nodes.cspace.search.shortcut import path_length, shorten

FIRST_TRY = 60_000  # probes of the first trees; each further try may make twice as many
SLOWEST = 100_000  # probes a second, before the rate is measured
CELLS_PART = 0.3  # [-] of the time left that the complete search may take
WITHIN = 1.0  # [m] in which the nearest pair is looked for
STATISTICS = ("trial", "tree", "shorten")  # names of a budget's probes


class Outcome(Enum):
    """Outcome of a query. NO_PATH is proved: no chain of free cells of the finest size joins start and goal.

    UNPROVED: nothing was found, and the cells that hold start or goal are not free, so they prove nothing.
    """

    FOUND = "found"
    START_COLLIDES = "start collides"
    GOAL_COLLIDES = "goal collides"
    NO_PATH = "no path at this resolution"
    UNPROVED = "start or goal not provable"
    BUDGET_SPENT = "budget spent"


OUTCOMES = {
    Blocked.NO_PATH: Outcome.NO_PATH,
    Blocked.UNPROVED: Outcome.UNPROVED,
    Blocked.SPENT: Outcome.BUDGET_SPENT,
}


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

    `set_obstacles` between queries invalidates only the cells that a moved obstacle can touch; they are judged again
    when cells are next asked for: most queries need none.
    """

    def __init__(
        self, geometry: ArmGeometry, obstacles: list[Obstacle], settings: PlannerSettings | None = None
    ) -> None:
        self.geometry = geometry
        self.settings = settings or PlannerSettings()
        self._search = search_of(geometry.arm)
        self._rate = float(SLOWEST)  # probes a second of the last try that found nothing
        self._found_path: tuple[FloatArray, Stage] = (np.empty((0, geometry.dof)), Stage.NONE)
        self._cells = CellDatabase(geometry, obstacles, self.settings.margin, self.settings.self_margin)
        self._world = self._cells.world
        self.obstacles = list(obstacles)

    @property
    def world(self) -> World:
        """The obstacles as arrays, with the margins."""
        return self._world

    @property
    def cells(self) -> CellDatabase:
        """The cells among the present obstacles."""
        if not self.cells_current:
            self._cells.set_obstacles(self.obstacles)
        return self._cells

    @property
    def cells_current(self) -> bool:
        """False when obstacles have changed since cells were last asked for."""
        return self._cells.obstacles == self.obstacles

    def set_obstacles(self, obstacles: list[Obstacle]) -> None:
        """Use other obstacles from the next query on. Raises InvalidValueError as `world_of` does."""
        settings, allowed = self.settings, self.geometry.may_touch(obstacles)
        self._world = world_of(obstacles, settings.margin, settings.self_margin, allowed)
        self.obstacles = list(obstacles)

    def status(self, q: object) -> tuple[float, str]:
        """Clearance [m] at `q` (n,) [rad] beyond the margin, below 0: collision; and the names of the nearest pair.

        Raises InvalidValueError when `q` is not a configuration inside the limits.
        """
        return self._nearest(self.geometry.arm, q)

    def certainly_free(self, path: FloatArray) -> bool:
        """True when the spheres of the arm touch nothing at any row of `path` (k, n) [rad]."""
        return bool(all_free(self.geometry.arm, self.world, self._search.poses, path))

    def outside(self, q: object, within: float = WITHIN) -> tuple[float, str]:
        """`status` for the obstacles alone, without self-collision; nothing farther than `within` [m] counts."""
        return self._nearest(self.geometry.arm.without_pairs(), q, within)

    def _nearest(self, arm: Arm, q: object, within: float = WITHIN) -> tuple[float, str]:
        checked = self.geometry.robot.limits.check_position(q, "q")
        clearance, sphere, other = nearest(arm, self.world, self._search.poses, checked, within)
        if sphere < 0:
            return clearance, f"nothing within {within:g} m"
        names = self.geometry.sphere_names
        if other < 0:
            return clearance, f"{names[sphere]} and {names[-1 - other]}"
        thing = int(np.searchsorted(self.world.first, other, side="right")) - 1
        return clearance, f"{names[sphere]} and {self.obstacles[thing].name}"

    def plan(self, start: object, goal: object, left: Callable[[], float] | None = None) -> Plan:
        """A path from `start` to `goal` (n,) [rad]; raises InvalidValueError on values outside the limits.

        `left`: the time [s] that is left; all of it is used before the answer is that nothing was found. None: the
        settings' probes are the budget.
        """
        limits = self.geometry.robot.limits
        a, b = limits.check_position(start, "start"), limits.check_position(goal, "goal")
        return self.ends_collide(a, b) or self._find(a, b, left)

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

    def certified(
        self, path: FloatArray, stage: str, statistics: dict[str, int] | None = None, spare: float = 0.0
    ) -> Plan | None:
        """The plan of a path (k, n) [rad] with its certificate; None when a motion of it cannot be proved free.

        `spare` [m] beyond the margins is left in every cell, which makes smaller cells.
        """
        world = self.world
        world = world._replace(margin=world.margin + spare, self_margin=world.self_margin + spare)
        certificate = certify(self.geometry, world, path, self.settings.finest)
        if certificate is None:
            return None
        least = least_clearance(self.geometry.arm, self.world, self._search.poses, certificate.centers)
        return Plan(Outcome.FOUND, path, certificate, least, stage, path_length(path), "", statistics or {})

    def _none(self, outcome: Outcome, reason: str, statistics: dict[str, int] | None = None) -> Plan:
        return Plan(outcome, np.empty((0, self.geometry.dof)), reason=reason, statistics=statistics or {})

    def _find(self, start: FloatArray, goal: FloatArray, left: Callable[[], float] | None) -> Plan:
        statistics: dict[str, int] = {f"{name}_probes": 0 for name in STATISTICS} | {"tries": 0}
        most = self.settings.tree_probes if left is None else max(min(FIRST_TRY, int(left() * SLOWEST)), 1)
        if self._search_trees(start, goal, 0, most, statistics):
            return self._proved(self._found_path, statistics)
        answer = self._answer_cells(start, goal, statistics, left)
        while left is not None and (began := left()) > 0.0:
            if answer.found or separated(self.cells, start, goal):
                break
            most = min(2 * most, self.settings.tree_probes, int(began * self._rate) + 1)
            if self._search_trees(start, goal, statistics["tries"], most, statistics):
                return self._proved(self._found_path, statistics)
            self._rate = most / max(began - left(), 1e-6)
        return answer

    def _search_trees(
        self, start: FloatArray, goal: FloatArray, number: int, probes: int, statistics: dict[str, int]
    ) -> bool:
        """One try of trial paths and trees with samples of its own; True: `_found_path` is the path."""
        settings, search = self.settings, self._search
        reseed(search, number)
        budget = Budget(settings.trial_probes if number == 0 else 0, probes, settings.shorten_probes)
        found = find_path(self.geometry.arm, self.world, search, start, goal, settings.finest, budget)
        for name, made in zip(STATISTICS, found.probes, strict=True):
            statistics[f"{name}_probes"] += made
        statistics["tries"] += 1
        self._found_path = search.path[: found.waypoints].copy(), Stage(found.stage)
        return bool(found.waypoints > 0)

    def _answer_cells(
        self, start: FloatArray, goal: FloatArray, statistics: dict[str, int], left: Callable[[], float] | None
    ) -> Plan:
        settings = self.settings
        ends = None if left is None else _part_of(left, CELLS_PART)
        answer = search_cells(self.cells, start, goal, settings.cell, settings.cells, ends)
        statistics["cells"] = len(self.cells)
        if isinstance(answer, Channel):
            return self._proved((self._shortened(answer.path), Stage.CELLS), statistics)
        return self._none(OUTCOMES[answer], self._reason(answer, start, goal), statistics)

    def _reason(self, answer: Blocked, start: FloatArray, goal: FloatArray) -> str:
        """The reason why there is no path, with the size of the regions that are not connected."""
        finest = self.settings.cell
        if answer is not Blocked.NO_PATH:
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

    def _proved(self, path: tuple[FloatArray, Stage], statistics: dict[str, int]) -> Plan:
        plan = self.certified(path[0], path[1].name.lower(), statistics)
        return plan or self._none(Outcome.BUDGET_SPENT, "the path found could not be proved", statistics)


def _part_of(left: Callable[[], float], part: float) -> Callable[[], float]:
    """The time [s] left of a part of what is left now."""
    kept = (1.0 - part) * left()
    return lambda: left() - kept
