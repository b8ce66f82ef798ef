"""Benchmark of the plan executor: cost of a tick, an append and a truncation; duration against plan time."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from telerobot_nodes.bench import report
from telerobot_nodes.core.protocol import ControlState, ExecutorMode, OperationKind
from telerobot_nodes.core.robot import RobotModel, load_robot
from telerobot_nodes.core.values import FloatArray, pose_from_se3
from telerobot_nodes.plan.executor import ExecutorConfig, MotionConfig, PlanExecutor, PlanMotion
from telerobot_nodes.plan.log import ControlReport, Operation, PlanPoints

SPACING = 0.02  # [s] of plan time between points
TICK = 0.04  # [s]
BATCH = 50  # points per append


def run(options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return conditions, figures and goals. Options: `robot` (arm), `points` (1000,100000), `ticks` (200)."""
    options = options or {}
    robot = load_robot(str(options.get("robot", "arm")))
    sizes = [int(size) for size in str(options.get("points", "1000,100000")).split(",")]
    ticks = int(options.get("ticks", 200))
    figures: dict[str, Any] = {"robot": robot.name, "joints": robot.dof}
    figures["by_points"] = {str(size): _plan_costs(robot, size, ticks) for size in sizes}
    figures["append_us_per_point"] = _append_cost(robot)
    figures["finish"] = _finish(robot)
    few, many = (figures["by_points"][str(size)] for size in (sizes[0], sizes[-1]))
    growth = many["tick"]["median_us"] / few["tick"]["median_us"]
    cut = many["truncate_half_us"] / few["truncate_half_us"]
    goals = [
        report.goal(f"tick, {sizes[-1]} points to {sizes[0]}", round(growth, 2), "-", "<=", 1.5),
        report.goal(f"delete half of {sizes[-1]} points to {sizes[0]}", round(cut, 2), "-", "<=", 3.0),
        report.goal("tick, p99", many["tick"]["p99_us"], "us", "<=", 10_000.0),
    ]
    return report.result(report.conditions(seed=1), figures, goals)


def _wave(robot: RobotModel, times: FloatArray) -> FloatArray:
    phase = np.arange(robot.dof)
    return robot.home + 0.1 * (np.sin(1.5 * times[:, None] + phase) - np.sin(phase))


def _plan_costs(robot: RobotModel, size: int, ticks: int) -> dict[str, Any]:
    """Measure ticks and a truncation on a plan of `size` points."""
    motion = PlanMotion(robot.limits, MotionConfig())
    still = np.zeros(robot.dof)
    motion.on_control(0.0, ControlReport(ControlState.HOLDING, 0, 0, 0.0, robot.home, still))
    times = SPACING * np.arange(1, size + 1, dtype=np.float64)
    seqs = np.arange(1, size + 1, dtype=np.int64)
    settle = _timed(lambda: motion.append(0.0, seqs, times, _wave(robot, times)))
    costs, now = [], 0.0
    for _ in range(ticks):
        now += TICK
        begun = time.perf_counter()
        window = motion.tick(now, 1.0)
        costs.append(time.perf_counter() - begun)
        if window is not None:  # a loop that follows at once
            at = float(
                np.interp(now, window.start + window.period * np.arange(len(window.plan_time)), window.plan_time)
            )
            motion.on_control(
                now, ControlReport(ControlState.TRACKING, window.number, 0, at, robot.home, still, window.number, at)
            )
    held = len(motion.path)
    return {
        "tick": report.quantiles(costs),
        "settle_us_per_point": round(1e6 * settle / size, 3),
        "bytes_per_point": round(motion.path.memory / held, 1),
        "truncate_half_us": round(1e6 * _timed(lambda: motion.truncate(size // 2)), 1),
    }


def _append_cost(robot: RobotModel) -> float:
    """Measure microseconds per point of an APPEND, including checks and inverse kinematics."""
    executor, poses, times = _ready(robot)
    costs = []
    for operation in _operations(poses, times):
        begun = time.perf_counter()
        executor.receive(0.0, [operation])
        costs.append(time.perf_counter() - begun)
    return round(1e6 * float(np.median(costs)) / BATCH, 2)


def _finish(robot: RobotModel) -> dict[str, float]:
    """Return seconds of plan time, and seconds until the arm rests at the last point."""
    executor, poses, times = _ready(robot)
    executor.receive(0.0, _operations(poses, times))
    now, window, state = 0.0, None, None
    while now < 10.0 * times[-1] and executor.report(now).mode is not ExecutorMode.IDLE:
        now += 0.5 * TICK
        window = executor.tick(now) or window
        if window is not None:
            sample = min(max(round((now - window.start) / window.period), 0), len(window.position) - 1)
            last = sample == len(window.position) - 1
            state = ControlReport(
                ControlState.HOLDING if last else ControlState.TRACKING,
                window.number,
                0,
                float(window.plan_time[sample]),
                window.position[sample],
                window.velocity[sample],
                window.number,
                float(window.plan_time[sample]),
            )
            executor.on_control(now, state)
    return {"plan_seconds": round(float(times[-1]), 2), "seconds": round(now, 2)}


def _ready(robot: RobotModel) -> tuple[PlanExecutor, FloatArray, FloatArray]:
    executor = PlanExecutor(robot, ExecutorConfig())
    report_ = ControlReport(ControlState.HOLDING, 0, 0, 0.0, robot.home, np.zeros(robot.dof))
    executor.on_control(0.0, report_)
    times = SPACING * np.arange(20 * BATCH, dtype=np.float64)
    poses = np.tile(pose_from_se3(robot.forward(robot.home)), (times.size, 1))
    poses[:, 1] += 0.06 * np.sin(1.2 * times) * np.minimum(times, 1.0) ** 2
    poses[:, 2] += 0.03 * np.sin(2.1 * times) * np.minimum(times, 1.0) ** 2
    return executor, poses, times


def _operations(poses: FloatArray, times: FloatArray) -> list[Operation]:
    operations = [Operation(1, 1, OperationKind.AUTHORITY, "bench")]
    for first in range(0, times.size, BATCH):
        rows = slice(first, first + BATCH)
        points = PlanPoints(first + 1, times[rows], poses[rows], np.zeros(BATCH, dtype=np.uint8), "bench")
        number = len(operations) + 1
        operations.append(Operation(1, number, OperationKind.APPEND, "bench", points, after_seq=first))
    return operations


def _timed(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun
