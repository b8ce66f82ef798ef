"""Messages of planning to values and back, in one place; validation is the values' own."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from telerobot.msg import ArmPath
from telerobot.msg import Obstacle as ObstacleMessage
from telerobot.msg import Obstacles as ObstaclesMessage
from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray, finite_array
from telerobot_nodes.cspace.geometry import Change, Obstacle, Scene, addition, hull
from telerobot_nodes.cspace.service import Goal, PlannedPath
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.nodes.messages import doubles

MOST_CHANGES = 4096  # in one message


def changes_from_message(message: Any) -> list[Change]:
    """Changes of Obstacles.msg; raises InvalidValueError naming the obstacle and the field."""
    if len(message.obstacles) > MOST_CHANGES:
        raise InvalidValueError("obstacles (length)", len(message.obstacles), f"allowed: up to {MOST_CHANGES}")
    return [_change(entry) for entry in message.obstacles]


def _change(entry: Any) -> Change:
    if entry.operation == ObstacleMessage.REMOVE:
        return Change(entry.name)
    if entry.operation != ObstacleMessage.ADD:
        raise InvalidValueError(f"obstacle {entry.name}: operation", entry.operation, "allowed: 0 add, 1 remove")
    if entry.kind == "hull":
        return hull(entry.name, list(entry.points), list(entry.pose), entry.attached_to)
    solid = Obstacle(entry.name, entry.kind, tuple(entry.size), tuple(float(v) for v in entry.pose))
    return addition(solid, entry.attached_to)


def scene_to_message(scene: Scene, stamp: Any) -> Any:
    """Obstacles.msg of everything in force; hulls as the spheres that cover them."""
    rows = [
        ObstacleMessage(
            operation=ObstacleMessage.ADD,
            name=solid.name,
            kind=solid.kind,
            size=doubles(solid.size),
            pose=list(solid.pose),
            attached_to=entry.attached_to,
        )
        for entry in scene.entries.values()
        for solid in entry.solids
    ]
    return ObstaclesMessage(stamp=stamp, replace=True, obstacles=rows)


def scene_from_message(message: Any) -> Scene:
    """The scene of a message that replaces everything; raises InvalidValueError."""
    changes = changes_from_message(message)
    return Scene().changed(changes, True, {change.attached_to for change in changes} - {""})


def goal_from_message(message: Any, arm: str, measured: Mapping[str, FloatArray]) -> Goal:
    """Goal of ArmGoal.msg for the arm it means; raises InvalidValueError when it has no start and none is measured."""
    start = np.array(message.start)
    if not start.size:
        if arm not in measured:
            raise InvalidValueError("start", "empty", "allowed: joints, as nothing is measured of this arm yet")
        start = measured[arm]
    tolerance = list(message.orientation_tolerance) or [0.0, 0.0, 0.0]
    return Goal(
        arm,
        start,
        np.array(message.joint_goal) if len(message.joint_goal) else None,
        np.array(message.pose_goal) if len(message.pose_goal) else None,
        np.array(tolerance),
        message.start_time,
    )


def joints_from_message(message: Any, robot: RobotModel) -> FloatArray:
    """Joints (dof,) [rad] of a JointState with the arm's joints in any order, others between them.

    Put inside the limits, which measured values may miss by a little. Raises InvalidValueError when one is missing.
    """
    index = {name: i for i, name in enumerate(message.name)}
    missing = [name for name in robot.joint_names if index.get(name, len(message.position)) >= len(message.position)]
    if missing:
        needed = ", ".join(robot.joint_names)
        raise InvalidValueError("joint_states.name", list(message.name), f"allowed: positions of {needed}")
    q = finite_array([message.position[index[name]] for name in robot.joint_names], "joint_states.position", robot.dof)
    return np.clip(q, robot.limits.lower, robot.limits.upper)


def path_to_message(path: PlannedPath) -> Any:
    """ArmPath.msg of the value."""
    return ArmPath(
        arm=path.arm,
        joint_names=list(path.joint_names),
        dof=int(path.waypoints.shape[1]),
        waypoints=doubles(path.waypoints.reshape(-1)),
        times=doubles(path.times),
        positions=doubles(path.positions.reshape(-1)),
        velocities=doubles(path.velocities.reshape(-1)),
        length=float(path.length),
        clearance=float(path.clearance),
        certificate_cells=int(path.cells),
    )


def numbers(values: Iterable[float]) -> array[float]:
    """A message's float64[]."""
    return array("d", (float(value) for value in values))
