"""Pictures of the planner: growth of its cost; a path with its cells (run this module: `docs/images`)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.cspace.arm_geometry import ArmGeometry, arm_geometry
from telerobot_nodes.cspace.clearance import clearance
from telerobot_nodes.cspace.obstacles import Obstacle, world_of
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
        panel.set(xlabel=label, ylabel="planning time [ms]", yscale="log")
        panel.legend()
    panels[1].set_xscale("log")
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
    panel.set(xlabel=label, xscale="log", yscale="log")
    panel.set_ylabel("time [ms]", color="C0")
    panel.invert_xaxis()
    other = panel.twinx()
    other.plot(x, [row[cells] for row in rows], "s--", color="C3")
    other.set_yscale("log")
    other.set_ylabel("cells", color="C3")


def draw_path(geometry: ArmGeometry, problem: Problem, plan: Plan, file: Path) -> None:
    """A path among its obstacles, and the cells that prove it with the clearance along them."""
    fig = plt.figure(figsize=(12, 4.6))
    _scene(fig.add_subplot(1, 2, 1, projection="3d"), geometry, problem, plan)
    upper, lower = fig.add_subplot(2, 2, 2), fig.add_subplot(2, 2, 4)
    _cells(upper, lower, geometry, problem, plan)
    fig.tight_layout()
    fig.savefig(file, dpi=80)
    plt.close(fig)


def _scene(axes: Any, geometry: ArmGeometry, problem: Problem, plan: Plan) -> None:
    for obstacle in problem.obstacles:
        if obstacle.kind != "half_space":
            _outline(axes, obstacle)
    marks = np.linspace(0.0, 1.0, 9)
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(plan.path, axis=0), axis=1))])
    for i, part in enumerate(marks):
        q = np.array([np.interp(part * along[-1], along, column) for column in plan.path.T])
        balls = ball_centers(geometry.arm, q)
        colour = plt.get_cmap("viridis")(part)
        area = 3.0 + 2.5e4 * geometry.arm.ball_radius**2
        axes.scatter(*balls.T, s=area, color=colour, alpha=0.25 if 0 < i < len(marks) - 1 else 0.6, linewidths=0)
    fine = np.linspace(0.0, along[-1], 200)
    tool = [geometry.robot.forward(np.array([np.interp(s, along, c) for c in plan.path.T])).translation for s in fine]
    axes.plot(*np.array(tool).T, color="red", linewidth=2)
    axes.set(xlim=(-0.6, 1.0), ylim=(-0.8, 0.8), zlim=(-0.1, 1.3), xlabel="x [m]", ylabel="y [m]", zlabel="z [m]")
    axes.set_box_aspect((1.6, 1.6, 1.4))
    axes.view_init(22, -55)


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
