"""A planned path as a picture: the arm on its way among the obstacles, its cells, and the clearance along it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.cspace.obstacles import Obstacle
from telerobot_nodes.cspace.requests import PlannedPath

SHOWN_ARMS = 7  # configurations drawn, start and goal among them
MOST_CELLS = 60
ROOMY = 0.05  # [m] clearance drawn green
CORNERS = np.array([[-1, -1, -1], [1, -1, -1], [1, 1, -1], [-1, 1, -1], [-1, -1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1]])
FACES = ((0, 1, 2, 3), (4, 5, 6, 7), (0, 1, 5, 4), (2, 3, 7, 6), (1, 2, 6, 5), (0, 3, 7, 4))


def save_picture(file: Path, robot: RobotModel, path: PlannedPath, obstacles: list[Obstacle], margin: float) -> None:
    """Write a PNG of `path`."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(11.0, 5.6), dpi=110)
    scene = figure.add_axes((0.0, 0.0, 0.58, 0.94), projection="3d")
    for obstacle in obstacles:
        _draw_obstacle(scene, obstacle)
    shares = np.linspace(0.0, 1.0, SHOWN_ARMS)
    arms = [skeleton(robot, path.positions[round(share * (len(path.positions) - 1))]) for share in shares]
    for share, points in zip(shares, arms, strict=True):
        _draw_arm(scene, points, float(share))
    _draw_path(scene, path)
    _frame(scene, np.vstack(arms))
    scene.set_title(
        f"{len(path.waypoints)} waypoints, {path.length:.2f} rad, proved by {path.cells} cells", fontsize=10
    )
    _draw_clearance(figure.add_axes((0.66, 0.57, 0.31, 0.34)), path, margin)
    _draw_joints(figure.add_axes((0.66, 0.1, 0.31, 0.34)), path)
    figure.savefig(file)
    plt.close(figure)


def skeleton(robot: RobotModel, q: FloatArray) -> FloatArray:
    """Base, joints and tool (k, 3) [m] at `q`."""
    data = robot.new_data()
    pin.forwardKinematics(robot.model, data, q)
    pin.updateFramePlacement(robot.model, data, robot.tool_frame_id)
    places = [robot.T_world_base.translation, *(T.translation for T in list(data.oMi)[1:])]
    return np.array([*places, data.oMf[robot.tool_frame_id].translation])


def _draw_arm(axes: Any, points: FloatArray, share: float) -> None:
    ends = share in (0.0, 1.0)
    colour = (0.15 + 0.6 * share, 0.3, 0.75 - 0.5 * share)  # from blue to red
    width, alpha = (3.5, 0.95) if ends else (1.6, 0.35)
    axes.plot(*points.T, color=colour, linewidth=width, alpha=alpha, solid_capstyle="round", marker="o", markersize=3)


def _draw_path(axes: Any, path: PlannedPath) -> None:
    picture = path.picture
    shares = np.clip(picture.clearance / ROOMY, 0.0, 1.0)
    colours = np.column_stack(
        [np.minimum(2 * (1 - shares), 1), np.minimum(1.6 * shares, 0.8), np.full(shares.size, 0.1)]
    )
    axes.scatter(*picture.points.T, c=colours, s=9, depthshade=False, zorder=10)
    step = max(1, len(picture.cell_radius) // MOST_CELLS)
    u, v = np.mgrid[0 : 2 * np.pi : 13j, 0 : np.pi : 8j]
    ball = np.stack([np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v)])
    for center, radius in zip(picture.cell_points[::step], picture.cell_radius[::step], strict=True):
        x, y, z = center[:, None, None] + radius * ball
        axes.plot_wireframe(x, y, z, color="tab:blue", alpha=0.3, linewidth=0.5)


def _draw_obstacle(axes: Any, obstacle: Obstacle) -> None:
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    T = obstacle.T_world_obstacle
    colour = (0.78, 0.6, 0.4)
    if obstacle.kind == "half_space":
        return
    if obstacle.kind == "box":
        corners = np.array([T.act(row) for row in 0.5 * CORNERS * np.array(obstacle.size)])
        faces = [corners[list(face)] for face in FACES]
        axes.add_collection3d(
            Poly3DCollection(faces, facecolor=(*colour, 0.35), edgecolor=(0.5, 0.35, 0.2, 0.8), lw=0.6)
        )
        return
    u = np.linspace(0.0, 2.0 * np.pi, 25)
    if obstacle.kind == "cylinder":
        radius, half = obstacle.size[0], 0.5 * obstacle.size[1]
        local = np.array([[[radius * np.cos(a), radius * np.sin(a), z] for a in u] for z in (-half, half)])
    else:
        radius, v = obstacle.size[0], np.linspace(0.0, np.pi, 13)
        ring = [[[np.cos(a) * np.sin(b), np.sin(a) * np.sin(b), np.cos(b)] for a in u] for b in v]
        local = radius * np.array(ring)
    placed = local @ T.rotation.T + T.translation
    axes.plot_surface(*np.moveaxis(placed, 2, 0), color=colour, alpha=0.4, linewidth=0)


def _frame(axes: Any, points: FloatArray) -> None:
    low, high = points.min(axis=0), points.max(axis=0)
    middle, half = 0.5 * (low + high), 0.53 * float((high - low).max())
    axes.set_xlim(middle[0] - half, middle[0] + half)
    axes.set_ylim(middle[1] - half, middle[1] + half)
    axes.set_zlim(0.0, 2.0 * half)
    axes.set_box_aspect((1.0, 1.0, 1.0), zoom=1.0)
    axes.set_xlabel("x [m]")
    axes.set_ylabel("y [m]")
    axes.set_zlabel("z [m]")
    axes.view_init(elev=40.0, azim=-58.0)


def _draw_clearance(axes: Any, path: PlannedPath, margin: float) -> None:
    share = np.linspace(0.0, 100.0, len(path.picture.clearance))
    shown = 1e3 * np.minimum(path.picture.clearance, 0.2)
    axes.plot(share, shown, color="tab:green", label="from obstacles, beyond the margin")
    axes.plot(share, 1e3 * np.minimum(path.picture.self_clearance, 0.2), color="tab:gray", label="from itself")
    axes.axhline(0.0, color="tab:red", linewidth=1.0, label=f"margin, {1e3 * margin:.0f} mm from contact")
    axes.set_xlabel("way [%]", fontsize=8)
    axes.set_ylabel("clearance [mm]", fontsize=8)
    axes.set_ylim(min(0.0, float(shown.min())) - 1.0, 1.25 * float(shown.max()) + 1.0)
    axes.legend(fontsize=7, loc="upper right")
    axes.tick_params(labelsize=7)
    axes.grid(alpha=0.3)


def _draw_joints(axes: Any, path: PlannedPath) -> None:
    for i, name in enumerate(path.joint_names):
        axes.plot(path.times, path.velocities[:, i], label=name, linewidth=1.1)
    axes.set_xlabel("time [s]", fontsize=8)
    axes.set_ylabel("joint velocity [rad/s]", fontsize=8)
    axes.legend(fontsize=6, ncols=2)
    axes.tick_params(labelsize=7)
    axes.grid(alpha=0.3)
