"""The picture of a planned path: arm, obstacles and cells of the proof; clearance and joint velocities."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.cspace.geometry import Obstacle
from telerobot_nodes.cspace.service import PathDisplay, PlannedPath
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.plotting.arm_scene import draw_obstacle, skeleton
from telerobot_nodes.plotting.figure import BLUE, GREEN, GREY, VERMILION, frame_cube, picture

SHOWN_ARMS = 7  # configurations drawn, start and goal among them
MAX_CELLS = 60
ROOMY = 0.05  # [m] clearance drawn green
MAX_CLEARANCE = 0.2  # [m] larger clearances are drawn as this


def draw_planned_path(
    file: Path, robot: RobotModel, path: PlannedPath, obstacles: Sequence[Obstacle], margin: float
) -> None:
    """Write `path` of `robot` as PNG; `margin` [m] is the distance kept from `obstacles`.

    Raises InvalidValueError on a path that was planned without display data.
    """
    if path.display is None:
        raise InvalidValueError("path.display", None, "allowed: a path requested with display data")
    with picture(file, (11.0, 5.6), layout="none") as figure:
        scene = figure.add_axes((0.0, 0.0, 0.58, 0.94), projection="3d")
        for obstacle in obstacles:
            draw_obstacle(scene, obstacle)
        shares = np.linspace(0.0, 1.0, SHOWN_ARMS)
        arms = [skeleton(robot, path.positions[round(share * (len(path.positions) - 1))]) for share in shares]
        for share, points in zip(shares, arms, strict=True):
            _draw_arm(scene, points, float(share))
        _draw_path(scene, path.display)
        _frame(scene, np.vstack(arms))
        scene.set_title(f"{len(path.waypoints)} waypoints, {path.length:.2f} rad, proved by {path.cells} cells")
        _draw_clearance(figure.add_axes((0.66, 0.57, 0.31, 0.34)), path.display, margin)
        _draw_joints(figure.add_axes((0.66, 0.1, 0.31, 0.34)), path)


def _draw_arm(axes: Any, points: FloatArray, share: float) -> None:
    colour = (0.15 + 0.6 * share, 0.3, 0.75 - 0.5 * share)  # from blue to red
    width, alpha = (3.5, 0.95) if share in (0.0, 1.0) else (1.6, 0.35)
    axes.plot(*points.T, color=colour, linewidth=width, alpha=alpha, solid_capstyle="round", marker="o", markersize=3)


def _draw_path(axes: Any, shown: PathDisplay) -> None:
    shares = np.clip(shown.clearance / ROOMY, 0.0, 1.0)
    colours = np.column_stack(
        [np.minimum(2 * (1 - shares), 1), np.minimum(1.6 * shares, 0.8), np.full(shares.size, 0.1)]
    )
    axes.scatter(*shown.points.T, c=colours, s=9, depthshade=False, zorder=10)
    step = max(1, len(shown.cell_radius) // MAX_CELLS)
    u, v = np.mgrid[0 : 2 * np.pi : 13j, 0 : np.pi : 8j]
    ball = np.stack([np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v)])
    for center, radius in zip(shown.cell_points[::step], shown.cell_radius[::step], strict=True):
        axes.plot_wireframe(*(center[:, None, None] + radius * ball), color=BLUE, alpha=0.3, linewidth=0.5)


def _frame(axes: Any, points: FloatArray) -> None:
    low, high = points.min(axis=0), points.max(axis=0)
    half = 0.53 * float((high - low).max())
    frame_cube(axes, np.array([*(0.5 * (low + high))[:2], half]), half)
    axes.view_init(elev=40.0, azim=-58.0)


def _draw_clearance(axes: Any, display: PathDisplay, margin: float) -> None:
    share = np.linspace(0.0, 100.0, len(display.clearance))
    shown = 1e3 * np.minimum(display.clearance, MAX_CLEARANCE)
    axes.plot(share, shown, color=GREEN, label="from obstacles, beyond the margin")
    axes.plot(share, 1e3 * np.minimum(display.self_clearance, MAX_CLEARANCE), color=GREY, label="from itself")
    axes.axhline(0.0, color=VERMILION, linewidth=1.0, label=f"margin, {1e3 * margin:.0f} mm from contact")
    axes.set(xlabel="way [%]", ylabel="clearance [mm]")
    axes.set_ylim(min(0.0, float(shown.min())) - 1.0, 1.25 * float(shown.max()) + 1.0)
    axes.legend(loc="upper right")


def _draw_joints(axes: Any, path: PlannedPath) -> None:
    for name, velocity in zip(path.joint_names, path.velocities.T, strict=True):
        axes.plot(path.times, velocity, label=name, linewidth=1.1)
    axes.set(xlabel="time [s]", ylabel="joint velocity [rad/s]")
    axes.legend(fontsize=6, ncols=2)
