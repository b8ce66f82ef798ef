"""The planning service: requests for one arm or several, answered with values. Without ROS and without a clock."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from telerobot_nodes.core.values import FloatArray, pose_from_se3
from telerobot_nodes.cspace.search import Outcome
from telerobot_nodes.cspace.service.arm_planning import ArmPlanning
from telerobot_nodes.cspace.service.multi_arm_planner import plan_together
from telerobot_nodes.cspace.service.path_checks import check_motion, state_of
from telerobot_nodes.cspace.service.requests import Goal, PathAnswer, PlanAnswer, PlanRequest, Result, StateAnswer

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
        return self.answer((self.timed(goals[0].arm, planner, plan, request.speed),), plan.statistics)

    def check_path(
        self,
        arm: str,
        path: object,
        margin: float | None = None,
        ignore: frozenset[str] = frozenset(),
        standing: Mapping[str, FloatArray] | None = None,
        outside: bool = False,
    ) -> PathAnswer:
        """Check that every straight motion between waypoints (k, n) [rad] is proved free with `margin` [m].

        `outside`: of obstacles; the arm's distance to itself does not count.
        """
        name = self.arm(arm)
        planner = self.planner(name, self.standing_bodies(name, standing or {}), margin, ignore)
        return check_motion(planner, path, outside)

    def check_configuration(self, arm: str, q: object, standing: Mapping[str, FloatArray] | None = None) -> StateAnswer:
        """Clearance, nearest pair and cell status of one configuration (n,) [rad]; raises InvalidValueError."""
        name = self.arm(arm)
        return state_of(self.planner(name, self.standing_bodies(name, standing or {})), q)

    def still_free(self, answer: PlanAnswer, request: PlanRequest) -> str:
        """What blocks the paths of an answer in the present scene; empty when they are proved free in it."""
        for path in answer.paths:
            checked = self.check_path(path.arm, path.waypoints, request.margin, request.ignore)
            if not checked.free:
                return f"arm {path.arm}: {checked.message}"
        return ""
