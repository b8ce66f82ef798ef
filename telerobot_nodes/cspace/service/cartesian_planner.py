"""Cartesian path planner for the plan queue's joins: what blocks a tool path, and one around obstacles.

[US5046022 claims 12, 13]. A path is followed by continuation of the inverse kinematics from the arm's joints, and
checked so: for obstacles by proof of each motion between neighbours, for self-collision pose by pose with the true
shapes, as the poses are close together.
"""

from __future__ import annotations

import numpy as np

from telerobot_nodes.core.robot import Kinematics, RobotModel
from telerobot_nodes.core.values import FloatArray, pose_from_se3
from telerobot_nodes.cspace.geometry import SelfCheck
from telerobot_nodes.cspace.search import path_samples
from telerobot_nodes.cspace.service.in_process_planner import InProcessPlanner
from telerobot_nodes.errors import JoinError, OutOfReachError, PlanningError

TURN = 0.02  # [rad] of any joint between poses of a planned path, so that they are about 5 mm apart


class CartesianPathPlanner:
    """Called with two poses (7,) it plans a path (n, 7); `blocked` checks one. Call `arm_at` first."""

    def __init__(self, robot: RobotModel, planner: InProcessPlanner, arm: str = "") -> None:
        self._robot, self._planner, self._arm_name = robot, planner, arm
        self._kinematics = Kinematics(robot)
        self._self_check = SelfCheck(robot)
        self._joints = np.array(robot.home)

    def arm_at(self, q: FloatArray) -> None:
        """Set the joints (dof,) [rad] from which paths are followed."""
        self._joints = np.clip(q, self._robot.limits.lower, self._robot.limits.upper)

    def blocked(self, path: FloatArray) -> str:
        """Which obstacle blocks a path (n, 7) of close poses, or which links touch on it; empty if none."""
        try:
            return self._blocked(self._kinematics.solve_path(path, self._joints))
        except OutOfReachError as error:
            return str(error)

    def _blocked(self, joints: FloatArray) -> str:
        touched = next(filter(None, map(self._self_check.touches, joints)), "")
        if touched or not self._planner.scene.entries:  # without obstacles the planner is not loaded
            return f"{touched} would touch" if touched else ""
        return self._planner.check_outside(self._arm_name, joints)

    def __call__(self, start: FloatArray, goal: FloatArray) -> FloatArray:
        """Plan a path (n, 7) from pose to pose that the arm can follow; raises JoinError with the reason."""
        try:
            q = self._kinematics.solve_path(start.reshape(1, 7), self._joints)[0]
            joints = self._plan(q, goal)
        except (OutOfReachError, PlanningError) as error:
            raise JoinError(f"link: {error}") from None
        path = np.array([pose_from_se3(self._robot.forward(row)) for row in path_samples(joints, TURN)])
        path[0], path[-1] = start, goal
        return path

    def _plan(self, q: FloatArray, goal: FloatArray) -> FloatArray:
        """Joints (k, dof) [rad] to the goal on the arm's present branch of solutions; on any branch if that fails."""
        try:
            near = self._kinematics.solve_path(goal.reshape(1, 7), q)[0]
            return self._planner.plan_joints(self._arm_name, q, near)
        except (OutOfReachError, PlanningError):
            return self._planner.plan_pose(self._arm_name, q, goal)
