"""Benchmark of the c-space planner: the same problems through it and OMPL's RRTConnect, with the same ball model.

OMPL is asked twice: with the compiled checker called per state, and with one compiled call per edge. Both sample
along edges at `step`; this planner proves them. OMPL is optional (`pip install ompl`): without it only we are timed.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from telerobot_nodes.bench import report
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.cspace.arm_geometry import ArmGeometry, arm_geometry
from telerobot_nodes.cspace.certificate import check_certificate
from telerobot_nodes.cspace.clearance import clearance
from telerobot_nodes.cspace.obstacles import world_of
from telerobot_nodes.cspace.placing import places_of
from telerobot_nodes.cspace.planner import Planner, PlannerSettings
from telerobot_nodes.cspace.problems import FAMILIES, Problem, make_problem
from telerobot_nodes.cspace.search import find_path, search_of
from telerobot_nodes.cspace.shortcut import path_length
from telerobot_nodes.errors import TelerobotError

DENSE = 1e-3  # [rad] of the independent check along paths


def run(options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Conditions, figures, goals.

    Options: `robot` (panda), `problems` (10) per family, `budget` (5 s) for OMPL, `step` (0.05 rad) of its edges,
    `check` (True: independent checker and dense sampling on every path).
    """
    options = options or {}
    geometry = arm_geometry(load_robot(str(options.get("robot", "panda"))))
    problems = _problems(geometry, int(options.get("problems", 10)))
    check = str(options.get("check", True)).lower() != "false"
    _ours(geometry, problems[0], False)  # compiles
    rows = {"cspace": [_ours(geometry, problem, check) for problem in problems]}
    if importlib.util.find_spec("ompl") is not None:
        from telerobot_nodes.bench.ompl_planner import OmplPlanner

        step, budget = float(options.get("step", 0.05)), float(options.get("budget", 5.0))
        for name, per_edge in (("ompl_per_state", False), ("ompl_per_edge", True)):
            rows[name] = [_theirs(OmplPlanner(geometry, p, step, per_edge), geometry, p, budget) for p in problems]
    figures: dict[str, Any] = {name: _figures(problems, found) for name, found in rows.items()}
    figures["problems"] = len(problems)
    return report.result(report.conditions(), figures, _goals(figures))


def _problems(geometry: ArmGeometry, count: int) -> list[Problem]:
    made = []
    for family in FAMILIES:
        for seed in range(count):
            try:
                made.append(make_problem(geometry, family, seed))
            except TelerobotError:  # no free start or goal for this seed: another takes its place
                made.append(make_problem(geometry, family, seed + 10_000))
    return made


def _ours(geometry: ArmGeometry, problem: Problem, check: bool) -> dict[str, Any]:
    """One problem: time [s] of the search, with shortening, and of the whole call with certificate."""
    settings = PlannerSettings(margin=problem.margin)
    search, world = search_of(geometry.arm), world_of(problem.obstacles, problem.margin)
    most = np.array([settings.trial_probes, settings.tree_probes, settings.shorten_probes], dtype=np.int64)
    bare = most * np.array([1, 1, 0])
    began, cpu_began = time.perf_counter(), time.thread_time()
    find_path(geometry.arm, world, search, problem.start, problem.goal, settings.finest, bare)
    taken, cpu = time.perf_counter() - began, time.thread_time() - cpu_began
    began = time.perf_counter()
    find_path(geometry.arm, world, search, problem.start, problem.goal, settings.finest, most)
    short = time.perf_counter() - began
    planner = Planner(geometry, list(problem.obstacles), settings)
    began = time.perf_counter()
    plan = planner.plan(problem.start, problem.goal)
    whole = time.perf_counter() - began
    row: dict[str, Any] = {"solved": plan.found, "seconds": taken, "cpu": cpu}
    row |= {"simplified": short, "whole": whole}
    if plan.found and plan.certificate is not None:
        row |= {"stage": plan.stage, "length": plan.length, "cells": len(plan.certificate)}
        if check:
            obstacles = list(problem.obstacles)
            row["certified"] = check_certificate(plan.certificate, plan.path, geometry, obstacles, problem.margin).valid
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
    """Smallest clearance [m] beyond the margin of configurations `DENSE` [rad] apart along a path."""
    world, at = world_of(problem.obstacles, problem.margin), places_of(geometry.arm)
    least = np.inf
    for a, b in pairwise(path):
        count = max(int(np.ceil(np.abs(b - a).max() / DENSE)), 1)
        for i in range(count + 1):
            least = min(least, clearance(geometry.arm, world, at, a + i / count * (b - a)))
    return float(least)


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
    if all("clearance" in row for row in solved):
        out["clearance_least_mm"] = round(1e3 * min(row["clearance"] for row in solved), 3)
        out["colliding_paths"] = sum(row["clearance"] < 0.0 for row in solved)
    if all("certified" in row for row in solved):
        out["certified"] = sum(row["certified"] for row in solved)
    if all("stage" in row for row in solved):
        stages = [row["stage"] for row in solved]
        out["stages"] = {stage: stages.count(stage) for stage in sorted(set(stages))}
    return out


def _goals(figures: Mapping[str, Any]) -> list[dict[str, Any]]:
    ours = figures["cspace"]["all"]
    goals = [report.goal("planning, median", ours["seconds_median_ms"], "ms", "<=", 0.5)]
    goals.append(report.goal("planning, 95th percentile", ours["seconds_p95_ms"], "ms", "<=", 6.0))
    if "colliding_paths" in ours:
        goals.append(report.goal("paths in collision, densely checked", ours["colliding_paths"], "paths", "==", 0))
        wrong = ours["solved"] - ours["certified"]
        goals.append(report.goal("certificates refused by the checker", wrong, "paths", "==", 0))
    for name, part in (("ompl_per_state", 15.0), ("ompl_per_edge", 5.0)):
        if "seconds_median_ms" in figures.get(name, {}).get("all", {}):
            theirs = figures[name]["all"]
            ratio = theirs["seconds_median_ms"] / ours["seconds_median_ms"]
            goals.append(report.goal(f"times faster than {name}, median", ratio, "-", ">=", part))
            goals.append(report.goal(f"solved against {name}", ours["solved"] - theirs["solved"], "-", ">=", 0))
    return goals
