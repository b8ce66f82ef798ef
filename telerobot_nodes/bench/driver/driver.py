"""Benchmark of the driver `ros2_control` against the stand-in: path error of the demo, stops and returns.

The stand-in is a process of its own with latency (2 ms) and jitter (1 ms) both ways and MuJoCo behind it. A return is
without jump when no joint then moves by more than 0.005 rad while the arm is held.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from telerobot_nodes.bench import chosen, is_on, report
from telerobot_nodes.bench.driver.served_arm import ServedArm, StandInProcess, write_arm_file
from telerobot_nodes.core.values import FloatArray, in_range
from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.runtime import join_graph

ROBOTS = ("ur5", "panda")
RATES = (500.0, 1000.0)  # [Hz]
SWING, PERIOD = 0.05, 2.0  # [rad], [s] of the motion that is stopped
SWINGING = 0.5  # [s] before the stop
PATIENCE = 20.0  # [s]
NOT_RUNNING = "does not run"
HELD = 0.2  # [s] the arm is watched after its return
JUMP = 0.005  # [rad] most motion after a return
PATH_ERROR = 1e-3  # [m] RMS
DEMO = ("rms_error_m", "max_error_m", "points_planned", "points_executed", "lost", "duplicates", "limit_violations")


def run(options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return conditions, figures and goals.

    Options: `stops` (100 of each arm and rate), `demo` (1; 0: without the demo), `robots` (ur5,panda), `rates`
    (500,1000), `folder` (runs/driver-TIME).
    """
    options = options or {}
    stops = in_range(int(options.get("stops", 100)), "stops", 0, 100_000)
    folder = Path(options.get("folder", f"runs/driver-{time.strftime('%Y%m%d-%H%M%S')}"))
    robots = chosen(options, "robots", ROBOTS)
    asked = str(options.get("rates", ",".join(f"{rate:g}" for rate in RATES))).split(",")
    rates = [in_range(float(rate), "rates", 20.0, 1000.0, "Hz") for rate in asked]
    join_graph()  # this process and the stand-in see each other
    figures: dict[str, Any] = {}
    for robot in robots:
        for rate in rates:
            figures[f"{robot}_{rate:g}"] = _one(folder, robot, rate, int(stops), is_on(options, "demo"))
    return report.result(report.conditions(), figures, _goals(figures))


def _one(folder: Path, robot: str, rate: float, stops: int, demo: bool) -> dict[str, Any]:
    file = write_arm_file(folder, robot, rate)
    found: dict[str, Any] = {}
    with StandInProcess(file, rate) as stand_in:
        if stops:
            found |= _stops(file, stops, stand_in)
    if demo:
        with StandInProcess(file, rate):
            found["demo"] = _demo(file, folder / f"{robot}_{rate:g}")
    print(f"{robot} at {rate:g} Hz: {found}", flush=True)
    return found


def _demo(file: Path, folder: Path) -> dict[str, Any]:
    """Figures of the hands demo over the driver."""
    from telerobot_nodes.demo import DemoSettings, run_headless
    from telerobot_nodes.operator.review import review_bag

    try:
        run_headless(DemoSettings(folder, robot=str(file)), show=lambda text: None)
    except TelerobotError as error:
        return {"error": str(error)}
    summary = asdict(review_bag(folder / "bag", str(file)).summary)
    return {name: summary[name] for name in DEMO}


def _stops(file: Path, count: int, stand_in: StandInProcess) -> dict[str, Any]:
    """Protective stops while the arm swings, and its returns."""
    arm = ServedArm(file)
    try:
        if not arm.until(lambda: not arm.fault or arm.can_be_reset(), PATIENCE):
            raise TelerobotError(f"the arm does not start: {arm.fault}")
        steps = [_stop(arm, stand_in) for _ in range(count)]
    finally:
        arm.close()
    good = [step for step in steps if np.isfinite(step)]
    clean = sum(step <= JUMP for step in good)
    return {"stops": count, "returned": len(good), "clean": clean, "largest_step_rad": float(np.max(good, initial=0.0))}


def _stop(arm: ServedArm, stand_in: StandInProcess) -> float:
    """Largest motion [rad] after one return; NaN when the stop was not noticed, or the arm did not return."""
    middle, begin = arm.q.copy(), time.monotonic()

    def swing(now: float) -> FloatArray:
        share = np.sin(np.pi * max(now - begin, 0.0) / PERIOD) ** 2
        return np.asarray(middle + SWING * share * np.eye(middle.size)[0])

    if not arm.until(lambda: time.monotonic() > begin + SWINGING, PATIENCE, swing):
        return float("nan")
    stand_in.order("protective_stop")
    if not arm.until(lambda: NOT_RUNNING in arm.fault, PATIENCE, swing):
        return float("nan")
    stand_in.order("release")
    if not arm.until(arm.can_be_reset, PATIENCE):
        return float("nan")
    here, seen, held = arm.q.copy(), [0.0], time.monotonic() + HELD

    def watched() -> bool:
        seen.append(float(np.abs(arm.q - here).max()))
        return time.monotonic() > held

    arm.until(watched, PATIENCE)
    return max(seen)


def _goals(figures: Mapping[str, Any]) -> list[dict[str, Any]]:
    goals = []
    for name, found in figures.items():
        if "stops" in found:
            wanted = found["stops"]
            goals.append(report.goal(f"{name}: stops with a return without jump", found["clean"], "", ">=", wanted))
        if "demo" in found:
            error = 1e3 * found["demo"].get("rms_error_m", float("nan"))
            goals.append(report.goal(f"{name}: path error of the hands demo, RMS", error, "mm", "<=", 1e3 * PATH_ERROR))
    return goals
