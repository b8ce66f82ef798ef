"""Predicted conflicts of a plan point: reach, joint limits, singularity, speed, collision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from telerobot_nodes.core.protocol import ConflictKind
from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray


@dataclass(frozen=True)
class Conflict:
    """What is wrong at one point."""

    kind: ConflictKind
    subject: str = ""  # joint or colliding bodies; empty: the whole arm. Equal for neighbouring points of one conflict
    text: str = ""  # for people


class CollisionChecker(Protocol):
    """A planner or a scene that checks the arm for collisions."""

    @property
    def unexamined(self) -> str:
        """Why collisions cannot be found now; empty: they can."""

    def collisions(self, path: FloatArray) -> list[tuple[str, float]]:
        """Names of the colliding bodies at each row of `path` (n, dof) [rad], empty if none, and their depth [m].

        The depth is 0 where it is not known.
        """


@dataclass(frozen=True)
class ConflictBounds:
    """Thresholds of conflicts."""

    limit_margin: float = 0.05  # [rad]
    singular: float = 0.03  # [-] smallest singular value of the tool Jacobian (m and rad mixed)


def limit_conflict(robot: RobotModel, q: FloatArray, margin: float) -> Conflict | None:
    """The joint nearest to its limit, if nearer than `margin` [rad]; `q` (dof,) [rad]."""
    low, high = q - robot.limits.lower, robot.limits.upper - q
    room = np.minimum(low, high)
    joint = int(room.argmin())
    if room[joint] >= margin:
        return None
    limit = f"{robot.joint_names[joint]} {'lower' if low[joint] < high[joint] else 'upper'} limit"
    return Conflict(ConflictKind.LIMIT, limit, limit)


def speed_conflict(robot: RobotModel, q0: FloatArray, q1: FloatArray, duration: float) -> Conflict | None:
    """The joint that exceeds its speed limit most from `q0` to `q1` (dof,) [rad] in `duration` [s] of plan time."""
    if duration <= 0.0:
        return None
    share = np.abs(q1 - q0) / (duration * robot.limits.velocity)
    joint = int(share.argmax())
    if share[joint] <= 1.0:
        return None
    name = robot.joint_names[joint]
    return Conflict(ConflictKind.SPEED, name, f"{name} {share[joint]:.1f} times too fast")


def collision_conflict(bodies: str, depth: float) -> Conflict:
    """Bodies that collide, `depth` [m] deep; 0: not known."""
    return Conflict(ConflictKind.COLLISION, bodies, f"collision: {bodies}{f', {1e3 * depth:.0f} mm' if depth else ''}")
