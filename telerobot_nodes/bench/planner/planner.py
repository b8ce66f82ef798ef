"""Benchmark of the c-space planner: the same problems through it and OMPL's RRTConnect, with the same sphere model.

OMPL is asked twice: with the compiled checker called per state, and with one compiled call per edge. Both sample
along edges at `step`; this planner proves them. OMPL is optional (extra `dev`): without it
only we are timed, and the result notes that. VAMP has no wheel and is not run.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from telerobot_nodes.bench import is_on, report
from telerobot_nodes.bench.planner.dense_check import DenseCheck
from telerobot_nodes.bench.planner.problem_files import run_files
from telerobot_nodes.bench.planner.problems import FAMILIES, Problem, make_problems
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.cspace.geometry import ArmGeometry, arm_geometry, least_clearance, link_poses_of, world_of
from telerobot_nodes.cspace.search import (
    Budget,
    Planner,
    PlannerSettings,
    Search,
    check_certificate,
    find_path,
    path_length,
    path_samples,
    search_of,
)

DENSE = 1e-3  # [rad] of the independent check along paths
RIVALS = {"ompl_per_state": 15.0, "ompl_per_edge": 5.0}  # times faster than each we want to be
PROBES_PER_SECOND = 1_600_000  # of the search, at least: its budget is counted in probes
CELLS = 60  # the complete search is not what is timed here


def run(options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return conditions, figures and goals.

    Options: `robot` (panda), `problems` (75) per family, `seed` (0) of the first, `budget` (5 s) for each planner,
    `step` (0.05 rad) of OMPL's edges, `check` (True: certificate checker and dense check on every path of ours).
    `problems` may be a folder of MoveIt's scene and request files: then these are solved by this planner alone, with a
    budget of 1 s (`problem_files`).
    """
    options = options or {}
    check, problems_or_folder = is_on(options, "check"), str(options.get("problems", 75))
    if not problems_or_folder.isdigit():
        robot, budget = str(options.get("robot", "panda")), float(options.get("budget", 1.0))
        return run_files(Path(problems_or_folder), robot, budget, check)
    geometry = arm_geometry(load_robot(str(options.get("robot", "panda"))))
    problems = make_problems(geometry, int(problems_or_folder), int(options.get("seed", 0)))
    step, budget = float(options.get("step", 0.05)), float(options.get("budget", 5.0))
    settings = PlannerSettings(tree_probes=int(budget * PROBES_PER_SECOND), cells=CELLS)
    _proved(geometry, problems[0], settings, False)  # compiles
    search = search_of(geometry.arm)  # scratch memory, kept between problems as a planner keeps it
    rows = {"cspace": [_searched(geometry, search, problem, settings) for problem in problems]}
    for row, problem in zip(rows["cspace"], problems, strict=True):
        row.update(_proved(geometry, problem, settings, check))
    if importlib.util.find_spec("ompl") is not None:
        from telerobot_nodes.bench.planner.ompl_planner import OmplPlanner

        for name in RIVALS:
            per_edge = name == "ompl_per_edge"
            rows[name] = [_theirs(OmplPlanner(geometry, p, step, per_edge), geometry, p, budget) for p in problems]
    figures: dict[str, Any] = {name: _figures(problems, found) for name, found in rows.items()}
    figures["against"] = {name: _against(rows["cspace"], rows[name]) for name in RIVALS if name in rows}
    figures["problems"] = len(problems)
    return report.result(report.conditions() | _present(), figures, _goals(figures))


def _present() -> dict[str, Any]:
    """Return which other planners are installed and run."""
    absent = "not installed: pip install ompl"
    ompl = "run" if importlib.util.find_spec("ompl") is not None else absent
    vamp = "installed, not run: its robot has other spheres" if importlib.util.find_spec("vamp") else "not installed"
    return {"ompl": ompl, "vamp": vamp}


def _searched(geometry: ArmGeometry, search: Search, problem: Problem, settings: PlannerSettings) -> dict[str, Any]:
    """Solve one problem; returns the time [s] of the search, and with shortening."""
    world = world_of(problem.obstacles, problem.margin)
    whole = Budget(settings.trial_probes, settings.tree_probes, settings.shorten_probes)
    row: dict[str, Any] = {}
    for name, budget in (("seconds", whole._replace(shorten=0)), ("simplified", whole)):
        began, cpu_began = time.perf_counter(), time.thread_time()
        find_path(geometry.arm, world, search, problem.start, problem.goal, settings.finest, budget)
        row[name], row[f"{name}_cpu"] = time.perf_counter() - began, time.thread_time() - cpu_began
    row["cpu"] = row.pop("seconds_cpu")
    return row


def _proved(geometry: ArmGeometry, problem: Problem, settings: PlannerSettings, check: bool) -> dict[str, Any]:
    """Solve one problem; returns the time [s] of the whole call with certificate. `check`: by other code too."""
    obstacles = list(problem.obstacles)
    planner = Planner(geometry, obstacles, replace(settings, margin=problem.margin))
    began = time.perf_counter()
    plan = planner.plan(problem.start, problem.goal)
    row: dict[str, Any] = {"solved": plan.found, "whole": time.perf_counter() - began}
    if plan.found and plan.certificate is not None:
        row |= {"stage": plan.stage, "length": plan.length, "cells": len(plan.certificate)}
        row["clearance"] = plan.clearance
        if check:
            row["certified"] = check_certificate(plan.certificate, plan.path, geometry, obstacles, problem.margin).valid
            row["wrong"], row["looked_at"] = DenseCheck(geometry, obstacles, problem.margin).collisions(
                plan.path, DENSE
            )
            row["clearance"] = _dense_clearance(geometry, problem, plan.path)
    return row


def _theirs(
    planner: Callable[[float], tuple[FloatArray, float, float, float]],
    geometry: ArmGeometry,
    problem: Problem,
    budget: float,
) -> dict[str, Any]:
    path, seconds, simplified, cpu = planner(budget)
    row: dict[str, Any] = {"solved": len(path) > 0, "seconds": seconds, "cpu": cpu}
    row |= {"simplified": seconds + simplified, "whole": seconds + simplified}
    if len(path):
        row |= {"length": path_length(path), "clearance": _dense_clearance(geometry, problem, path)}
    return row


def _dense_clearance(geometry: ArmGeometry, problem: Problem, path: FloatArray) -> float:
    """Return the smallest clearance [m] of the spheres beyond the margin, sampled every `DENSE` [rad] of a path."""
    world, poses = world_of(problem.obstacles, problem.margin), link_poses_of(geometry.arm)
    return float(least_clearance(geometry.arm, world, poses, path_samples(path, DENSE)))


def _figures(problems: list[Problem], rows: list[dict[str, Any]]) -> dict[str, Any]:
    figures: dict[str, Any] = {"all": _summary(rows)}
    for family in FAMILIES:
        figures[family] = _summary([r for p, r in zip(problems, rows, strict=True) if p.family == family])
    return figures


def _summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    solved = [row for row in rows if row["solved"]]
    out: dict[str, Any] = {"problems": len(rows), "solved": len(solved)}
    if not solved:
        return out
    for name in ("seconds", "cpu", "simplified", "whole"):
        values = 1e3 * np.array([row[name] for row in solved])
        out[f"{name}_median_ms"] = round(float(np.median(values)), 3)
        out[f"{name}_p95_ms"] = round(float(np.percentile(values, 95)), 3)
    out["length_mean_rad"] = round(float(np.mean([row["length"] for row in solved])), 3)
    out["clearance_least_mm"] = round(1e3 * min(row["clearance"] for row in solved), 3)
    out["colliding_paths"] = sum(row["clearance"] < 0.0 for row in solved)
    if all("certified" in row for row in solved):
        out["certified"] = sum(row["certified"] for row in solved)
        out["densely_wrong"] = sum(row["wrong"] > 0 for row in solved)
        out["densely_looked_at"] = sum(row["looked_at"] for row in solved)
    if all("stage" in row for row in solved):
        stages = [row["stage"] for row in solved]
        out["stages"] = {stage: stages.count(stage) for stage in sorted(set(stages))}
        out["cells_median"] = int(np.median([row["cells"] for row in solved]))
    return out


def _against(ours: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the problems that only OMPL solved, and the ratio of path lengths where both did."""
    both = [(a["length"], b["length"]) for a, b in zip(ours, theirs, strict=True) if a["solved"] and b["solved"]]
    ratios = np.array([a / b for a, b in both])
    missed = [i for i, (a, b) in enumerate(zip(ours, theirs, strict=True)) if b["solved"] and not a["solved"]]
    out: dict[str, Any] = {"only_theirs": missed, "both": len(both)}
    if both:
        out["length_ratio_of_means"] = round(float(sum(a for a, _ in both) / sum(b for _, b in both)), 4)
        out["length_ratio_median"] = round(float(np.median(ratios)), 4)
    return out


def _goals(figures: Mapping[str, Any]) -> list[dict[str, Any]]:
    ours = figures["cspace"]["all"]
    goals = [report.goal("planning, median", ours["seconds_median_ms"], "ms", "<=", 0.5)]
    goals.append(report.goal("planning, 95th percentile", ours["seconds_p95_ms"], "ms", "<=", 6.0))
    if "certified" in ours:
        goals.append(report.goal("paths in collision, densely checked", ours["densely_wrong"], "paths", "==", 0))
        wrong = ours["solved"] - ours["certified"]
        goals.append(report.goal("certificates refused by the checker", wrong, "paths", "==", 0))
        goals.append(report.goal("least clearance beyond the margin", ours["clearance_least_mm"], "mm", ">=", 0.0))
    for name, part in RIVALS.items():
        theirs = figures.get(name, {}).get("all", {})
        if "seconds_median_ms" not in theirs:
            continue
        against = figures["against"][name]
        for what, figure in (("search only", "seconds_median_ms"), ("with simplification", "simplified_median_ms")):
            goals.append(
                report.goal(f"times faster than {name}, {what}, median", theirs[figure] / ours[figure], "-", ">=", part)
            )
        goals.append(report.goal(f"solved by {name} and not by us", len(against["only_theirs"]), "problems", "==", 0))
        length = against.get("length_ratio_of_means", np.nan)
        goals.append(report.goal(f"path length over that of {name}", length, "-", "<=", 1.05))
    return goals
