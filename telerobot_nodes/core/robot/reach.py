"""Reachability of a path, checked pose by pose by continuation on one branch of the inverse kinematics."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.robot.kinematics import Kinematics
from telerobot_nodes.core.robot.robot import RobotModel
from telerobot_nodes.core.values import FloatArray, se3_from_pose
from telerobot_nodes.errors import OutOfReachError

MARGIN = 0.05  # [rad] distance of a plan from the joint limits
SINGULAR = 0.02  # [-] smallest singular value of the tool Jacobian along a plan


class Reach:
    """Called with a tool pose (7,) in WORLD; raises OutOfReachError when the arm cannot follow the path there."""

    def __init__(self, robot: RobotModel) -> None:
        self._kinematics = Kinematics(robot)
        self._limits = robot.limits
        self._seed = np.array(robot.home)
        self._arm = np.array(robot.home)
        self._kinematics.solve(robot.forward(self._seed), self._seed)  # compiles before the first motion

    def arm_at(self, q: FloatArray) -> None:
        """Set the arm's joints (dof,) [rad], where a new path begins."""
        self._arm[:] = np.clip(q, self._limits.lower, self._limits.upper)

    @property
    def joints(self) -> FloatArray:
        """Joints (dof,) [rad] at the last pose that was accepted; the arm's home before."""
        return self._seed.copy()

    def __call__(self, pose: FloatArray) -> None:
        """Raise OutOfReachError when `pose` has no joint solution near the one before."""
        q = self._solve(se3_from_pose(pose))
        room = self._room(q)
        bad = np.flatnonzero((room < MARGIN) & (room < self._room(self._seed)))  # motion away from a limit is allowed
        if bad.size:
            raise OutOfReachError(f"out of reach: joint {bad[0]} would come within {MARGIN:g} rad of its limit")
        if self._kinematics.smallest_singular_value(q) < SINGULAR:
            raise OutOfReachError(f"out of reach: singularity, smallest singular value under {SINGULAR:g}")
        self._seed[:] = q

    def _solve(self, T_world_tool: pin.SE3) -> FloatArray:
        try:
            return self._kinematics.solve(T_world_tool, self._seed)
        except OutOfReachError:
            return self._kinematics.solve(T_world_tool, self._arm)

    def _room(self, q: FloatArray) -> FloatArray:
        """Distance (dof,) [rad] of each joint of `q` (dof,) [rad] from its nearer limit."""
        return np.minimum(q - self._limits.lower, self._limits.upper - q)
