"""Conversion of MoveIt planning scenes: collision objects and attached objects to changes of our scene.

Reads the fields of moveit_msgs/PlanningScene without importing it, so that it works without MoveIt. A mesh is
replaced by the convex hull of its corners.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.values import pose_from_se3, se3_from_pose
from telerobot_nodes.cspace.geometry import PART, Change, Obstacle, hull
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.nodes.messages import align_z, pose_to_array

KINDS = {1: "box", 2: "sphere", 3: "cylinder"}  # shape_msgs/SolidPrimitive
ADD, REMOVE, APPEND, MOVE = 0, 1, 2, 3  # moveit_msgs/CollisionObject


def changes_from_scene(message: Any, arm: str) -> tuple[list[Change], bool]:
    """Changes of a PlanningScene message, and whether they replace everything.

    What a link holds is held by the tool of `arm`, its poses in the tool frame; it may touch its `touch_links`. Raises
    InvalidValueError on shapes that are not known.
    """
    changes = [_change(entry, "") for entry in message.world.collision_objects]
    held = message.robot_state.attached_collision_objects
    changes += [replace(_change(entry.object, arm), touch_links=frozenset(entry.touch_links)) for entry in held]
    return changes, not message.is_diff


def _change(entry: Any, attached_to: str) -> Change:
    operation = entry.operation[0] if isinstance(entry.operation, bytes) else int(entry.operation)
    if operation == REMOVE:
        return Change(entry.id)
    if operation != ADD:
        raise InvalidValueError(f"obstacle {entry.id}: operation", operation, "allowed: 0 add, 1 remove")
    T = _placement(entry.pose)
    solids: list[Obstacle] = []
    for i, (primitive, pose) in enumerate(zip(entry.primitives, entry.primitive_poses, strict=True)):
        solids.append(_primitive(f"{entry.id}{PART}{i}", primitive, T * _placement(pose)))
    for i, (mesh, pose) in enumerate(zip(entry.meshes, entry.mesh_poses, strict=True)):
        corners = [(p.x, p.y, p.z) for p in mesh.vertices]
        placed = pose_from_se3(T * _placement(pose))
        solids += hull(f"{entry.id}{PART}mesh{i}", np.array(corners), placed, attached_to).solids
    for i, (plane, pose) in enumerate(zip(entry.planes, entry.plane_poses, strict=True)):
        solids.append(_plane(f"{entry.id}{PART}plane{i}", plane.coef, T * _placement(pose)))
    if not solids:
        raise InvalidValueError(f"obstacle {entry.id}: shapes (number)", 0, "allowed: 1 or more")
    return Change(entry.id, tuple(solids), attached_to)


def _placement(pose: Any) -> pin.SE3:
    values = pose_to_array(pose)
    if not values[3:].any():  # a pose that was never set
        values[6] = 1.0
    return se3_from_pose(values)


def _primitive(name: str, primitive: Any, T: pin.SE3) -> Obstacle:
    kind = KINDS.get(int(primitive.type))
    if kind is None:
        raise InvalidValueError(f"obstacle {name}: primitive", int(primitive.type), "allowed: box, sphere, cylinder")
    size = list(primitive.dimensions)
    if kind == "cylinder":
        size = size[::-1]  # height, radius there
    return Obstacle(name, kind, tuple(size), tuple(pose_from_se3(T)))


def _plane(name: str, coefficients: Any, T: pin.SE3) -> Obstacle:
    """The half-space below a x + b y + c z + d = 0."""
    normal = np.array(coefficients[:3], dtype=np.float64)
    length = float(np.linalg.norm(normal))
    if not np.isfinite(length) or length < 1e-9:
        raise InvalidValueError(f"obstacle {name}: plane", list(coefficients), "allowed: a normal that is not zero")
    place = pin.SE3(align_z(normal / length), -float(coefficients[3]) / length**2 * normal)
    return Obstacle(name, "half_space", (), tuple(pose_from_se3(T * place)))
