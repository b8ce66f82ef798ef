"""The planning service: requests for one arm or several, answered with values. Without ROS and without a clock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from telerobot_nodes.core.values import FloatArray, pose_from_se3
from telerobot_nodes.cspace.covering import NamePair
from telerobot_nodes.cspace.search import Outcome
from telerobot_nodes.cspace.service.arm_planning import ArmPlanning
from telerobot_nodes.cspace.service.multi_arm_planner import plan_together
from telerobot_nodes.cspace.service.path_checks import check_motion, state_of
from telerobot_nodes.cspace.service.requests import (
    Goal,
    PathAnswer,
    PlanAnswer,
    PlannedPath,
    PlanRequest,
    Result,
    StateAnswer,
)
from telerobot_nodes.cspace.service.timed_path import proof_of

RESULTS = {
    Outcome.FOUND: Result.FOUND,
    Outcome.START_COLLIDES: Result.START_COLLIDES,
    Outcome.GOAL_COLLIDES: Result.GOAL_COLLIDES,
    Outcome.NO_PATH: Result.NO_PATH,
    Outcome.UNPROVED: Result.UNPROVED,
    Outcome.BUDGET_SPENT: Result.BUDGET_SPENT,
}


class PlanningService(ArmPlanning):
    """Plans paths, checks paths and checks configurations."""

    def warm(self) -> None:
        """Load everything that a request needs, so that the first request is fast."""
        for name, robot in self._arms.items():
            home = np.array(robot.home)
            goal = Goal(name, home, pose=pose_from_se3(robot.forward(home)))
            self.plan(PlanRequest((goal,)))
            self.check_path(name, np.array([home, home]))
            self.check_configuration(name, home)

    def plan(self, request: PlanRequest) -> PlanAnswer:
        """Proved and timed paths, or the reason why there are none. Raises TelerobotError on an invalid request."""
        goals = tuple(self.checked(goal) for goal in request.goals)
        if len(goals) > 1:
            return plan_together(self, request, goals)
        planner, plan = self.plan_goal(goals[0], request, self.others(goals, request.standing))
        if not plan.found:
            return PlanAnswer(RESULTS[plan.outcome], plan.reason, (), plan.statistics)
        return self.answer((self.timed(goals[0].arm, planner, plan, request),), plan.statistics)

    def check_path(
        self,
        arm: str,
        path: object,
        margin: float | None = None,
        ignore: frozenset[str] = frozenset(),
        standing: Mapping[str, FloatArray] | None = None,
        outside: bool = False,
        allowed: frozenset[NamePair] = frozenset(),
        fingers: Mapping[str, float] | None = None,
    ) -> PathAnswer:
        """Check that every straight motion between waypoints (k, n) [rad] is proved free with `margin` [m].

        `outside`: of obstacles; the arm's distance to itself does not count. `allowed`, `fingers`: as of a PlanRequest.
        """
        name = self.arm(arm)
        planner = self.planner(name, self.standing_bodies(name, standing or {}), margin, ignore, allowed, fingers)
        return check_motion(planner, path, outside)

    def check_configuration(
        self,
        arm: str,
        q: object,
        standing: Mapping[str, FloatArray] | None = None,
        allowed: frozenset[NamePair] = frozenset(),
    ) -> StateAnswer:
        """Clearance, nearest pair and cell status of one configuration (n,) [rad]; raises InvalidValueError."""
        name = self.arm(arm)
        return state_of(self.planner(name, self.standing_bodies(name, standing or {}), allowed=allowed), q)

    def prove_again(self, answer: PlanAnswer, request: PlanRequest) -> PlanAnswer:
        """The answer with its paths proved in the present scene; without paths, and why, where one is not free.

        Raises TelerobotError when the checker of certificates does not agree.
        """
        moving = {path.arm for path in answer.paths}
        still = {name: q for name, q in request.standing.items() if name not in moving}
        paths: list[PlannedPath] = []
        for path in answer.paths:
            more = self.standing_bodies(path.arm, still)
            planner = self.planner(path.arm, more, request.margin, request.ignore, request.allowed, request.fingers)
            checked = check_motion(planner, path.waypoints)
            plan = planner.certified(path.waypoints, "proved again") if checked.free else None
            if plan is None:
                reason = checked.message or "a motion could not be proved free"
                return PlanAnswer(Result.UNPROVED, f"arm {path.arm}: {reason}")
            plan = self._checked_plan(planner, plan)
            proof = proof_of(planner, plan, request.ignore, self.scene.obstacles)
            paths.append(replace(path, clearance=plan.clearance, cells=len(proof.certificate), proof=proof))
        return replace(answer, paths=tuple(paths))
