"""What will go wrong at a point of the plan, found as it is laid: reach, limits, singularity, speed, collision."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol

import numpy as np

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.validation import FloatArray


class Conflict(IntEnum):
    """Kinds of conflict, worst last; a point has the worst of its own."""

    NONE = 0
    SPEED = 1  # faster in plan time than a joint can: the arm will be late
    LIMIT = 2  # within a margin of a joint limit
    SINGULAR = 3  # smallest singular value below the bound
    COLLISION = 4
    OUT_OF_REACH = 5  # no joint solution; the simulated arm stays where it was


class CollisionChecker(Protocol):
    """A planner or a scene that knows what the arm may not touch."""

    def collision(self, q: FloatArray) -> str:
        """What collides with the arm at `q` (dof,) [rad]; empty: nothing."""


@dataclass(frozen=True)
class ConflictBounds:
    """When a point is in conflict."""

    limit_margin: float = 0.05  # [rad]
    singular: float = 0.03  # [-] smallest singular value of the tool Jacobian (m and rad mixed)


def limit_conflict(robot: RobotModel, q: FloatArray, margin: float) -> str:
    """Name of the first joint nearer than `margin` [rad] to its limit, and which limit; empty: none."""
    low, high = q - robot.limits.lower, robot.limits.upper - q
    room = np.minimum(low, high)
    joint = int(room.argmin())
    if room[joint] >= margin:
        return ""
    return f"{robot.joint_names[joint]} {'lower' if low[joint] < high[joint] else 'upper'} limit"


def speed_conflict(robot: RobotModel, q0: FloatArray, q1: FloatArray, duration: float) -> str:
    """Name of the joint that cannot go from `q0` to `q1` in `duration` [s] of plan time; empty: none."""
    if duration <= 0.0:
        return ""
    share = np.abs(q1 - q0) / (duration * robot.limits.velocity)
    joint = int(share.argmax())
    return f"{robot.joint_names[joint]} {share[joint]:.1f} times too fast" if share[joint] > 1.0 else ""
