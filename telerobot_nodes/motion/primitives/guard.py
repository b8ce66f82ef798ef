"""Guarded motion [US5231693]: a plane, and a box, that the tool must not leave, with a band before them.

What belongs here: the rows of the law's guard, from parameters, the shape of the tool, and the place where a motion
begins. A part that begins inside the band, or beyond the plane, may stay there and come out, but go no deeper.
"""

from __future__ import annotations

import dataclasses
import itertools

import coal
import numpy as np
import pinocchio as pin

from telerobot_nodes.core.robot import LinkShape, RobotModel, link_shapes
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import InvalidValueError, ModelError
from telerobot_nodes.motion.law import GUARD_COLUMNS, Law, sensor_in_tool
from telerobot_nodes.motion.parameters import GcmsfParameters, Guard

SLACK = 1e-5  # [m] by which inverse kinematics may move a tool that is to rest
_FACES = np.vstack((np.eye(3), -np.eye(3)))  # normals of a box, into it: lower faces, then upper ones
_SIGNS = np.array(list(itertools.product((-1.0, 1.0), repeat=3)))  # of the corners of a box
_Z = np.array([0.0, 0.0, 1.0])
KEPT = 8  # robots whose tools are kept


@dataclasses.dataclass(frozen=True)
class GuardBand:
    """The guard of one motion; none of its rows without a plane or box."""

    rows: FloatArray  # as in `Law.guard`

    def applied(self, law: Law) -> Law:
        """The same law with this guard."""
        return law._replace(guard=self.rows)


@dataclasses.dataclass(frozen=True)
class ToolPart:
    """A part of the tool: a point, a disc across `axis`, or one of them with a ball rolled over it."""

    middle: FloatArray  # (3,) [m]
    axis: FloatArray  # (3,) unit vector, of a disc
    disc: float = 0.0  # [m] radius; 0: a point
    ball: float = 0.0  # [m] radius

    def in_frame(self, T: pin.SE3) -> ToolPart:
        """The same part seen from another frame: `T` of its own in it."""
        return ToolPart(T.act(self.middle), T.rotation @ self.axis, self.disc, self.ball)

    def over(self, normal: FloatArray) -> float:
        """Least coordinate [m] of the part along `normal` (3,)."""
        across = np.sqrt(max(1.0 - float(normal @ self.axis) ** 2, 0.0))
        return float(normal @ self.middle - self.disc * across - self.ball)


def tool_parts(robot: RobotModel) -> list[ToolPart]:
    """Parts in TN of all that the arm's last joint moves, with fingers anywhere in their range.

    Shapes that are neither box, cylinder, capsule nor ball count as the box around them. Raises ModelError when a shape
    cannot be read, or none is known.
    """
    key = (robot.urdf, str(robot.urdf_path), robot.tool_frame)
    if key not in _TOOLS:
        _TOOLS[key] = _parts_of(robot)
        for old in list(_TOOLS)[:-KEPT]:
            del _TOOLS[old]
    return _TOOLS[key]


_TOOLS: dict[tuple[str, str, str], list[ToolPart]] = {}


def _parts_of(robot: RobotModel) -> list[ToolPart]:
    last, frame = robot.model.njoints - 1, robot.model.frames[robot.tool_frame_id]
    shapes = [shape for shape in link_shapes(robot) if shape.link == last]
    if not shapes:
        raise ModelError(f"{robot.urdf_path}: what the last joint moves has no collision shape")
    back = frame.placement.inverse()
    return [part.in_frame(back) for shape in shapes for part in _parts(shape)]


def guard_of(guard: Guard, robot: RobotModel, parameters: GcmsfParameters, T_base_tn: pin.SE3) -> GuardBand | None:
    """The guard of a motion that begins with TN at `T_base_tn`; None without a plane or box.

    Raises InvalidValueError when neither the arm file nor `guard_points` give the tool a shape.
    """
    planes = [*_plane(guard), *_box(guard)]
    if not planes:
        return None
    T_nom = parameters.trajectory.se3("tr_nom")
    T_world_nom = parameters.system.se3("tr_base") * T_base_tn * T_nom
    parts = [*_known(guard, robot, T_nom), *_points(guard, robot, T_nom)]
    rows = np.empty((len(planes) * len(parts), GUARD_COLUMNS))
    for k, (normal, offset) in enumerate(planes):
        for i, part in enumerate(parts):
            start = part.in_frame(T_world_nom).over(normal) - offset
            deepest = max(start - SLACK, 0.0) if start > 0.0 else start - SLACK  # who begins inside stays inside
            least = min(guard.guard_band, deepest) + part.ball
            rows[k * len(parts) + i] = (*normal, offset, *part.middle, least, *part.axis, part.disc)
    return GuardBand(rows)


def _plane(guard: Guard) -> list[tuple[FloatArray, float]]:
    """Normal (3,) and offset [m] in WORLD of the plane, if there is one."""
    if not guard.guard_plane:
        return []
    plane = np.array(guard.guard_plane)
    normal = plane[3:] / np.linalg.norm(plane[3:])
    return [(normal, float(normal @ plane[:3]))]


def _box(guard: Guard) -> list[tuple[FloatArray, float]]:
    """The six faces of the box, if there is one."""
    if not guard.guard_box:
        return []
    corners = np.array(guard.guard_box).reshape(2, 3)
    return [(normal, float(normal @ corners[int(k > 2)])) for k, normal in enumerate(_FACES)]


def _known(guard: Guard, robot: RobotModel, T_nom: pin.SE3) -> list[ToolPart]:
    """The parts of the tool in NOM as the arm file gives them."""
    try:
        parts = tool_parts(robot)
    except ModelError as error:
        if guard.guard_points:
            return []
        raise InvalidValueError("guard_points", (), f"allowed: points of the tool, for {error}") from None
    return [part.in_frame(T_nom.inverse()) for part in parts]


def _points(guard: Guard, robot: RobotModel, T_nom: pin.SE3) -> list[ToolPart]:
    """Points in NOM: those of the parameters, of what is held, and the tool's axis from the sensor to TN and NOM."""
    ends = (np.zeros(3), sensor_in_tool(robot).translation)  # in TN
    given = np.array(guard.guard_points).reshape(-1, 3)
    return [ToolPart(p, _Z) for p in (np.zeros(3), *(T_nom.actInv(end) for end in ends), *given)]


def _parts(shape: LinkShape) -> list[ToolPart]:
    """The parts of one shape in the frame of its joint."""
    solid = shape.solid
    if not isinstance(solid, coal.Cylinder | coal.Capsule | coal.Sphere):
        return _corners(shape)
    disc, ball = (solid.radius, 0.0) if isinstance(solid, coal.Cylinder) else (0.0, solid.radius)
    length = 0.0 if isinstance(solid, coal.Sphere) else solid.halfLength
    ends = sorted({-length, length})
    return [
        ToolPart(T.act(end * _Z), T.rotation[:, 2], disc, ball + shape.slack) for T in shape.placements for end in ends
    ]


def _corners(shape: LinkShape) -> list[ToolPart]:
    """Corners of the box around a shape; a shape that slides is in one box from end to end."""
    shape.solid.computeLocalAABB()
    low, high = np.array(shape.solid.aabb_local.min_), np.array(shape.solid.aabb_local.max_)
    corners = 0.5 * (low + high) + 0.5 * (high - low) * _SIGNS
    found = []
    for turn in shape.turns:
        seen = np.array([turn[0].actInv(T.act(corner)) for T in turn for corner in corners])
        low, high = seen.min(axis=0), seen.max(axis=0)
        around = 0.5 * (low + high) + 0.5 * (high - low) * _SIGNS
        found += [ToolPart(turn[0].act(corner), _Z, 0.0, shape.slack) for corner in around]
    return found
