"""The planner of one arm: start and goal in, a proved path out, or why there is none."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.cspace.arm_geometry import ArmGeometry
from telerobot_nodes.cspace.cell_search import Blocked, Channel, reachable, search_cells
from telerobot_nodes.cspace.cells import CellDatabase
from telerobot_nodes.cspace.certificate import Certificate, certify
from telerobot_nodes.cspace.clearance import least_clearance, nearest
from telerobot_nodes.cspace.obstacles import Obstacle, World, world_of
from telerobot_nodes.cspace.placing import Arm
from telerobot_nodes.cspace.search import STAGES, find_path, search_of
from telerobot_nodes.cspace.shortcut import path_length, shorten


class Outcome(Enum):
    """How a query ended."""

    FOUND = "found"
    START_COLLIDES = "start collides"
    GOAL_COLLIDES = "goal collides"
    NO_PATH = "no path at this resolution"
    BUDGET_SPENT = "budget spent"


@dataclass(frozen=True)
class PlannerSettings:
    """How closely and how long is looked."""

    margin: float = 0.005  # [m] kept from obstacles
    self_margin: float = 0.0  # [m] kept between links
    finest: float = 2e-3  # [rad] shortest piece of a motion that is proved
    cell: float = 0.1  # [rad] finest half width of cells in the complete search
    trial_probes: int = 600
    tree_probes: int = 3_000_000
    shorten_probes: int = 1500
    cells: int = 20_000  # that the complete search may make


@dataclass(frozen=True)
class Plan:
    """What a query gave. `path` (k, n) [rad] is empty unless found; `reason` says why there is none.

    `clearance` [m]: smallest distance of the balls along the path beyond the margin, at the centres of its cells.
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
    """Plans for one arm among obstacles; keeps what it learns about cells between queries. One thread.

    `set_obstacles` between queries invalidates only the cells that a moved obstacle can touch.
    """

    def __init__(
        self, geometry: ArmGeometry, obstacles: list[Obstacle], settings: PlannerSettings | None = None
    ) -> None:
        self.geometry = geometry
        self.settings = settings or PlannerSettings()
        self.obstacles: list[Obstacle] = []
        self._search = search_of(geometry.arm)
        self.world = self._world(obstacles)
        self.cells = CellDatabase(geometry, obstacles, self.settings.margin, self.settings.self_margin)
        self.obstacles = list(obstacles)

    def _world(self, obstacles: list[Obstacle]) -> World:
        return world_of(obstacles, self.settings.margin, self.settings.self_margin)

    def set_obstacles(self, obstacles: list[Obstacle]) -> int:
        """Use other obstacles from the next query on; the number of cells looked at again."""
        self.world = self._world(obstacles)
        self.obstacles = list(obstacles)
        return self.cells.set_obstacles(obstacles)

    def status(self, q: object) -> tuple[float, str]:
        """Clearance [m] at `q` beyond the margin, below 0: collision; and the names of what is nearest.

        Raises InvalidValueError when `q` is not a configuration inside the limits.
        """
        return self._nearest(self.geometry.arm, q)

    def outside(self, q: object) -> tuple[float, str]:
        """`status` of the obstacles alone: how near the arm is to itself does not count."""
        arm = self.geometry.arm
        return self._nearest(arm._replace(pairs=arm.pairs[:0]), q)

    def _nearest(self, arm: Arm, q: object) -> tuple[float, str]:
        checked = self.geometry.robot.limits.check_position(q, "q")
        d, ball, other = nearest(arm, self.world, self._search.at, checked, 1.0)
        if ball < 0:
            return d, "nothing within 1 m"
        meets = self.obstacles[other].name if other >= 0 else self.geometry.ball_names[-1 - other]
        return d, f"{self.geometry.ball_names[ball]} and {meets}"

    def plan(self, start: object, goal: object) -> Plan:
        """A path from `start` to `goal` (n,) [rad]; raises InvalidValueError on values outside the limits."""
        a = self.geometry.robot.limits.check_position(start, "start")
        b = self.geometry.robot.limits.check_position(goal, "goal")
        for q, outcome in ((a, Outcome.START_COLLIDES), (b, Outcome.GOAL_COLLIDES)):
            d, pair = self.status(q)
            if d <= 0.0:
                return Plan(outcome, np.empty((0, a.size)), reason=f"{pair}: {-1e3 * d:.1f} mm inside the margin")
        return self._find(a, b)

    def _find(self, a: FloatArray, b: FloatArray) -> Plan:
        s, settings = self._search, self.settings
        most = np.array([settings.trial_probes, settings.tree_probes, settings.shorten_probes], dtype=np.int64)
        count, stage = find_path(self.geometry.arm, self.world, s, a, b, settings.finest, most)
        statistics = dict(zip(("trial_probes", "tree_probes", "shorten_probes"), s.probes.tolist(), strict=True))
        if count > 0:
            return self._proved(s.path[:count].copy(), STAGES[stage], statistics)
        answer = search_cells(self.cells, a, b, settings.cell, settings.cells)
        statistics["cells"] = len(self.cells)
        if isinstance(answer, Channel):
            return self._proved(self._shortened(answer.path), "cells", statistics)
        return Plan(_ENDS[answer], np.empty((0, a.size)), reason=self._why(answer, a, b), statistics=statistics)

    def _why(self, answer: Blocked, a: FloatArray, b: FloatArray) -> str:
        """The regions between which there is no way."""
        finest = self.settings.cell
        if answer is Blocked.SPENT:
            return str(answer.value)
        sides = [f"{n}: {len(reachable(self.cells, q, finest))} cells" for n, q in (("start", a), ("goal", b))]
        return f"{answer.value} of {finest:g} rad; cells that may be free and join with {', with '.join(sides)}"

    def _shortened(self, path: FloatArray) -> FloatArray:
        room = np.zeros((max(4 * len(path), 256), path.shape[1]))
        room[: len(path)] = path
        s = self._search
        s.edges.probes[0], s.edges.probes[1] = 0, 20 * self.settings.shorten_probes
        count = shorten(self.world, s.edges, room, len(path), self.settings.finest, 60)
        return room[:count].copy()

    def _proved(self, path: FloatArray, stage: str, statistics: dict[str, int]) -> Plan:
        certificate = certify(self.geometry, self.world, path, self.settings.finest)
        if certificate is None:
            return Plan(
                Outcome.BUDGET_SPENT, path[:0], reason="the path found could not be proved", statistics=statistics
            )
        least = least_clearance(self.geometry.arm, self.world, self._search.at, certificate.centers)
        return Plan(Outcome.FOUND, path, certificate, least, stage, path_length(path), "", statistics)


_ENDS = {Blocked.NO_PATH: Outcome.NO_PATH, Blocked.SPENT: Outcome.BUDGET_SPENT}
