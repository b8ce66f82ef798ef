"""Pictures of the planner: growth of its cost; a path with its cells (run this module: `docs/images`)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.cspace.arm_geometry import ArmGeometry, arm_geometry
from telerobot_nodes.cspace.clearance import clearance
from telerobot_nodes.cspace.obstacles import Obstacle, world_of
from telerobot_nodes.cspace.path_plot import skeleton
from telerobot_nodes.cspace.placing import ball_centers, places_of
from telerobot_nodes.cspace.planner import Plan, Planner
from telerobot_nodes.cspace.problems import Problem, make_problem
from telerobot_nodes.cspace.solids import box_points


def draw_growth(figures: Mapping[str, Any], file: Path) -> None:
    """Four panels: joints, obstacles, shortest piece, finest cell."""
    fig, panels = plt.subplots(1, 4, figsize=(14, 3.4))
    for panel, name, key, label in (
        (panels[0], "joints", "joints", "joints"),
        (panels[1], "obstacles", "obstacles", "obstacles"),
    ):
        rows = figures[name]
        x = [row[key] for row in rows]
        panel.plot(x, [row["median_ms"] for row in rows], "o-", label="median")
        panel.plot(x, [row["p95_ms"] for row in rows], "s--", label="95th percentile")
        panel.set(xlabel=label, ylabel="planning time, solved [ms]", yscale="log")
        panel.legend()
    panels[1].set_xscale("log")
    _plain(panels[1].xaxis, [1, 10, 100])
    _two_axes(panels[2], figures["finest"], "finest", "median_ms", "cells_median", "shortest piece proved [rad]")
    _two_axes(panels[3], figures["cells"], "cell", "ms", "cells", "finest cell, 2 joints [rad]")
    for panel in panels:
        panel.grid(alpha=0.3)
    fig.tight_layout()
    fig.savefig(file, dpi=90)
    plt.close(fig)


def _two_axes(panel: Any, rows: list[dict[str, Any]], key: str, time: str, cells: str, label: str) -> None:
    x = [row[key] for row in rows]
    panel.plot(x, [row[time] for row in rows], "o-", color="C0")
    panel.set(xlabel=label, xscale="log", ylim=(0.0, 1.1 * max(row[time] for row in rows)))
    panel.set_ylabel("time [ms]", color="C0")
    _plain(panel.xaxis, x)
    panel.invert_xaxis()
    other = panel.twinx()
    other.plot(x, [row[cells] for row in rows], "s--", color="C3")
    other.set_ylim(0.0, 1.1 * max(row[cells] for row in rows))
    other.set_ylabel("cells", color="C3")


def _plain(axis: Any, ticks: list[float]) -> None:
    """Numbers as they are at these places of an axis."""
    axis.set_major_locator(FixedLocator(ticks))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def draw_path(geometry: ArmGeometry, problem: Problem, plan: Plan, file: Path) -> None:
    """A path among its obstacles, and the cells that prove it with the clearance along them."""
    fig = plt.figure(figsize=(12, 5.2))
    _scene(fig.add_axes((0.0, 0.0, 0.52, 1.0), projection="3d"), geometry, problem, plan)
    upper, lower = fig.add_axes((0.6, 0.57, 0.38, 0.35)), fig.add_axes((0.6, 0.11, 0.38, 0.35))
    _cells(upper, lower, geometry, problem, plan)
    fig.savefig(file, dpi=85)
    plt.close(fig)


def _scene(axes: Any, geometry: ArmGeometry, problem: Problem, plan: Plan) -> None:
    for obstacle in problem.obstacles:
        if obstacle.kind != "half_space":
            _outline(axes, obstacle)
    marks = np.linspace(0.0, 1.0, 7)
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(plan.path, axis=0), axis=1))])
    for part in marks:
        q = np.array([np.interp(part * along[-1], along, column) for column in plan.path.T])
        colour, end = plt.get_cmap("viridis")(0.9 * part), part in (0.0, 1.0)
        balls = ball_centers(geometry.arm, q)
        area = 2.6e4 * geometry.arm.ball_radius**2
        axes.scatter(*balls.T, s=area, color=colour, alpha=0.3 if end else 0.04, linewidths=0)
        axes.plot(*skeleton(geometry.robot, q).T, color=colour, linewidth=4.0 if end else 1.8, marker="o", markersize=3)
    fine = np.linspace(0.0, along[-1], 200)
    tool = [geometry.robot.forward(np.array([np.interp(s, along, c) for c in plan.path.T])).translation for s in fine]
    axes.plot(*np.array(tool).T, color="red", linewidth=2)
    axes.set(xlim=(-0.35, 0.85), ylim=(-0.6, 0.6), zlim=(0.0, 1.1), xlabel="x [m]", ylabel="y [m]", zlabel="z [m]")
    axes.set_box_aspect((1.2, 1.2, 1.1), zoom=0.88)
    axes.view_init(24, -112)


def _outline(axes: Any, obstacle: Obstacle) -> None:
    size = np.array(obstacle.size)
    if obstacle.kind == "cylinder":
        size = np.array([2.0 * size[0], 2.0 * size[0], size[1]])
    elif obstacle.kind == "sphere":
        size = np.full(3, 2.0 * size[0])
    T, corners = obstacle.T_world_obstacle, box_points(size)
    for i in range(8):
        for k in range(i + 1, 8):
            if np.count_nonzero(corners[i] != corners[k]) == 1:
                ends = np.array([T.act(corners[i]), T.act(corners[k])])
                axes.plot(*ends.T, color="black", linewidth=0.6)


def _cells(upper: Any, lower: Any, geometry: ArmGeometry, problem: Problem, plan: Plan) -> None:
    """Width of every cell and the clearance at its centre, over the way along the path."""
    if plan.certificate is None:
        return
    centers, halves = plan.certificate.centers, plan.certificate.halves
    length = 2.0 * np.linalg.norm(halves, axis=1)
    start = np.concatenate([[0.0], np.cumsum(length)[:-1]])
    world, at = world_of(problem.obstacles, problem.margin), places_of(geometry.arm)
    room = [1e3 * clearance(geometry.arm, world, at, q) for q in centers]
    upper.bar(start, 2.0 * halves.max(axis=1), width=length, align="edge", edgecolor="white", linewidth=0.4)
    upper.set(ylabel="widest side of\nthe cell [rad]", title=f"{len(centers)} free cells prove the path")
    lower.step(start, room, where="post", color="C2")
    lower.axhline(0.0, color="red", linewidth=1)
    lower.set(ylabel="clearance beyond\nthe margin [mm]", xlabel="way along the path [rad]", yscale="symlog")
    for axes in (upper, lower):
        axes.grid(alpha=0.3)


def main() -> None:
    """Draw `docs/images/planner_path.png`: a path into a bookshelf."""
    geometry = arm_geometry(load_robot("panda"))
    problem = make_problem(geometry, "bookshelf", 3)
    plan = Planner(geometry, list(problem.obstacles)).plan(problem.start, problem.goal)
    draw_path(geometry, problem, plan, Path("docs/images/planner_path.png"))


if __name__ == "__main__":
    main()
