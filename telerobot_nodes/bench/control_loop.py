"""Benchmark of the control step and its loop: microseconds per step, period and lateness of wake-ups.

The arm is ideal (measured is the last setpoint), so that only control and its thread are timed.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from telerobot_nodes.bench import report
from telerobot_nodes.core.interpolation import quintic
from telerobot_nodes.core.robot import RobotModel, load_robot
from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.core.window import MotionWindow
from telerobot_nodes.motion.control_records import ControlOutput
from telerobot_nodes.motion.control_step import ControlStep
from telerobot_nodes.motion.loop import PRIORITY, ControlLoop
from telerobot_nodes.motion.orders import ClearTimes

ARMS = {6: "arm", 7: "panda"}
RATES = (200, 500, 1000)  # [Hz]
WINDOW_PERIOD = 0.02  # [s]


def run(options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Conditions, figures, goals.

    Options: `seconds` (5) per loop, `steps` (20000) per arm, `load` (False: also beside a busy Python process).
    """
    options = options or {}
    seconds = float(options.get("seconds", 5.0))
    steps = int(options.get("steps", 20_000))
    figures: dict[str, Any] = {"step": {f"{dof}_dof": time_steps(name, steps) for dof, name in ARMS.items()}}
    figures["loop"] = {
        f"{rate}_hz_{policy}": time_loop("panda", rate, seconds, priority)
        for rate in RATES
        for policy, priority in (("realtime", PRIORITY), ("ordinary", 0))
    }
    return report.result(report.conditions(), figures, _goals(figures))


def _goals(figures: Mapping[str, Any]) -> list[dict[str, Any]]:
    step = figures["step"]["7_dof"]["median_us"]
    goals = [report.goal("control step, trajectory source, 7 DOF, median", step, "us", "<=", 50.0)]
    fast = figures["loop"]["1000_hz_realtime"]
    if fast["policy"] == "SCHED_FIFO":
        goals.append(report.goal("1 kHz loop, lateness p99.9, real time", fast["late_p999_us"], "us", "<=", 200.0))
    calm = figures["loop"]["200_hz_realtime"]
    goals.append(report.goal("200 Hz loop, periods missed", calm["missed"], "periods", "==", 0))
    return goals


def time_steps(arm: str, steps: int) -> dict[str, float]:
    """Durations of the control step with the arm in motion [us]."""
    robot = load_robot(arm)
    control = ControlStep(robot, 0.002)
    now, q = 0.0, robot.home.copy()
    taken = np.empty(steps)
    number = 0
    for i in range(steps):
        now += 0.002
        control.measure(now, q, q)
        if i % 400 == 1:
            number += 1
            control.offer(now, there_and_back(robot, control.output.q, now, number))
        began = time.perf_counter()
        output = control.step(now)
        taken[i] = time.perf_counter() - began
        q = output.q
    return report.quantiles(taken[100:])


def time_loop(arm: str, rate: float, seconds: float, priority: int) -> dict[str, Any]:
    """Period, lateness [us] and step duration of a loop that moves an arm for `seconds`."""
    robot = load_robot(arm)
    moving = threading.Event()

    def emit(output: ControlOutput) -> None:
        loop.inbox.measured(output.now, output.q if output.commanding else robot.home, output.qd)
        if output.commanding and not moving.is_set():
            moving.set()

    loop = ControlLoop(ControlStep(robot, 1.0 / rate), emit, priority)
    loop.inbox.measured(time.monotonic(), robot.home, np.zeros(robot.dof))
    loop.start()
    moving.wait(10.0)
    loop.give(ClearTimes())
    number, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        number += 1
        loop.inbox.window(there_and_back(robot, robot.home, time.monotonic() + 0.005, number))
        time.sleep(0.9)
    loop.stop()
    return _loop_figures(loop)


def _loop_figures(loop: ControlLoop) -> dict[str, Any]:
    summary = loop.statistics.summary()
    figures: dict[str, Any] = {
        "policy": loop.scheduling.policy,
        "reason": loop.scheduling.reason,
        "steps": summary.steps,
        "missed": summary.missed,
        "windows_refused": loop.control.output.refusal,
    }
    for name in ("period_p50", "period_p99", "period_max", "late_p50", "late_p99", "late_p999", "late_max"):
        figures[f"{name}_us"] = round(getattr(summary, name) * 1e6, 1)
    figures["wake_to_output_p50_us"] = round(loop.durations.quantile(0.5) * 1e6, 1)
    figures["wake_to_output_p99_us"] = round(loop.durations.quantile(0.99) * 1e6, 1)
    return figures


def there_and_back(robot: RobotModel, q: FloatArray, start: float, number: int) -> MotionWindow:
    """A window of 0.8 s: 0.05 rad out and back, from rest at `q` to rest."""
    zero, times = np.zeros(robot.dof), WINDOW_PERIOD * np.arange(21, dtype=np.float64)
    away = np.clip(q + 0.05, robot.limits.lower, robot.limits.upper)
    out = quintic(np.array(q), zero, zero, away, zero, zero, 0.4, times)
    back = quintic(away, zero, zero, np.array(q), zero, zero, 0.4, times)
    rows = [np.concatenate((a, b[1:])) for a, b in zip(out, back, strict=True)]
    return MotionWindow(number, start, start, WINDOW_PERIOD, rows[0], rows[1], rows[2], np.zeros(41), np.empty(0))
