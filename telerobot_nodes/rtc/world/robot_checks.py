"""The checks of the binder for arms of `core.robot`: kinematics and static load; collisions by a check of the host.

One thread at a time: the robot models keep working memory [JPL-RTC section 5, Action Binder].
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.robot import Kinematics, RobotModel
from telerobot_nodes.core.values import FloatArray, pose_from_se3, se3_from_pose
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.rtc.language import GRAVITY
from telerobot_nodes.rtc.world.protocols import CollisionCheck, ExecutiveCheck


class RobotKinematics:
    """Forward and inverse kinematics of named arms, poses (7,) of the tool in WORLD."""

    def __init__(self, robots: Mapping[str, RobotModel]) -> None:
        self.robots = dict(robots)
        self._kinematics = {arm: Kinematics(robot) for arm, robot in robots.items()}

    def forward(self, arm: str, joints: FloatArray) -> FloatArray:
        """Pose (7,) of the tool."""
        return pose_from_se3(self._robot(arm).forward(np.asarray(joints, dtype=np.float64)))

    def solve(self, arm: str, pose: FloatArray, seed: FloatArray) -> FloatArray:
        """Joints (dof,) [rad]; raises OutOfReachError."""
        self._robot(arm)
        return self._kinematics[arm].solve(se3_from_pose(pose), np.asarray(seed, dtype=np.float64))

    def limits(self, arm: str) -> tuple[FloatArray, FloatArray]:
        """Joint position limits [rad]."""
        limits = self._robot(arm).limits
        return limits.lower, limits.upper

    def slides(self, arm: str) -> tuple[bool, ...]:
        """Whether each joint slides, [m], instead of turning."""
        joints = list(self._robot(arm).model.joints)[1:]  # the first is the universe
        return tuple("P" in joint.shortname().removeprefix("JointModel") for joint in joints)

    def _robot(self, arm: str) -> RobotModel:
        if arm not in self.robots:
            raise InvalidValueError("arm", arm, f"allowed: {', '.join(self.robots)}")
        return self.robots[arm]


class StaticLoad:
    """Whether the joints can hold a mass at rest: gravity torque of arm and load against the effort limits."""

    def __init__(self, robots: Mapping[str, RobotModel]) -> None:
        self._robots = dict(robots)

    def check_load(self, arm: str, joints: FloatArray, mass: float) -> str:
        """An empty text, or the joint that is too weak."""
        robot = self._robots[arm]
        q = np.asarray(joints, dtype=np.float64)
        torque = pin.computeGeneralizedGravity(robot.model, robot.data, q)
        down = robot.forward(q).rotation.T @ np.array([0.0, 0.0, -mass * GRAVITY])
        wrench = np.concatenate((down, np.zeros(3)))
        torque = torque - robot.jacobian(q).T @ wrench
        weak = np.flatnonzero(np.abs(torque) > robot.limits.effort)
        if not weak.size:
            return ""
        i = int(weak[0])
        limit = robot.limits.effort[i]
        return f"{robot.joint_names[i]} would hold {abs(torque[i]):.1f} of {limit:.1f} N m with {mass:g} kg"


class NoCollisions:
    """Where nothing is known of collisions: every path is free."""

    def check_path(self, arm: str, path: FloatArray, clearance: float, ignore: frozenset[str]) -> str:
        """An empty text."""
        return ""


class NoExecutive:
    """Where no executive is known: it takes everything."""

    def check_primitive(self, arm: str, primitive: Any) -> None:
        """Do nothing."""


@dataclass(frozen=True)
class RobotChecks:
    """Checks of the binder for named arms; the host provides those of collisions and of the executive."""

    robots: Mapping[str, RobotModel]
    collision: CollisionCheck = field(default_factory=NoCollisions)
    executive: ExecutiveCheck = field(default_factory=NoExecutive)
    kinematics: RobotKinematics = field(init=False)
    load: StaticLoad = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "kinematics", RobotKinematics(self.robots))
        object.__setattr__(self, "load", StaticLoad(self.robots))
