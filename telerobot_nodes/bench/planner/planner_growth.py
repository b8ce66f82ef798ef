"""How the planner's cost grows with the number of joints, of obstacles, and with resolution."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from telerobot_nodes.bench import report
from telerobot_nodes.bench.planner.problems import make_problem, make_problems
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.cspace.geometry import ArmGeometry, Obstacle, arm_geometry, box, clearance, link_poses_of, world_of
from telerobot_nodes.cspace.search import (
    Budget,
    CellDatabase,
    Planner,
    PlannerSettings,
    certify,
    find_path,
    search_cells,
    search_of,
)
from telerobot_nodes.plotting import draw_growth, draw_proof

JOINTS = (2, 3, 4, 5, 6, 7)
OBSTACLES = (1, 2, 5, 10, 20, 50, 100, 200)
FINEST = (0.1, 0.03, 0.01, 3e-3, 1e-3)  # [rad]
CELLS = (0.4, 0.2, 0.1, 0.05, 0.025)  # [rad]
REACH = 1.0  # [m] of a made-up chain


def run(options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return conditions, figures and goals.

    Options: `problems` (20) per point; PNGs to draw: `image` of the growth, `proof` of a path into a bookshelf.
    """
    options = options or {}
    count = int(options.get("problems", 20))
    panda = arm_geometry(load_robot("panda"))
    figures: dict[str, Any] = {
        "joints": [{"joints": n, **_queries(chain(n), 8, count)} for n in JOINTS],
        "obstacles": [{"obstacles": k, **_queries(panda, k, count)} for k in OBSTACLES],
        "finest": _certificates(panda, count),
        "cells": _complete(chain(2)),
    }
    if "image" in options:
        draw_growth(figures, Path(str(options["image"])))
    if "proof" in options:
        problem = make_problem(panda, "bookshelf", 3)
        plan = Planner(panda, list(problem.obstacles)).plan(problem.start, problem.goal)
        draw_proof(panda, problem.obstacles, problem.margin, plan, Path(str(options["proof"])))
    return report.result(report.conditions(), figures, [])


def chain(joints: int) -> ArmGeometry:
    """Return a generated arm of length `REACH` with `joints` revolute joints, axes alternately across and along it."""
    length = REACH / joints
    parts = ['<robot name="chain"><link name="link_0"/>']
    for i in range(joints):
        axis, offset = ("0 0 1", "0 1 0", "1 0 0")[i % 3], 0.0 if i == 0 else length
        size = f'<origin xyz="{0.5 * length} 0 0"/><geometry><box size="{length} 0.06 0.06"/></geometry>'
        parts.append(
            f'<joint name="joint_{i}" type="revolute"><origin xyz="{offset} 0 0"/><parent link="link_{i}"/>'
            f'<child link="link_{i + 1}"/><axis xyz="{axis}"/><limit lower="-2.5" upper="2.5" velocity="2" effort="9"/>'
            f'</joint><link name="link_{i + 1}"><inertial><mass value="1"/>'
            f'<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial><collision>{size}</collision></link>'
        )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "chain.urdf"
        file.write_text("".join(parts) + "</robot>")
        return arm_geometry(load_robot(str(file)))


def _boxes(rng: np.random.Generator, count: int, arm32: bool) -> list[Obstacle]:
    """Return small boxes at random places around an arm, none near its base."""
    made: list[Obstacle] = []
    while len(made) < count:
        place = rng.uniform(-1.0, 1.0, 3) * (1.0, 1.0, 0.0 if arm32 else 1.0)
        if np.linalg.norm(place[:2]) > 0.3:
            made.append(box(f"box_{len(made)}", rng.uniform(0.03, 0.12, 3), place))
    return made


def _free(geometry: ArmGeometry, obstacles: list[Obstacle], rng: np.random.Generator, margin: float) -> FloatArray:
    world, poses, limits = world_of(obstacles, margin), link_poses_of(geometry.arm), geometry.robot.limits
    while True:
        q = rng.uniform(limits.lower, limits.upper)
        if clearance(geometry.arm, world, poses, q) > 0.002:
            return np.asarray(q)


def _queries(geometry: ArmGeometry, obstacles: int, count: int) -> dict[str, Any]:
    """Solve random queries among random boxes; returns solved, times [ms] with shortening, collision checks."""
    settings, search = PlannerSettings(), search_of(geometry.arm, obstacles)
    budget = Budget(settings.trial_probes, 300_000, settings.shorten_probes)
    times, probes = [], []
    for seed in range(count):
        rng = np.random.default_rng(seed)
        things = _boxes(rng, obstacles, geometry.dof == 2)
        a, b = (_free(geometry, things, rng, settings.margin) for _ in range(2))
        world = world_of(things, settings.margin)
        find_path(geometry.arm, world, search, a, b, settings.finest, Budget(1, 1, 1))
        began = time.thread_time()
        found = find_path(geometry.arm, world, search, a, b, settings.finest, budget)
        if found.waypoints > 0:
            times.append(1e3 * (time.thread_time() - began))
            probes.append(sum(found.probes))
    return {
        "solved": len(times),
        "of": count,
        "median_ms": round(float(np.median(times)), 3),
        "p95_ms": round(float(np.percentile(times, 95)), 3),
        "probes_median": float(np.median(probes)),
        "us_per_probe": round(1e3 * sum(times) / max(sum(probes), 1), 3),
    }


def _certificates(geometry: ArmGeometry, problem_count: int) -> list[dict[str, Any]]:
    """Solve the same problems with shorter and shorter pieces; returns solved, certificate cells, times."""
    problems, rows = make_problems(geometry, max(problem_count // 4, 1)), []
    for finest in FINEST:
        cells, times, solved = [], [], 0
        for problem in problems:
            world, search = world_of(problem.obstacles, problem.margin), search_of(geometry.arm, 64)
            began = time.thread_time()
            budget = Budget(600, 300_000, 1500)
            count = find_path(geometry.arm, world, search, problem.start, problem.goal, finest, budget).waypoints
            times.append(1e3 * (time.thread_time() - began))
            proof = certify(geometry, world, search.path[:count].copy(), finest) if count else None
            solved += proof is not None
            cells += [len(proof)] if proof is not None else []
        row = {"finest": finest, "solved": solved, "of": len(problems), "median_ms": round(float(np.median(times)), 3)}
        rows.append(row | {"cells_median": float(np.median(cells)) if cells else 0.0})
    return rows


def _complete(geometry: ArmGeometry) -> list[dict[str, Any]]:
    """Run the complete search on two joints; returns cells and time until a channel, or its absence, is proved."""
    walls = [box("wall", (0.1, 0.5, 0.2), (0.6, 0.0, 0.0)), box("post", (0.1, 0.1, 0.2), (-0.3, 0.5, 0.0))]
    start, goal, rows = np.array([-1.4, 0.3]), np.array([1.4, 0.3]), []
    for finest in CELLS:
        cells = CellDatabase(geometry, walls)
        began = time.thread_time()
        answer = search_cells(cells, start, goal, finest, 100_000)
        taken = 1e3 * (time.thread_time() - began)
        rows.append({"cell": finest, "cells": len(cells), "ms": round(taken, 1), "answer": type(answer).__name__})
    return rows
