"""Simple arms of three slides and a ball wrist: joints are `x y z` [m] and a rotation vector [rad].

Their kinematics are exact and quick, so that a program is rehearsed in a moment; reach, speed and load of a real robot
are not theirs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.values import FloatArray, pose_from_se3, se3_from_pose
from telerobot_nodes.errors import OutOfReachError

LOWER = np.array([-0.9, -0.9, -0.05, -6.5, -6.5, -6.5])
UPPER = np.array([0.9, 0.9, 1.4, 6.5, 6.5, 6.5])
MOST_TORQUE = 2.0  # [kg m] of a load about the base


class SlideKinematics:
    """Forward and inverse kinematics of every arm, in WORLD."""

    def forward(self, arm: str, joints: FloatArray) -> FloatArray:
        """Pose (7,) of the tool."""
        values = np.asarray(joints)
        return pose_from_se3(pin.SE3(pin.exp3(values[3:]), values[:3]))

    def solve(self, arm: str, pose: FloatArray, seed: FloatArray) -> FloatArray:
        """Joints (6,) that bring the tool to a pose; raises OutOfReachError."""
        T_world_tool = se3_from_pose(pose)
        wrist = _nearest(pin.log3(T_world_tool.rotation), np.asarray(seed)[3:])
        joints = np.concatenate((T_world_tool.translation, wrist))
        if np.any(joints < LOWER) or np.any(joints > UPPER):
            raise OutOfReachError(f"{arm}: {np.round(joints[:3], 3).tolist()} is out of reach")
        return joints

    def limits(self, arm: str) -> tuple[FloatArray, FloatArray]:
        """Lower and upper joint positions."""
        return LOWER, UPPER

    def slides(self, arm: str) -> tuple[bool, ...]:
        """Whether each joint slides, [m], instead of turning."""
        return (True, True, True, False, False, False)


def _nearest(rotation: FloatArray, seed: FloatArray) -> FloatArray:
    """The rotation vector that means the same and is nearest to the seed."""
    angle = float(np.linalg.norm(rotation))
    if angle < 1e-9:
        return rotation
    options = [rotation * (1 + 2 * np.pi * k / angle) for k in (-1, 0, 1)]
    return min(options, key=lambda option: float(np.linalg.norm(option - seed)))


@dataclass
class Obstacles:
    """Balls that no tool may come into: the collision check."""

    balls: Mapping[str, tuple[tuple[float, float, float], float]] = field(default_factory=dict)  # centre, radius [m]

    def check_path(self, arm: str, path: FloatArray, clearance: float, ignore: frozenset[str]) -> str:
        """An empty text, or what the path (n, 6) comes closer to than `clearance` [m]."""
        for name, (centre, radius) in self.balls.items():
            if name not in ignore:
                nearest = float(np.linalg.norm(path[:, :3] - np.asarray(centre), axis=1).min())
                if nearest < radius + clearance:
                    return f"{arm} would come within {nearest - radius:.3f} m of {name}"
        return ""


class Loads:
    """The load check: the torque about the base."""

    def check_load(self, arm: str, joints: FloatArray, mass: float) -> str:
        """An empty text, or why the mass [kg] cannot be carried there."""
        carried = mass * float(np.hypot(joints[0], joints[1])) < MOST_TORQUE
        return "" if carried else f"{arm} cannot hold {mass:g} kg so far out"


class SlideExecutive:
    """The executive's check for arms that have no executive: it takes every primitive."""

    def check_primitive(self, arm: str, primitive: Any) -> None:
        """Take it."""


@dataclass
class SlideChecks:
    """What the workers ask of the planner's side."""

    kinematics: SlideKinematics = field(default_factory=SlideKinematics)
    load: Loads = field(default_factory=Loads)
    collision: Obstacles = field(default_factory=Obstacles)
    executive: SlideExecutive = field(default_factory=SlideExecutive)
