"""Benchmark of the force field: one step for two 7-DOF arms among 20 obstacles, together with the full compliant law.

The field of both arms, the way of its push into the law, and the law with every source for each arm, in one run: what
a control loop that protects teleoperation does in a period. Arms move near obstacles and each other throughout, so
that pairs are in reach (the number is reported).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pinocchio as pin

from telerobot_nodes.bench import report
from telerobot_nodes.bench.contact import all_sources
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.cspace.geometry import (
    ArmGeometry,
    ForceField,
    Obstacle,
    arm_geometry,
    box,
    cylinder,
    floor,
    sphere,
    step_twist,
)
from telerobot_nodes.motion.law import Fusion, InputJoint, InputSix

PERIOD = 0.002  # [s] of a 500 Hz loop
BETWEEN = 0.75  # [m] between the bases


def run(options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return conditions, figures and goals. Options: `steps` (20000), `seed` (1), `robot` (panda), `obstacles` (20)."""
    options = options or {}
    steps, seed, count = (
        int(options.get("steps", 20_000)),
        int(options.get("seed", 1)),
        int(options.get("obstacles", 20)),
    )
    arms = _arms(str(options.get("robot", "panda")))
    rng = np.random.default_rng(seed)
    obstacles = _obstacles(rng, count)
    moving = _configurations(arms, rng, steps)
    figures: dict[str, Any] = {"arms": len(arms), "dof": arms[0].dof, "obstacles": count}
    figures["field_alone"] = _field(arms, obstacles, moving)
    figures["two_laws_alone"] = _whole(arms, [], moving, rng, False)
    figures["whole_period"] = _whole(arms, obstacles, moving, rng, True)
    whole, processor = figures["whole_period"]["wall"], figures["whole_period"]["processor"]
    goals = [
        report.goal("field and law of two arms, median", whole["median_us"], "us", "<=", 1e6 * PERIOD),
        report.goal("field and law of two arms, p99", whole["p99_us"], "us", "<=", 1e6 * PERIOD),
        report.goal("the same, p99 of processor time", processor["p99_us"], "us", "<=", 1e6 * PERIOD),
        report.goal("periods with a push", figures["field_alone"]["pushed_part"], "-", ">=", 0.5),
    ]
    return report.result(report.conditions(seed), figures, goals)


def _arms(robot: str) -> list[ArmGeometry]:
    """Return two arms that face each other."""
    turned = pin.SE3(pin.utils.rotate("z", math.pi), np.array([BETWEEN, 0.0, 0.0]))
    return [arm_geometry(load_robot(robot)), arm_geometry(load_robot(robot, T_world_base=turned))]


def _obstacles(rng: np.random.Generator, count: int) -> list[Obstacle]:
    """Return a floor and obstacles of every kind around the shared zone."""
    things: list[Obstacle] = [floor(height=-0.05)]
    for i in range(count - 1):
        place = (
            rng.uniform(-0.1, BETWEEN + 0.1),
            rng.choice([-1.0, 1.0]) * rng.uniform(0.25, 0.5),
            rng.uniform(0, 0.9),
        )
        size = rng.uniform(0.04, 0.1)
        kind = i % 3
        if kind == 0:
            things.append(box(f"box_{i}", (size, size, 2.0 * size), place))
        elif kind == 1:
            things.append(cylinder(f"can_{i}", 0.5 * size, 2.0 * size, place))
        else:
            things.append(sphere(f"ball_{i}", 0.6 * size, place))
    return things


def _configurations(arms: list[ArmGeometry], rng: np.random.Generator, steps: int) -> list[FloatArray]:
    """Return slow waves around home, (steps, n) [rad] per arm."""
    t = PERIOD * np.arange(steps)[:, None]
    found = []
    for geometry in arms:
        limits, home = geometry.robot.limits, np.array(geometry.robot.home)
        rate, phase = rng.uniform(0.3, 1.2, home.size), rng.uniform(0.0, 2.0 * math.pi, home.size)
        wave = home + 0.5 * np.sin(rate * t + phase)
        found.append(np.clip(wave, limits.lower, limits.upper))
    return found


def _field(arms: list[ArmGeometry], obstacles: list[Obstacle], moving: list[FloatArray]) -> dict[str, Any]:
    field = ForceField(arms, obstacles)
    taken, pushed, least = _Taken(len(moving[0])), 0, np.inf
    for i in range(taken.count):
        rows = [row[i] for row in moving]
        taken.begin()
        velocity = field.step(rows)
        taken.end(i)
        pushed += any(v.any() for v in velocity)
        least = min(least, *field.least)
    return taken.figures() | {"pushed_part": round(pushed / taken.count, 3), "least_mm": round(1e3 * float(least), 1)}


def _whole(
    arms: list[ArmGeometry],
    obstacles: list[Obstacle],
    moving: list[FloatArray],
    rng: np.random.Generator,
    with_field: bool,
) -> dict[str, Any]:
    """Run one period: the field of both arms, its push into each law, both laws."""
    field = ForceField(arms, obstacles) if with_field else None
    laws = [_law(geometry, rng) for geometry in arms]
    taken = _Taken(len(moving[0]))
    for i in range(taken.count):
        rows = [row[i] for row in moving]
        taken.begin()
        push = field.step(rows) if field is not None else None
        for k, law in enumerate(laws):
            law(i, rows[k], None if push is None else push[k])
        taken.end(i)
    return taken.figures()


def _law(geometry: ArmGeometry, rng: np.random.Generator) -> Callable[[int, FloatArray, FloatArray | None], None]:
    """Run one step of the law with every source, following the waves."""
    robot = geometry.robot
    fusion = Fusion(robot, PERIOD, all_sources(robot.dof))
    inputs = fusion.inputs
    wrench = rng.normal(scale=(3, 3, 3, 0.2, 0.2, 0.2), size=(997, 6))
    hand = np.array([1e-5, -1e-5, 1e-5, 1e-5, 1e-5, -1e-5])

    def step(i: int, q: FloatArray, push: FloatArray | None) -> None:
        inputs.joint[InputJoint.Q_NOMINAL] = q
        inputs.joint[InputJoint.Q_MEASURED] = fusion.q
        inputs.six[InputSix.WRENCH] = wrench[i % 997]
        inputs.six[InputSix.TELE] = hand if i % 2000 < 1000 else -hand
        if push is not None:
            inputs.six[InputSix.FURTHER] = step_twist(robot.jacobian(q), push, PERIOD)
        fusion.advance(i * PERIOD)

    return step


class _Taken:
    """Durations of steps by wall clock and by processor time; the wall clock includes other processes."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._wall, self._processor = np.empty(count), np.empty(count)
        self._began = 0.0, 0.0

    def begin(self) -> None:
        """Mark the start of a step."""
        self._began = time.thread_time(), time.perf_counter()

    def end(self, i: int) -> None:
        """Mark the end of step `i`."""
        wall, processor = time.perf_counter(), time.thread_time()
        self._processor[i], self._wall[i] = processor - self._began[0], wall - self._began[1]

    def figures(self) -> dict[str, Any]:
        """Return quantiles without the first steps, in which caches fill."""
        warm = min(100, self.count // 2)
        return {"wall": report.quantiles(self._wall[warm:]), "processor": report.quantiles(self._processor[warm:])}
