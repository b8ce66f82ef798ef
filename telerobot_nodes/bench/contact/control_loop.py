"""Benchmark of the control step and its loop: microseconds per step, period and lateness of wake-ups.

Alone: the loop on a thread and in a process of its own, the arm ideal (measured is the last setpoint). In the graph:
the loop's process of a whole running demo graph, read from the memory it shares with its node.
"""

from __future__ import annotations

import mmap
import os
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from telerobot_nodes.bench import report
from telerobot_nodes.core.interpolation import quintic
from telerobot_nodes.core.protocol import MotionWindow
from telerobot_nodes.core.robot import RobotModel, load_robot
from telerobot_nodes.core.timing import Histogram
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.motion.loop import (
    PRIORITY,
    ClearTimes,
    ControlLoop,
    ControlOutput,
    ControlStep,
    HostedLoop,
    LoopMemory,
    LoopSetting,
    ProcessLoop,
)
from telerobot_nodes.motion.primitives import PrimitiveRequest
from telerobot_nodes.runtime import GraphOptions, Supervisor, join_graph

ARMS = {6: "arm", 7: "panda"}
ARM = "panda"
RATES = (200, 500, 1000)  # [Hz]
WINDOW_PERIOD = 0.02  # [s]
START_LIMIT = 180.0  # [s]
SETTLE = 10.0  # [s] after the graph is ready
LATE_GOAL = 200.0  # [us]
QUANTILES = {"p50": 0.5, "p99": 0.99, "p999": 0.999}
EVERY_SOURCE: dict[str, Any] = {
    "tr_rel_dest": [0.0, 0.0, -0.05, 0.0, 0.0, 0.0, 1.0],
    "time_vel_val": 100.0,
    "comply_vect": [True] * 6,
    "force_gains": [1e-3, 1e-3, 1e-3, 0.02, 0.02, 0.02],
    "sel_vect_sp": [True] * 6,
    "sel_vect_tp": [True] * 6,
    "dither_mag": [1e-4] * 6,
    "sel_vect_lim": [True] * 7,
    "sel_vect_sing": True,
}


def run(options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return conditions, figures and goals.

    Options: `seconds` (5) per loop, `steps` (20000) per arm, `graph` (30) seconds of the whole graph at each rate of
    `rates` (200,1000), 0: not. `duration` [s]: nothing but the whole graph at the first of `rates`, so long.
    """
    options = options or {}
    rates = [float(word) for word in str(options.get("rates", "200,1000")).split(",")]
    if "duration" in options:
        figures: dict[str, Any] = {"graph": {_key(rates[0]): time_graph(rates[0], float(options["duration"]))}}
        return report.result(report.conditions(), figures, _graph_goals(figures["graph"]))
    seconds, steps = float(options.get("seconds", 5.0)), int(options.get("steps", 20_000))
    figures = {"step": {f"{dof}_dof": time_steps(name, steps) for dof, name in ARMS.items()}}
    figures["step"]["7_dof_every_source"] = time_every_source(steps)
    figures["loop"] = {
        f"{rate}_hz_{place.__name__}_{policy}": time_loop(place, rate, seconds, priority)
        for rate in RATES
        for place in (on_a_thread, in_a_process)
        for policy, priority in (("realtime", PRIORITY), ("ordinary", 0))
    }
    whole = float(options.get("graph", 30.0))
    figures["graph"] = {_key(rate): time_graph(rate, whole) for rate in rates} if whole else {}
    return report.result(report.conditions(), figures, _goals(figures) + _graph_goals(figures["graph"]))


def _key(rate: float) -> str:
    return f"{rate:.0f}_hz"


def _goals(figures: Mapping[str, Any]) -> list[dict[str, Any]]:
    step, law = figures["step"]["7_dof"]["median_us"], figures["step"]["7_dof_every_source"]["median_us"]
    goals = [
        report.goal("control step, windows, 7 DOF, median", step, "us", "<=", 50.0),
        report.goal("control step, a primitive with every source, 7 DOF, median", law, "us", "<=", 50.0),
    ]
    fast = figures["loop"]["1000_hz_in_a_process_realtime"]
    if fast["policy"] == "SCHED_FIFO":
        name = "1 kHz loop in its process, lateness p99.9, real time"
        goals.append(report.goal(name, fast["late_p999_us"], "us", "<=", LATE_GOAL))
    calm = figures["loop"]["200_hz_in_a_process_realtime"]
    goals.append(report.goal("200 Hz loop, periods missed", calm["missed"], "periods", "==", 0))
    return goals


def _graph_goals(graph: Mapping[str, Any]) -> list[dict[str, Any]]:
    goals = []
    for key, found in graph.items():
        rate, what = found["rate"], f"whole graph, {found['rate']:.0f} Hz, {found['seconds']:.0f} s"
        if found["policy"] == "SCHED_FIFO" and rate >= 1000.0:
            goals.append(report.goal(f"{what}: lateness p99.9", found["late_p999_us"], "us", "<=", LATE_GOAL))
        if key == _key(200.0):
            goals.append(report.goal(f"{what}: periods missed", found["missed"], "periods", "==", 0))
    return goals


def time_steps(arm: str, steps: int) -> dict[str, float]:
    """Measure durations [us] of the control step while the arm follows windows."""
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


def time_every_source(steps: int) -> dict[str, float]:
    """Measure durations [us] of the control step while a primitive runs with every source of motion."""
    robot = load_robot(ARM)
    control = ControlStep(robot, 0.002)
    now, still = 0.0, np.zeros(robot.dof)
    control.measure(now, robot.home, still)
    control.step(now)
    request = PrimitiveRequest(1, "gcm", EVERY_SOURCE)
    refusal = control.begin(now, 1, control.primitives.executive.prepare(request, control.output.q.copy()))
    if refusal:
        raise TelerobotError(refusal)
    taken = np.empty(min(steps, 40_000))
    wrench, hand, field = np.zeros(6), np.full(6, 1e-7), np.full(6, 1e-5)
    for i in range(taken.size):
        now += 0.002
        wrench[:] = 0.5 * np.sin(0.01 * i)
        control.measure(now, control.output.q, still)
        control.set_wrench(now, wrench)
        control.teleoperate(hand)
        control.add_field_twist(field)
        began = time.perf_counter()
        control.step(now)
        taken[i] = time.perf_counter() - began
    return report.quantiles(taken[100:])


Emit = Callable[[ControlOutput], None]


def on_a_thread(rate: float, priority: int, emit: Emit) -> HostedLoop:
    """Start the loop on a thread of this process."""
    loop = ControlLoop(ControlStep(load_robot(ARM), 1.0 / rate), emit, priority)
    loop.start()
    return loop


def in_a_process(rate: float, priority: int, emit: Emit) -> HostedLoop:
    """Start the loop in a process of its own."""
    loop = ProcessLoop(LoopSetting(ARM, 1.0 / rate, priority), load_robot(ARM).dof, emit)
    loop.start()
    return loop


def time_loop(
    place: Callable[[float, int, Emit], HostedLoop], rate: float, seconds: float, priority: int
) -> dict[str, Any]:
    """Measure period, lateness [us] and step duration of a loop that moves an arm for `seconds`."""
    robot = load_robot(ARM)
    moving = threading.Event()
    held: list[HostedLoop] = []

    def emit(output: ControlOutput) -> None:
        if held:
            held[0].inbox.measured(output.now, output.q if output.commanding else robot.home, output.qd)
            if output.commanding:
                moving.set()

    loop: Any = place(rate, priority, emit)
    held.append(loop)
    loop.inbox.measured(time.monotonic(), robot.home, np.zeros(robot.dof))
    moving.wait(10.0)
    loop.send_order(ClearTimes())
    number, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        number += 1
        loop.inbox.window(there_and_back(robot, robot.home, time.monotonic() + 0.005, number))
        time.sleep(0.9)
    figures = _loop_figures(loop.memory)
    output = ControlOutput(robot.dof)
    loop.read_output(output)
    loop.stop()
    return {**figures, "windows_refused": output.refusal}


def time_graph(rate: float, seconds: float) -> dict[str, Any]:
    """Measure the same of the loop's process for `seconds` while the whole demo graph is at rest."""
    join_graph()
    with tempfile.TemporaryDirectory(prefix="telerobot-bench-") as folder:
        params = Path(folder) / "params.yaml"
        params.write_text(f"gcmsf_control:\n  ros__parameters:\n    rate: {rate}\n")
        options = GraphOptions("demo", robot=ARM, params=params, bag=Path(folder) / "bag")
        supervisor = Supervisor(options, on_line=lambda node, line: None)
        supervisor.start()
        try:
            if not supervisor.wait_ready(START_LIMIT):
                raise TelerobotError(f"not ready after {START_LIMIT:g} s: {', '.join(supervisor.waiting_for())}")
            memory = attach(supervisor.pid("gcmsf_control"), load_robot(ARM).dof, 1.0 / rate)
            threading.Event().wait(SETTLE)
            before = _snapshot(memory)
            threading.Event().wait(seconds)
            figures = _loop_figures(memory, before)
        finally:
            supervisor.stop()
    return {"rate": rate, "seconds": seconds, "load_1min": round(os.getloadavg()[0], 2), **figures}


def attach(pid: int, dof: int, period: float) -> LoopMemory:
    """Map the memory that the loop of node `pid` shares with it, read-only."""
    for link in Path(f"/proc/{pid}/fd").iterdir():
        if "memfd:telerobot_loop" in str(link.readlink()):
            descriptor = os.open(link, os.O_RDWR)
            return LoopMemory(dof, period, memoryview(mmap.mmap(descriptor, LoopMemory.size(dof))))
    raise TelerobotError(f"process {pid} shares no loop's memory; its parameter own_process is false")


Snapshot = tuple[Histogram, Histogram, Histogram, int]


def _snapshot(memory: LoopMemory) -> Snapshot:
    statistics = memory.statistics
    return statistics.periods.copy(), statistics.lateness.copy(), memory.durations.copy(), statistics.missed


def _loop_figures(memory: LoopMemory, before: Snapshot | None = None) -> dict[str, Any]:
    periods, late, took, missed = _snapshot(memory)
    if before is not None:
        periods, late, took = periods.since(before[0]), late.since(before[1]), took.since(before[2])
        missed -= before[3]
    scheduling = memory.scheduling
    figures: dict[str, Any] = {
        "policy": scheduling.policy,
        "memory_locked": scheduling.locked,
        "reason": scheduling.reason,
        "steps": late.count,
        "missed": missed,
    }
    for name, histogram in (("period", periods), ("late", late), ("wake_to_output", took)):
        for label, fraction in QUANTILES.items():
            figures[f"{name}_{label}_us"] = round(histogram.quantile(fraction) * 1e6, 1)
        figures[f"{name}_max_us"] = round(histogram.maximum * 1e6, 1)
    return figures


def there_and_back(robot: RobotModel, q: FloatArray, start: float, number: int) -> MotionWindow:
    """Make a window of 0.8 s: 0.05 rad out and back, from rest at `q` to rest."""
    zero, times = np.zeros(robot.dof), WINDOW_PERIOD * np.arange(21, dtype=np.float64)
    away = np.clip(q + 0.05, robot.limits.lower, robot.limits.upper)
    out = quintic(np.array(q), zero, zero, away, zero, zero, 0.4, times)
    back = quintic(away, zero, zero, np.array(q), zero, zero, 0.4, times)
    rows = [np.concatenate((a, b[1:])) for a, b in zip(out, back, strict=True)]
    return MotionWindow(number, start, start, WINDOW_PERIOD, rows[0], rows[1], rows[2], np.zeros(41), np.empty(0))
