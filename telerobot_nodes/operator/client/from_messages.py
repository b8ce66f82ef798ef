"""Messages to values of the client: from a node or from a recording, whose messages have the same fields."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, TypeVar

import numpy as np

from telerobot_nodes.core.values import FloatArray, poses
from telerobot_nodes.operator.client.status import PlanChange, RobotStatus
from telerobot_nodes.operator.client.surroundings import Solid

S = TypeVar("S")


MOTION = "motion"  # namespace of the marker that draws a simulated or practised motion


@dataclass(frozen=True)
class DrawnLines:
    """What the forward simulator draws, WORLD."""

    conflicts: FloatArray  # (n, 2, 3) [m] ends of the stretches in conflict
    motion: FloatArray  # (n, 3) [m] path of the tool in a simulated or practised motion; empty: there is none


def lines_from_markers(message: Any) -> DrawnLines:
    """The stretches that the forward simulator draws red, no other colour of it is, and the motion."""
    stretches: list[list[list[float]]] = []
    motion: list[list[float]] = []
    for marker in message.markers:
        if marker.ns == MOTION:
            motion = [[point.x, point.y, point.z] for point in marker.points]
        for a, b, colour in zip(marker.points, marker.points[1:], marker.colors[1:], strict=False):
            if colour.r > max(colour.g, colour.b):
                stretches.append([[a.x, a.y, a.z], [b.x, b.y, b.z]])
    return DrawnLines(np.array(stretches).reshape(-1, 2, 3), np.array(motion).reshape(-1, 3))


def solids_from_message(message: Any, arm: str) -> list[Solid]:
    """Obstacles in WORLD and those that the tool of `arm` holds, of an Obstacles.msg with the whole scene."""
    return [
        Solid(
            entry.name,
            entry.kind,
            tuple(entry.size),
            tuple(entry.pose),
            held=bool(entry.attached_to),
            points=tuple(entry.points) if entry.kind == "boxes" else (),
        )
        for entry in message.obstacles
        if entry.attached_to in ("", arm)
    ]


def status_from_message(kind: type[S], message: Any, **other: Any) -> S:
    """A status value from the message whose fields it is named after; raises InvalidValueError naming the field.

    A field that an older recording does not have keeps its default.
    """
    names = [entry.name for entry in fields(kind) if entry.name not in other]  # type: ignore[arg-type]
    values = {name: getattr(message, name) for name in names if hasattr(message, name)}
    return kind(**values, **other)


def robot_from_message(message: Any) -> RobotStatus:
    """Value of ExecutorState.msg; raises InvalidValueError naming the field."""
    received = tuple((receipt.agent, receipt.number) for receipt in message.halts_received)
    waiting = tuple(getattr(message, "waiting", ()))
    return status_from_message(RobotStatus, message, mode=message.state, halts_received=received, waiting=waiting)


def plan_change_from_message(message: Any) -> PlanChange:
    """Value of PlanUpdate.msg; raises InvalidValueError naming the field."""
    points = message.points
    return PlanChange(
        kind=message.kind,
        trial=message.trial,
        after_seq=message.after_seq,
        first_seq=points.first_seq,
        position=poses(points.pose, "plan.pose")[:, :3],
        timing=np.frombuffer(points.timing, np.uint8) if len(points.timing) else np.empty(0, np.uint8),
    )
