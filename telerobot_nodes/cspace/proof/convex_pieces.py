"""The true shapes of an arm as small convex pieces, for whoever checks the planner; no sphere of the planner is used.

A piece is the hull of its corners, grown by a radius. The pieces of a shape hold it together: a box is cut in boxes, a
cylinder in cylinders, a mesh in slices. Small pieces have tight bounds on their motion.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import coal
import numpy as np
import pinocchio as pin

from telerobot_nodes.core.robot import LinkShape, RobotModel
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.cspace.covering import box_points, cylinder_points, hull_points, slabs
from telerobot_nodes.cspace.geometry import Attachment, Obstacle
from telerobot_nodes.errors import ModelError

LENGTH = 0.06  # [m] of a piece, where its shape is longer
ON_AXIS = 1e-9  # [m]


@dataclass(frozen=True)
class Piece:
    """The hull of `corners` (k, 3) [m] grown by `radius` [m], in the frame of the joint that moves `link`.

    `part`: the URDF link or held thing that it belongs to; `spine` (2, 3) [m]: the axis of a round piece.
    """

    link: int
    part: str
    corners: FloatArray
    radius: float
    spine: FloatArray | None = None


def pieces_of(shape: LinkShape) -> list[Piece]:
    """Pieces that hold a shape wherever it may be on its link; exactly, where it is at one place. Raises ModelError."""
    found = []
    for corners, radius, round_axis in _cut(shape):
        for turn in shape.turns:
            moved = np.vstack([_at(T, corners) for T in turn])
            spine = _at(turn[0], round_axis) if round_axis is not None and len(turn) == 1 else None
            found.append(Piece(shape.link, shape.body, moved, radius + shape.slack, spine))
    return found


def held_pieces(robot: RobotModel, attachments: Iterable[Attachment]) -> list[Piece]:
    """Pieces of what the tool holds."""
    T_joint_tool = robot.model.frames[robot.tool_frame_id].placement
    found = []
    for attachment in attachments:
        T = T_joint_tool * attachment.solid.T_world_obstacle
        for corners, radius, _ in _cut_obstacle(attachment.solid):
            found.append(Piece(robot.dof, attachment.name, _at(T, corners), radius))
    return found


def _at(T: pin.SE3, points: FloatArray) -> FloatArray:
    return np.asarray(points @ T.rotation.T + T.translation)


Cut = tuple[FloatArray, float, FloatArray | None]  # corners, radius, axis of a round one


def _cut(shape: LinkShape) -> list[Cut]:
    """Corners, radius and axis of the pieces of a shape, in its own frame."""
    solid = shape.solid
    if isinstance(solid, coal.Sphere):
        return [(np.zeros((1, 3)), solid.radius, np.zeros((2, 3)))]
    if isinstance(solid, coal.Box):
        return _boxes(2.0 * solid.halfSide)
    if isinstance(solid, coal.Cylinder):
        return _cylinders(solid.radius, 2.0 * solid.halfLength)
    if isinstance(solid, coal.Capsule):
        return [(rod, solid.radius, rod) for rod in _rods(2.0 * solid.halfLength)]
    if isinstance(solid, coal.BVHModelBase):
        vertices = np.array([solid.vertex(i) for i in range(solid.num_vertices)])
        faces = np.array([[solid.tri_indices(i)[k] for k in range(3)] for i in range(solid.num_tris)], dtype=np.int64)
        clouds = slabs(vertices, faces, LENGTH) if len(faces) else [vertices]
        return [(hull_points(cloud), 0.0, None) for cloud in clouds if len(cloud)]
    raise ModelError(f"{shape.name}: collision shape {type(solid).__name__} is not supported")


def _cut_obstacle(solid: Obstacle) -> list[Cut]:
    if solid.kind == "sphere":
        return [(np.zeros((1, 3)), solid.size[0], None)]
    return _boxes(np.array(solid.size)) if solid.kind == "box" else _cylinders(solid.size[0], solid.size[1])


def _rods(length: float) -> list[FloatArray]:
    count = max(math.ceil(length / LENGTH), 1)
    levels = np.linspace(-0.5 * length, 0.5 * length, count + 1)
    return [np.array([[0.0, 0.0, a], [0.0, 0.0, b]]) for a, b in pairwise(levels)]


def _cylinders(radius: float, length: float) -> list[Cut]:
    """A prism stands for each cylinder; it is 2 % wider at its edges."""
    return [
        (cylinder_points(radius, float(rod[1, 2] - rod[0, 2])) + rod.mean(axis=0), 0.0, rod) for rod in _rods(length)
    ]


def _boxes(size: FloatArray) -> list[Cut]:
    counts = np.maximum(np.ceil(size / (2.0 * LENGTH)), 1).astype(int)
    counts[int(size.argmax())] = max(math.ceil(size.max() / LENGTH), 1)
    edges = size / counts
    numbers = np.stack(np.meshgrid(*(np.arange(n) for n in counts), indexing="ij"), axis=-1).reshape(-1, 3)
    corners = box_points(edges)
    return [(corners + (number + 0.5) * edges - 0.5 * size, 0.0, None) for number in numbers]


def is_round_about(piece: Piece, axis: FloatArray) -> bool:
    """True for a round piece about `axis` (3,), through the origin of its link: turning about it does not move it."""
    if piece.spine is None:
        return False
    return bool(np.linalg.norm(np.cross(piece.spine, axis), axis=1).max() <= ON_AXIS)
