"""Pictures of the planner's search: growth of its cost, and a path with the cells that prove it [US5347459]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from telerobot_nodes.cspace.geometry import ArmGeometry, Obstacle, clearance, link_poses_of, sphere_centers, world_of
from telerobot_nodes.cspace.search import Plan
from telerobot_nodes.plotting.arm_scene import draw_obstacle, skeleton
from telerobot_nodes.plotting.figure import BLUE, GREEN, VERMILION, picture

SHOWN_ARMS = 7  # configurations drawn, start and goal among them
TOOL_POINTS = 200  # of the tool's path


def draw_growth(figures: Mapping[str, Any], file: Path) -> None:
    """Write cost over joints, obstacles, shortest piece and finest cell: the figures of `planner_growth`."""
    with picture(file, (14.0, 3.4), dpi=90) as figure:
        joints, obstacles, finest, cells = figure.subplots(1, 4)
        for axes, name in ((joints, "joints"), (obstacles, "obstacles")):
            rows = figures[name]
            x = [row[name] for row in rows]
            axes.plot(x, [row["median_ms"] for row in rows], "o-", label="median")
            axes.plot(x, [row["p95_ms"] for row in rows], "s--", label="95th percentile")
            axes.set(xlabel=name, ylabel="planning time, solved [ms]", yscale="log")
            axes.legend()
        obstacles.set_xscale("log")
        _plain_ticks(obstacles.xaxis, [1, 10, 100])
        _two_axes(finest, figures["finest"], "finest", "median_ms", "cells_median", "shortest piece proved [rad]")
        _two_axes(cells, figures["cells"], "cell", "ms", "cells", "finest cell, 2 joints [rad]")


def _two_axes(axes: Any, rows: list[dict[str, Any]], key: str, time: str, cells: str, label: str) -> None:
    x = [row[key] for row in rows]
    axes.plot(x, [row[time] for row in rows], "o-", color=BLUE)
    axes.set(xlabel=label, xscale="log", ylim=(0.0, 1.1 * max(row[time] for row in rows)))
    axes.set_ylabel("time [ms]", color=BLUE)
    _plain_ticks(axes.xaxis, x)
    axes.invert_xaxis()
    other = axes.twinx()
    other.grid(visible=False)
    other.plot(x, [row[cells] for row in rows], "s--", color=VERMILION)
    other.set_ylim(0.0, 1.1 * max(row[cells] for row in rows))
    other.set_ylabel("cells", color=VERMILION)


def _plain_ticks(axis: Any, ticks: list[float]) -> None:
    """Only these ticks, written as plain numbers."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    axis.set_major_locator(FixedLocator(ticks))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def draw_proof(geometry: ArmGeometry, obstacles: Sequence[Obstacle], margin: float, plan: Plan, file: Path) -> None:
    """Write a path among its obstacles, and the cells that prove it with the clearance [m] beyond `margin` [m]."""
    with picture(file, (12.0, 5.2), dpi=85, layout="none") as figure:
        scene = figure.add_axes((0.0, 0.0, 0.52, 1.0), projection="3d")
        for obstacle in obstacles:
            draw_obstacle(scene, obstacle)
        _draw_arms(scene, geometry, plan)
        upper, lower = figure.add_axes((0.6, 0.57, 0.38, 0.35)), figure.add_axes((0.6, 0.11, 0.38, 0.35))
        _draw_cells(upper, lower, geometry, obstacles, margin, plan)


def _draw_arms(axes: Any, geometry: ArmGeometry, plan: Plan) -> None:
    import matplotlib as mpl

    way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(plan.path, axis=0), axis=1))])
    for part in np.linspace(0.0, 1.0, SHOWN_ARMS):
        q = np.array([np.interp(part * way[-1], way, column) for column in plan.path.T])
        colour, end = mpl.colormaps["viridis"](0.9 * part), part in (0.0, 1.0)
        area = 2.6e4 * geometry.arm.sphere_radius**2
        spheres = sphere_centers(geometry.arm, q).T
        axes.scatter(*spheres, s=area, color=colour, alpha=0.3 if end else 0.04, linewidths=0)
        axes.plot(*skeleton(geometry.robot, q).T, color=colour, linewidth=4.0 if end else 1.8, marker="o", markersize=3)
    fine = np.linspace(0.0, way[-1], TOOL_POINTS)
    joints = np.array([np.interp(fine, way, column) for column in plan.path.T]).T
    axes.plot(*np.array([geometry.robot.forward(q).translation for q in joints]).T, color="red", linewidth=2)
    axes.set(xlim=(-0.35, 0.85), ylim=(-0.6, 0.6), zlim=(0.0, 1.1), xlabel="x [m]", ylabel="y [m]", zlabel="z [m]")
    axes.set_box_aspect((1.2, 1.2, 1.1), zoom=0.88)
    axes.view_init(24, -112)


def _draw_cells(
    upper: Any, lower: Any, geometry: ArmGeometry, obstacles: Sequence[Obstacle], margin: float, plan: Plan
) -> None:
    """Width of every cell and the clearance at its centre, over the way along the path."""
    if plan.certificate is None:
        return
    centers, halves = plan.certificate.centers, plan.certificate.halves
    length = 2.0 * np.linalg.norm(halves, axis=1)
    start = np.concatenate([[0.0], np.cumsum(length)[:-1]])
    world, poses = world_of(obstacles, margin), link_poses_of(geometry.arm)
    room = [1e3 * clearance(geometry.arm, world, poses, q) for q in centers]
    upper.bar(start, 2.0 * halves.max(axis=1), width=length, align="edge", edgecolor="white", linewidth=0.4)
    upper.set(ylabel="widest side of\nthe cell [rad]", title=f"{len(centers)} free cells prove the path")
    lower.step(start, room, where="post", color=GREEN)
    lower.axhline(0.0, color=VERMILION, linewidth=1)
    lower.set(ylabel="clearance beyond\nthe margin [mm]", xlabel="way along the path [rad]", yscale="symlog")
