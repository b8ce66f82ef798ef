"""Arms and obstacles drawn in 3-D axes, WORLD in metres."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.cspace.geometry import Obstacle

CORNERS = np.array([[-1, -1, -1], [1, -1, -1], [1, 1, -1], [-1, 1, -1], [-1, -1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1]])
FACES = ((0, 1, 2, 3), (4, 5, 6, 7), (0, 1, 5, 4), (2, 3, 7, 6), (1, 2, 6, 5), (0, 3, 7, 4))
COLOUR = (0.78, 0.6, 0.4)


def skeleton(robot: RobotModel, q: FloatArray) -> FloatArray:
    """Origins (k, 3) [m] of base, joints and tool at joint positions `q` (dof,) [rad]."""
    data = robot.new_data()
    pin.forwardKinematics(robot.model, data, q)
    pin.updateFramePlacement(robot.model, data, robot.tool_frame_id)
    places = [robot.T_world_base.translation, *(T.translation for T in list(data.oMi)[1:])]
    return np.array([*places, data.oMf[robot.tool_frame_id].translation])


def draw_obstacle(axes: Any, obstacle: Obstacle) -> None:
    """Draw one obstacle; half-spaces are not drawn."""
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    T = obstacle.T_world_obstacle
    if obstacle.kind == "half_space":
        return
    if obstacle.kind == "box":
        corners = np.array([T.act(row) for row in 0.5 * CORNERS * np.array(obstacle.size)])
        faces = [corners[list(face)] for face in FACES]
        edge = (0.5, 0.35, 0.2, 0.8)
        axes.add_collection3d(Poly3DCollection(faces, facecolor=(*COLOUR, 0.35), edgecolor=edge, lw=0.6))
        return
    placed = _round_surface(obstacle) @ T.rotation.T + T.translation
    axes.plot_surface(*np.moveaxis(placed, 2, 0), color=COLOUR, alpha=0.4, linewidth=0)


def _round_surface(obstacle: Obstacle) -> FloatArray:
    """Grid (i, j, 3) [m] of a cylinder or a sphere in its own frame."""
    around = np.linspace(0.0, 2.0 * np.pi, 25)
    if obstacle.kind == "cylinder":
        radius, half = obstacle.size[0], 0.5 * obstacle.size[1]
        return np.array([[[radius * np.cos(a), radius * np.sin(a), z] for a in around] for z in (-half, half)])
    down = np.linspace(0.0, np.pi, 13)
    unit = [[[np.cos(a) * np.sin(b), np.sin(a) * np.sin(b), np.cos(b)] for a in around] for b in down]
    surface: FloatArray = obstacle.size[0] * np.array(unit)
    return surface
