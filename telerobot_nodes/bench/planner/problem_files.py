"""Planning problems in MoveIt's files: whether they are solved, and how long the whole call takes.

A folder holds files requestNAME.yaml (MotionPlanRequest) with sceneNAME.yaml (PlanningScene) each, or one file `scene`
for all; so does each of its folders, whose name is that of the family. One `.srdf` in the folder is the robot's.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from telerobot_nodes.bench import report
from telerobot_nodes.core.robot import RobotModel, load_robot, with_srdf
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.cspace.proof import CellChecker
from telerobot_nodes.cspace.scenes import PlanningProblem, load_problem
from telerobot_nodes.cspace.search import PlannerSettings, path_samples
from telerobot_nodes.cspace.service import PlanAnswer, PlanningService, PlanRequest, Result, ServiceSettings
from telerobot_nodes.errors import InvalidValueError, TelerobotError

STEP = 0.02  # [rad] of the dense check along paths
ALL = "all"


@dataclass(frozen=True)
class ProblemFiles:
    """The files of one problem."""

    family: str
    request: Path
    scene: Path


def problem_files(folder: Path) -> list[ProblemFiles]:
    """Every problem of a folder and of those in it; raises InvalidValueError when a scene or everything is missing."""
    found = []
    for place in (folder, *sorted(p for p in folder.glob("*") if p.is_dir())):
        for request in sorted(place.glob("request*.yaml")):
            own = request.with_name(request.name.replace("request", "scene", 1))
            scene = own if own.is_file() else request.with_name("scene.yaml")
            if not scene.is_file():
                raise InvalidValueError("problems", str(request), f"allowed: with {own.name} or scene.yaml beside it")
            found.append(ProblemFiles(place.name, request, scene))
    if not found:
        raise InvalidValueError("problems", str(folder), "allowed: a number, or a folder with request*.yaml")
    return found


def robot_of(name: str, folder: Path) -> RobotModel:
    """The robot with the SRDF of the folder, if there is one; raises ModelError, InvalidValueError."""
    files = sorted(folder.glob("*.srdf"))
    if len(files) > 1:
        raise InvalidValueError("problems", str(folder), "allowed: a folder with one .srdf")
    robot = load_robot(name)
    return with_srdf(robot, files[0]) if files else robot


def run_files(folder: Path, robot: str, budget: float, check: bool) -> dict[str, Any]:
    """Return conditions, figures and goals of the problems of a folder.

    `budget` [s] for each; `check`: every path is checked again every `STEP` by the true shapes.
    """
    model = robot_of(robot, folder)
    service = PlanningService({"arm": model}, ServiceSettings(planner=PlannerSettings(margin=0.0)))
    service.warm()
    rows = [_solved(service, model, files, budget, check) for files in problem_files(folder)]
    families = [ALL, *sorted({row["family"] for row in rows})]
    figures: dict[str, Any] = {
        family: _summary([row for row in rows if family in (ALL, row["family"])]) for family in families
    }
    figures["reasons"] = [row["reason"] for row in rows if row["reason"]]
    return report.result(report.conditions() | {"problems": str(folder)}, figures, _goals(figures[ALL]))


def _solved(
    service: PlanningService, robot: RobotModel, files: ProblemFiles, budget: float, check: bool
) -> dict[str, Any]:
    """Solve one problem twice: the second call finds the robot's geometry made, as later requests do."""
    row: dict[str, Any] = {"family": files.family, "free": False, "solved": False, "outcome": Result.REFUSED.value}
    try:
        problem = load_problem(robot, files.request, files.scene).with_options("cspace", budget)
        service.set_scene(problem.scene)
        row["free"] = any(_ends_free(service, request) for request in problem.requests)
        for name in ("first", "whole"):
            began, cpu_began = time.perf_counter(), time.process_time()
            answer = problem.solve(service)
            row[name], row[f"{name}_cpu"] = time.perf_counter() - began, time.process_time() - cpu_began
    except TelerobotError as error:
        return row | {"reason": f"{files.request.name}: {error}"}
    row |= {"solved": answer.found, "outcome": answer.result.value, "reason": ""}
    if not answer.found:
        row["reason"] = f"{files.request.name}: {answer.result.value}: {answer.message}"
    elif check:
        row["wrong"], row["looked_at"] = _collisions(service, problem, answer)
    return row


def _checker(service: PlanningService, request: PlanRequest) -> CellChecker:
    geometry = service.geometry(request.goals[0].arm, request.allowed, request.fingers)
    return CellChecker(geometry, service.scene.obstacles, 0.0, 0.0)


def _free(checker: CellChecker, q: FloatArray) -> bool:
    """Whether a configuration is free by the true shapes."""
    return checker.room(q, np.zeros(q.size)) >= 0.0


def _ends_free(service: PlanningService, request: PlanRequest) -> bool:
    """Whether start and goal are free by the true shapes; a goal of the tool counts as free."""
    checker, goal = _checker(service, request), request.goals[0]
    return _free(checker, goal.start) and (goal.joints is None or _free(checker, goal.joints))


def _collisions(service: PlanningService, problem: PlanningProblem, answer: PlanAnswer) -> tuple[int, int]:
    """Configurations along the path that collide by the true shapes, and how many there are."""
    checker = _checker(service, problem.requests[0])
    samples = path_samples(answer.paths[0].waypoints, STEP)
    return sum(not _free(checker, q) for q in samples), len(samples)


def _summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    solved, free = [row for row in rows if row["solved"]], [row for row in rows if row["free"]]
    out: dict[str, Any] = {"problems": len(rows), "free": len(free), "solved": len(solved)}
    out["free_and_solved"] = sum(row["solved"] for row in free)
    out["outcomes"] = dict(Counter(row["outcome"] for row in rows))
    out["no_path_though_free"] = sum(row["outcome"] == Result.NO_PATH.value for row in free)
    if all("wrong" in row for row in solved):
        out["densely_wrong"] = sum(row["wrong"] for row in solved)
        out["densely_looked_at"] = sum(row["looked_at"] for row in solved)
    for name in ("whole", "whole_cpu", "first") if solved else ():
        values = 1e3 * np.array([row[name] for row in solved])
        out[f"{name}_median_ms"] = round(float(np.median(values)), 3)
        out[f"{name}_p95_ms"] = round(float(np.percentile(values, 95)), 3)
    return out


def _goals(figures: dict[str, Any]) -> list[dict[str, Any]]:
    share = figures["free_and_solved"] / max(figures["free"], 1)
    goals = [
        report.goal("solved, of those with start and goal free", 100.0 * share, "%", ">=", 99.0),
        report.goal("no path, though start and goal are free", figures["no_path_though_free"], "problems", "==", 0),
    ]
    if "densely_wrong" in figures:
        goals.append(report.goal("configurations in collision on paths", figures["densely_wrong"], "-", "==", 0))
    if "whole_median_ms" in figures:
        goals.append(report.goal("whole call, median", figures["whole_median_ms"], "ms", "<=", 2.0))
        goals.append(report.goal("whole call, 95th percentile", figures["whole_p95_ms"], "ms", "<=", 15.0))
    return goals
