"""Paths, their clearance and their cells, and the obstacles in force, as markers for RViz and others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from geometry_msgs.msg import Point
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from telerobot_nodes.cspace.geometry import Obstacle, Scene, Voxels
from telerobot_nodes.cspace.service import PathDisplay, PlannedPath
from telerobot_nodes.nodes.messages import pose_to_message

NEAR, ROOMY = 0.0, 0.05  # [m] clearances drawn red and green
MOST_CELLS = 200
PLATE = (4.0, 4.0, 0.002)  # [m] drawn for a half-space

_CELL = ColorRGBA(r=0.3, g=0.6, b=1.0, a=0.12)
_OBSTACLE = ColorRGBA(r=0.75, g=0.55, b=0.35, a=0.7)
_TYPES = {"box": Marker.CUBE, "half_space": Marker.CUBE, "sphere": Marker.SPHERE, "cylinder": Marker.CYLINDER}


def path_markers(paths: Iterable[PlannedPath], stamp: Any) -> Any:
    """MarkerArray of paths with display data: a line coloured by clearance, and a sphere around the tool per cell."""
    markers = [Marker(action=Marker.DELETEALL)]
    for path in paths:
        if path.display is not None:
            markers += [_line(path.arm, path.display), *_cells(path.arm, path.display)]
    return _stamped(markers, stamp)


def scene_markers(scene: Scene, stamp: Any) -> list[Any]:
    """Markers of what stands in WORLD."""
    solids = enumerate(scene.obstacles)
    return list(_stamped([_solid(i, solid) for i, solid in solids], stamp).markers)


def clearance_colour(value: float) -> tuple[float, float, float]:
    """Red where the arm is at its margin, over yellow, to green where there is room."""
    share = float(np.clip((value - NEAR) / (ROOMY - NEAR), 0.0, 1.0))
    return (min(2.0 * (1.0 - share), 1.0), min(2.0 * share, 1.0), 0.1)


def _line(arm: str, display: PathDisplay) -> Any:
    line = Marker(type=Marker.LINE_STRIP, action=Marker.ADD, ns=f"path {arm}")
    line.scale.x, line.pose.orientation.w = 0.006, 1.0
    for point, clearance in zip(display.points, display.clearance, strict=True):
        r, g, b = clearance_colour(float(clearance))
        line.points.append(_point(point))
        line.colors.append(ColorRGBA(r=r, g=g, b=b, a=1.0))
    if len(line.points) < 2:
        line.action = Marker.DELETE
    return line


def _cells(arm: str, display: PathDisplay) -> list[Any]:
    step = max(1, len(display.cell_radius) // MOST_CELLS)
    found = []
    for i in range(0, len(display.cell_radius), step):
        sphere = Marker(type=Marker.SPHERE, action=Marker.ADD, ns=f"cells {arm}", id=i, color=_CELL)
        size = max(2.0 * float(display.cell_radius[i]), 1e-3)
        sphere.scale.x = sphere.scale.y = sphere.scale.z = size
        sphere.pose.position, sphere.pose.orientation.w = _point(display.cell_points[i]), 1.0
        found.append(sphere)
    return found


def _voxels(number: int, solid: Voxels) -> Any:
    marker = Marker(type=Marker.CUBE_LIST, action=Marker.ADD, ns="obstacles", id=number, color=_OBSTACLE)
    marker.pose = pose_to_message(np.array(solid.pose))
    marker.text = solid.name
    marker.scale.x, marker.scale.y, marker.scale.z = solid.size
    marker.points = [_point(center) for center in solid.centers]
    return marker


def _solid(number: int, solid: Obstacle) -> Any:
    if isinstance(solid, Voxels):
        return _voxels(number, solid)
    marker = Marker(type=_TYPES[solid.kind], action=Marker.ADD, ns="obstacles", id=number, color=_OBSTACLE)
    marker.pose = pose_to_message(np.array(solid.pose))
    marker.text = solid.name
    size = solid.size
    if solid.kind == "sphere":
        x = y = z = 2.0 * size[0]
    elif solid.kind == "cylinder":
        x = y = 2.0 * size[0]
        z = size[1]
    else:
        x, y, z = size if solid.kind == "box" else PLATE
    marker.scale.x, marker.scale.y, marker.scale.z = float(x), float(y), float(z)
    return marker


def _point(values: Any) -> Any:
    x, y, z = (float(value) for value in values)
    return Point(x=x, y=y, z=z)


def _stamped(markers: list[Any], stamp: Any) -> Any:
    for marker in markers:
        marker.header.frame_id, marker.header.stamp = "world", stamp
    return MarkerArray(markers=markers)
