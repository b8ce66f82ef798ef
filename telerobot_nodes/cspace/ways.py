"""Ways of the tool for the plan queue's links: what blocks one, and one round obstacles [US5046022 claims 12, 13].

A way is followed by continuation of the inverse kinematics from where the arm is; so it is checked: obstacles by proof
of each motion between neighbours, the arm itself by its true shapes pose by pose, which stand close enough for that.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from telerobot_nodes.core.frames import pose_from_se3
from telerobot_nodes.core.kinematics import Kinematics
from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.cspace.planner_copy import PlannerCopy
from telerobot_nodes.cspace.self_check import SelfCheck
from telerobot_nodes.errors import JoinError, OutOfReachError, PlanningError

TURN = 0.02  # [rad] of any joint between poses of a planned way


class WayPlanner:
    """Called with two poses (7,) it plans a way (n, 7); `blocked` says what is in one. Needs `arm_at` first."""

    def __init__(self, robot: RobotModel, copy: PlannerCopy, arm: str = "") -> None:
        self._robot, self._copy, self._arm_name = robot, copy, arm
        self._kinematics = Kinematics(robot)
        self._itself = SelfCheck(robot)
        self._at = np.array(robot.home)

    def arm_at(self, q: FloatArray) -> None:
        """The arm is at joints `q` (dof,) [rad]."""
        self._at = np.clip(q, self._robot.limits.lower, self._robot.limits.upper)

    def blocked(self, way: FloatArray) -> str:
        """What is in a way (n, 7) of close poses, or which links meet on it; empty: nothing."""
        try:
            return self._blocked(self._kinematics.solve_path(way, self._at))
        except OutOfReachError as error:
            return str(error)

    def _blocked(self, joints: FloatArray) -> str:
        touched = next(filter(None, map(self._itself.touches, joints)), "")
        if touched or not self._copy.scene.entries:  # without obstacles no planner is loaded
            return f"{touched} would touch" if touched else ""
        return self._copy.check_outside(self._arm_name, joints)

    def __call__(self, start: FloatArray, goal: FloatArray) -> FloatArray:
        """A way (n, 7) from pose to pose that the arm can follow; raises JoinError with the reason."""
        try:
            q = self._kinematics.solve_path(start.reshape(1, 7), self._at)[0]
            joints = self._plan(q, goal)
        except (OutOfReachError, PlanningError) as error:
            raise JoinError(f"link: {error}") from None
        way = np.array([pose_from_se3(self._robot.forward(row)) for row in self._fine(joints)])
        way[0], way[-1] = start, goal
        return way

    def _plan(self, q: FloatArray, goal: FloatArray) -> FloatArray:
        """Joints to the goal on the branch the arm is on; on any branch where that fails."""
        try:
            near = self._kinematics.solve_path(goal.reshape(1, 7), q)[0]
            return self._copy.plan_joints(self._arm_name, q, near)
        except (OutOfReachError, PlanningError):
            return self._copy.plan_pose(self._arm_name, q, goal)

    def _fine(self, joints: FloatArray) -> FloatArray:
        """Configurations close enough for poses 5 mm apart."""
        rows = [joints[0]]
        for a, b in pairwise(joints):
            count = max(int(np.ceil(float(np.abs(b - a).max()) / TURN)), 1)
            rows += [a + i / count * (b - a) for i in range(1, count + 1)]
        return np.array(rows)
