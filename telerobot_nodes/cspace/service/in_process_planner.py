"""The planner inside a process that needs answers at once: plan queue, forward simulator, run-time control.

Nothing is loaded before `load`; `load_later` loads on a thread. Until then no path is free and no plan is made.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.cspace.geometry import Scene, SelfCheck
from telerobot_nodes.cspace.service.requests import Goal, PlannedPath, PlanRequest
from telerobot_nodes.errors import PlanningError, TelerobotError

if TYPE_CHECKING:
    from telerobot_nodes.cspace.geometry import ArmGeometry
    from telerobot_nodes.cspace.search import Planner
    from telerobot_nodes.cspace.service.planning_service import PlanningService

LOADING = "the planner is loading"
MARGIN = 0.005  # [m] kept from obstacles
BUDGET = 1.0  # [s]
NEAR = 0.001  # [m] what is farther is no collision: not looked for
BLOCK = 16  # configurations that are checked at once


class InProcessPlanner:
    """Checks and plans for named arms in the scene last set. One thread, except that of `load_later`."""

    def __init__(self, robots: Mapping[str, RobotModel], margin: float = MARGIN, budget: float = BUDGET) -> None:
        self._robots, self._margin, self._budget = dict(robots), margin, budget
        self._service: PlanningService | None = None
        self._thread: threading.Thread | None = None
        self._scene = Scene()
        self._checked: ArmGeometry | None = None
        self._self_check: SelfCheck | None = None
        self.trouble = ""  # why loading failed

    @property
    def ready(self) -> bool:
        """True once the planner is loaded."""
        return self._service is not None

    @property
    def unexamined(self) -> str:
        """Why collisions with the scene cannot be found now; empty: they can."""
        waits = self._scene.entries and self._service is None
        return f"collisions are not examined: {self.trouble or LOADING}" if waits else ""

    @property
    def margin(self) -> float:
        """Margin [m] kept from obstacles."""
        return self._margin

    @property
    def scene(self) -> Scene:
        """The scene in which paths are checked and planned."""
        return self._scene

    def set_scene(self, scene: Scene) -> None:
        """Use another scene from now on."""
        self._scene = scene

    def load(self) -> None:
        """Get ready; takes a second or two, much longer where the compiled code is not cached."""
        from telerobot_nodes.cspace.search import PlannerSettings
        from telerobot_nodes.cspace.service.arm_planning import ServiceSettings
        from telerobot_nodes.cspace.service.planning_service import PlanningService

        settings = ServiceSettings(planner=PlannerSettings(margin=self._margin))
        service = PlanningService(self._robots, settings)
        service.warm()
        self._service = service

    def load_later(self) -> None:
        """Get ready on a thread; asked again while that runs it does nothing."""
        if self._thread is None and self._service is None:
            self._thread = threading.Thread(target=self._load_noting, name="planner", daemon=True)
            self._thread.start()

    def _load_noting(self) -> None:
        from telerobot_nodes.cspace.service.precompile import compile_apart

        try:
            compile_apart()  # in this process it would hold up everything else for minutes
            self.load()
        except Exception as error:  # noqa: BLE001 -- a thread's boundary: every later request reports the reason
            self.trouble = f"the planner could not be loaded: {error}"

    # questions -----------------------------------------------------------------------------------------------

    def check_path(self, arm: str, path: FloatArray, clearance: float, ignore: frozenset[str]) -> str:
        """What a joint path (n, dof) [rad] comes closer to than `clearance` [m], and where; empty if nothing."""
        return self._check(arm, path, margin=clearance, ignore=ignore)

    def check_outside(self, arm: str, path: FloatArray) -> str:
        """Which obstacle a joint path (n, dof) [rad] comes closer to than the margin; empty if none.

        Self-collision does not count.
        """
        return self._check(arm, path, outside=True)

    def _check(self, arm: str, path: FloatArray, **how: Any) -> str:
        service = self._asked()
        if isinstance(service, str):
            return service
        try:
            answer = service.check_path(arm, path, **how)
        except TelerobotError as error:
            return str(error)
        return "" if answer.free else answer.message

    def collision(self, q: FloatArray, arm: str = "") -> tuple[str, float]:
        """Colliding bodies at `q` (dof,) [rad], empty if none or not known yet, and their depth [m], 0 if not known."""
        return self.collisions(q[None], arm)[0]

    def collisions(self, path: FloatArray, arm: str = "") -> list[tuple[str, float]]:
        """`collision` of each row of `path` (n, dof) [rad]; quick where it is certain that there is none."""
        service = self._asked() if self._scene.entries else LOADING
        if isinstance(service, str):
            return [("", 0.0)] * len(path)
        planner = service.planner(service.arm(arm), margin=0.0)
        found: list[tuple[str, float]] = []
        for first in range(0, len(path), BLOCK):
            rows = np.ascontiguousarray(path[first : first + BLOCK])
            found += [("", 0.0)] * len(rows) if planner.certainly_free(rows) else [self._at(planner, q) for q in rows]
        return found

    def _at(self, planner: Planner, q: FloatArray) -> tuple[str, float]:
        depth, pair = planner.outside(q, within=NEAR)
        if depth <= 0.0:
            return pair, -depth
        if planner.geometry is not self._checked:  # another arm, or something in its hand
            self._checked = planner.geometry
            self._self_check = SelfCheck(planner.geometry.robot)
        return self._self_check.touches(q) if self._self_check is not None else "", 0.0

    def plan_joints(
        self,
        arm: str,
        start: FloatArray,
        goal: FloatArray,
        clearance: float | None = None,
        ignore: frozenset[str] = frozenset(),
    ) -> FloatArray:
        """Waypoints (k, dof) [rad] from joints to joints, proved free. Raises PlanningError with the reason."""
        return self._path(Goal(arm, start, joints=goal), ignore, clearance).waypoints

    def plan_pose(
        self, arm: str, start: FloatArray, pose: FloatArray, tolerance: FloatArray | None = None
    ) -> FloatArray:
        """Waypoints (k, dof) [rad] that bring the tool to `pose` (7,). Raises PlanningError with the reason."""
        turn = np.zeros(3) if tolerance is None else tolerance
        return self._path(Goal(arm, start, pose=pose, tolerance=turn), frozenset(), None).waypoints

    def _path(self, goal: Goal, ignore: frozenset[str], clearance: float | None) -> PlannedPath:
        service = self._asked()
        if isinstance(service, str):
            raise PlanningError("refused", service)
        answer = service.plan(PlanRequest((goal,), budget=self._budget, margin=clearance, ignore=ignore))
        if not answer.found:
            raise PlanningError(answer.result.value, answer.message)
        return answer.paths[0]

    def _asked(self) -> PlanningService | str:
        """The service with the present scene, or the reason why there is none."""
        if self._service is None:
            return self.trouble or LOADING
        if self._service.scene is not self._scene:
            self._service.set_scene(self._scene)
        return self._service
