"""Guarded motion [US5231693]: a plane, and a box, that the tool must not leave, with a band before them.

What belongs here: the rows of the law's guard, from parameters and the place where a motion begins. A point that begins
inside the band, or beyond the plane, may stay there and come out, but go no deeper.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.motion.law import GUARD_COLUMNS, Law, sensor_in_tool
from telerobot_nodes.motion.parameters import GcmsfParameters, Guard

SLACK = 1e-5  # [m] by which inverse kinematics may move a tool that is to rest
_FACES = np.vstack((np.eye(3), -np.eye(3)))  # normals of a box, into it: lower faces, then upper ones


@dataclasses.dataclass(frozen=True)
class GuardBand:
    """The guard of one motion; none of its rows without a plane or box."""

    rows: FloatArray  # as in `Law.guard`

    def applied(self, law: Law) -> Law:
        """The same law with this guard."""
        return law._replace(guard=self.rows)


def guard_of(guard: Guard, robot: RobotModel, parameters: GcmsfParameters, T_base_tn: pin.SE3) -> GuardBand | None:
    """The guard of a motion that begins with TN at `T_base_tn`; None without a plane or box."""
    planes = [*_plane(guard), *_box(guard)]
    if not planes:
        return None
    T_nom = parameters.trajectory.se3("tr_nom")
    T_world_nom = parameters.system.se3("tr_base") * T_base_tn * T_nom
    points = _points(guard, robot, T_nom)
    rows = np.empty((len(planes) * len(points), GUARD_COLUMNS))
    for k, (normal, offset) in enumerate(planes):
        for i, point in enumerate(points):
            start = float(normal @ T_world_nom.act(point)) - offset
            least = min(guard.guard_band, start - SLACK)
            rows[k * len(points) + i] = (*normal, offset, *point, least)
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


def _points(guard: Guard, robot: RobotModel, T_nom: pin.SE3) -> list[FloatArray]:
    """Points of the tool (3,) [m] in NOM: those of the parameters, or its axis from the sensor to TN and NOM."""
    if guard.guard_points:
        return list(np.array(guard.guard_points).reshape(-1, 3))
    ends = (np.zeros(3), sensor_in_tool(robot).translation)  # in TN
    return [np.zeros(3), *(T_nom.actInv(end) for end in ends)]
