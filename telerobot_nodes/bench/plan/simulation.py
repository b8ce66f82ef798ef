"""Benchmark of the forward simulation: intake of points, and their examination after a change of the world."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from telerobot_nodes.bench import report
from telerobot_nodes.core.robot import RobotModel, load_robot
from telerobot_nodes.core.values import FloatArray, pose_from_se3
from telerobot_nodes.cspace.geometry import Obstacle, box, floor, scene_of
from telerobot_nodes.cspace.service import InProcessPlanner
from telerobot_nodes.simulation import ForwardSimulator

SPACING = 0.02  # [s] of plan time between points
STEP = 100  # points examined at once


def run(options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return conditions, figures and goals. Options: `robot` (arm), `points` (100000), `batch` (64) of an append."""
    options = options or {}
    robot = load_robot(str(options.get("robot", "arm")))
    points, batch = int(options.get("points", 100_000)), int(options.get("batch", 64))
    planner = InProcessPlanner({robot.name: robot}, margin=0.0)
    planner.load()
    planner.set_scene(scene_of(_obstacles()))
    forward = ForwardSimulator(robot, planner)
    forward.start(np.array(robot.home))
    intake = _intake(forward, _poses(robot, points), batch)
    forward.check(STEP)  # loads what the first check needs
    free = _examine(forward)
    conflicts = forward.conflicts().count
    planner.set_scene(scene_of([*_obstacles(), _in_the_way(robot)]))
    blocked = _examine(forward)
    figures = {
        "points": points,
        "intake_s": round(intake, 3),
        "intake_us_per_point": round(1e6 * intake / points, 2),
        "check_s": round(free, 3),
        "check_us_per_point": round(1e6 * free / points, 2),
        "conflicts_before": conflicts,
        "check_with_collisions_s": round(blocked, 3),
        "conflicts": forward.conflicts().count,
    }
    share = points / 100_000
    goals = [
        report.goal(f"intake of {points} points", intake, "s", "<=", 0.3 * share),
        report.goal(f"conflict check of {points} free points", free, "s", "<=", 2.0 * share),
    ]
    return report.result(report.conditions(), figures, goals)


def _poses(robot: RobotModel, points: int) -> FloatArray:
    """Tool poses (n, 7) that wind about home."""
    t = SPACING * np.arange(1, points + 1)
    rows = np.tile(pose_from_se3(robot.forward(np.array(robot.home))), (points, 1))
    ease = np.minimum(t, 1.0) ** 3
    rows[:, 0] += 0.03 * ease * np.sin(0.7 * t)
    rows[:, 1] += 0.10 * ease * np.sin(0.31 * t)
    rows[:, 2] += 0.03 * ease * np.sin(0.53 * t)
    return rows


def _obstacles() -> list[Obstacle]:
    """A floor, and twenty boxes around the arm that it does not touch."""
    turns = np.linspace(0.0, 2.0 * np.pi, 20, endpoint=False)
    around = [box(f"box {i}", (0.1, 0.1, 0.4), (1.2 * np.cos(a), 1.2 * np.sin(a), 0.2)) for i, a in enumerate(turns)]
    return [floor(height=-0.05), *around]


def _in_the_way(robot: RobotModel) -> Obstacle:
    """A box beside home that the tool enters at one end of its way."""
    place = robot.forward(np.array(robot.home)).translation
    return box("in the way", (0.2, 0.05, 0.2), (place[0], place[1] + 0.12, place[2]))


def _intake(forward: ForwardSimulator, poses: FloatArray, batch: int) -> float:
    times: FloatArray = SPACING * np.arange(1, len(poses) + 1, dtype=np.float64)
    begun = time.perf_counter()
    for first in range(0, len(poses), batch):
        rows = slice(first, first + batch)
        forward.append(first + 1, times[rows], poses[rows])
    return time.perf_counter() - begun


def _examine(forward: ForwardSimulator) -> float:
    """Examine every point again; returns seconds."""
    forward.recheck()
    begun = time.perf_counter()
    while forward.check(STEP):
        pass
    return time.perf_counter() - begun
