"""Load of the joints along a tool path, as shares of their limits: what the artificial time base needs of the arm."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from telerobot_nodes.core.robot.kinematics import Kinematics
from telerobot_nodes.core.robot.reach import Reach
from telerobot_nodes.core.robot.robot import RobotModel
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import OutOfReachError


class JointLoad(NamedTuple):
    """Load of the joint that has the most of it, where the tool passes at full speed."""

    velocity: float = 0.0  # [-] share of its velocity limit
    bending: float = 0.0  # [-] share of its acceleration limit, at even speed
    changing: float = 0.0  # [s] share of its acceleration limit per change of speed [1/s]


class ArmLoad:
    """Called with three poses of a path (3, 7) in WORLD and the time between them [s]; the load at the middle one."""

    def __init__(self, robot: RobotModel, reach: Reach, velocity: float, acceleration: float) -> None:
        """`velocity`, `acceleration`: shares [-] of the limits in use; `reach` knows where the arm's branch is."""
        self._kinematics = Kinematics(robot)
        self._reach = reach
        self._velocity = velocity * robot.limits.velocity
        self._acceleration = acceleration * robot.limits.acceleration
        self._joints: FloatArray | None = None  # (dof,) [rad] at the middle pose of the latest call

    def __call__(self, poses: FloatArray, spacing: float) -> JointLoad:
        """No load where a pose cannot be reached: then the limits are the tool's alone."""
        seed = self._reach.joints if self._joints is None else self._joints
        try:
            q = self._kinematics.follow(poses, seed, posture=self._reach.posture)
        except OutOfReachError:
            self._joints = None
            return JointLoad()
        self._joints = q[1]
        slope = np.abs(q[2] - q[0]) / (2.0 * spacing)
        bend = np.abs(q[2] - 2.0 * q[1] + q[0]) / spacing**2
        use = self._acceleration
        return JointLoad(*(float(share.max()) for share in (slope / self._velocity, bend / use, slope / use)))
