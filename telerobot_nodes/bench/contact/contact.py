"""Benchmark of contact safety with default parameters: faults of the wrist sensor, surfaces and delays, free air.

In physics, through `Hardware` and the executive at the graph's timing; the true force is the physics' own.
"""

from __future__ import annotations

import dataclasses
from collections import Counter, deque
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
import pinocchio as pin

from telerobot_nodes.bench import chosen, report
from telerobot_nodes.bench.contact.contact_rig import CONTROL_PERIOD, ContactRig
from telerobot_nodes.core.robot import Hand
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.hardware import Measured, Realism

PARTS = ("faults", "surfaces", "free_air")
SET = 10.0  # [N]
AXIS = np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
PLATES = ((1e-4, 1e5), (1e-3, 1e4), (1e-3, 1e5))  # [m/s/N] gain, [N/m]
STIFFNESSES = (1e2, 1e3, 1e4, 1e5, 1e6)  # [N/m]
DELAYS = (0.0, 0.01, 0.02, 0.03)  # [s] of the wrench, besides the graph's timing
LASTS = 4.0  # [s] of one press
SETTLED = 0.1  # [-] of the set force
FALSE = frozenset(("MAX_FORCE", "MAX_TORQUE", "TOUCHED", "INVALID_SENSOR", "FROZEN_SENSOR", "STALE_SENSOR"))
UP = 0.3  # [m] above the plate, where motions in free air begin and to where they return
TURN, WAY = 1.2, 0.08  # [rad], [m] of one of them
TOGETHER = 3  # of them, before the arm is back above the plate

Reading: TypeAlias = Callable[[FloatArray], FloatArray]


class Faulty:
    """Changes what the sensor reads, from the moment `fault` is set."""

    def __init__(self, rig: ContactRig) -> None:
        self.read: Callable[[], Measured] = rig.arm.read
        self.fault: Reading | None = None
        self.last = self.read().wrench_sensor
        rig.arm.read = self  # type: ignore[method-assign]

    def __call__(self) -> Measured:
        """The arm's measurement with the fault."""
        measured = self.read()
        if self.fault is None:
            self.last = measured.wrench_sensor
            return measured
        return dataclasses.replace(measured, wrench_sensor=self.fault(measured.wrench_sensor))


def pressed(
    fault: Callable[[Faulty], Reading], gain: float, stiffness: float, before: float = 1.5, after: float = 1.0
) -> tuple[str, float]:
    """Press, bring the fault about after `before` [s]; the reason, and the largest true force from then on [N]."""
    rig = ContactRig(stiffness)
    rig.go_over(0.0005)
    sensor = Faulty(rig)
    rig.press(SET, before, force_gains=[gain] * 3 + [0.01] * 3)
    sensor.fault = fault(sensor)
    already = len(rig.force)
    rig.go_on(after)
    return rig.executive.reason.name, max(rig.force[already:])


def frozen(sensor: Faulty) -> Reading:
    """A sensor that stands still."""
    last = sensor.last
    return lambda wrench: last


def silent(sensor: Faulty) -> Reading:
    """A sensor that says nothing."""
    return lambda wrench: np.full(6, np.nan)


def jumped(by: float) -> Callable[[Faulty], Reading]:
    """A sensor whose force along the tool jumps by this [N]."""
    return lambda sensor: lambda wrench: wrench + by * AXIS


def clipped(most: float) -> Callable[[Faulty], Reading]:
    """A sensor that ends `most` [N] above its latest reading."""

    def fault(sensor: Faulty) -> Reading:
        end = sensor.last + most
        return lambda wrench: np.where(AXIS > 0, np.minimum(wrench, end), wrench)

    return fault


# name, fault, [s] of pressing before it
FAULTS: tuple[tuple[str, Callable[[Faulty], Reading], float], ...] = (
    ("stuck while the force grows", frozen, 0.1),
    ("stuck while pressing", frozen, 1.0),
    ("silent", silent, 1.5),
    ("jumps by -100 N", jumped(-100.0), 1.5),
    ("jumps by -15 N", jumped(-15.0), 1.5),
    ("jumps by -8 N", jumped(-8.0), 1.5),
    ("jumps by 30 N", jumped(30.0), 1.5),
    ("ends at 4 N", clipped(4.0), 0.0),
    ("ends at 8 N", clipped(8.0), 0.0),
)


def run(options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return conditions, figures and goals.

    Options: `parts` (all, with commas), `motions` (10000) in free air, `seed` (1).
    """
    options = options or {}
    parts, seed = chosen(options, "parts", PARTS), int(options.get("seed", 1))
    figures: dict[str, Any] = {}
    goals = []
    if "faults" in parts:
        figures["faults"] = rows = [fault_row(*row, *plate) for row in FAULTS for plate in PLATES]
        goals.append(report.goal("sensor faults, force peak", max(r["peak"] for r in rows), "N", "<=", 2.0 * SET))
        unnamed = [row for row in rows if row["reason"] == "RUNNING"]
        goals.append(report.goal("sensor faults without a stop and its reason", len(unnamed), "cases", "==", 0))
    if "surfaces" in parts:
        figures["surfaces"] = rows = [surface(k, delay, seed) for k in STIFFNESSES for delay in DELAYS]
        goals += [
            report.goal("surfaces, contact lost", sum(row["lost"] for row in rows), "times", "==", 0),
            report.goal("surfaces, overshoot", max(row["overshoot"] for row in rows), "%", "<=", 50.0),
            report.goal("surfaces, slowest to settle", max(row["settled"] for row in rows), "s", "<=", 2.0),
        ]
    if "free_air" in parts:
        count = int(options.get("motions", 10_000))
        figures["free_air"] = reasons = free_air(count, seed)
        wrong = sum(number for reason, number in reasons.items() if reason in FALSE)
        goals.append(report.goal("free air, motions", count, "motions", ">=", 10_000))
        goals.append(report.goal("free air, false touches and false faults of the sensor", wrong, "motions", "==", 0))
    return report.result(report.conditions(seed), figures, goals)


def fault_row(
    name: str, fault: Callable[[Faulty], Reading], before: float, gain: float, stiffness: float
) -> dict[str, Any]:
    """One fault on one plate: the reason and the largest true force [N]."""
    reason, peak = pressed(fault, gain, stiffness, before, 1.5)
    return {"fault": name, "gain": gain, "stiffness": stiffness, "reason": reason, "peak": peak}


class DelayedRig(ContactRig):
    """A rig whose executive gets each wrench `delay` [s] late."""

    def __init__(self, stiffness: float, delay: float, realism: Realism) -> None:
        self._delay = delay
        self._on_its_way: deque[tuple[float, FloatArray]] = deque()
        super().__init__(stiffness, realism)

    def _measure(self) -> None:
        measured = self.hardware.measured()
        self.executive.measure(measured.position)
        self._on_its_way.append((self.now, measured.wrench_sensor))
        while self._on_its_way and self._on_its_way[0][0] <= self.now - self._delay + 1e-9:
            self.executive.set_wrench(self.now, self._on_its_way.popleft()[1])


def surface(stiffness: float, delay: float, seed: int) -> dict[str, float]:
    """Press with SET by default gains: overshoot [%], contacts lost, time from touch until it stays within SETTLED."""
    rig = DelayedRig(stiffness, delay, Realism(realism_seed=seed))
    rig.go_over(0.0005)
    rig.press(SET, LASTS)
    force = np.array(rig.force)
    touched = int(np.argmax(force > 0.0))
    force = force[touched:]
    off = np.flatnonzero(np.abs(force - SET) > SETTLED * SET)
    return {
        "stiffness": stiffness,
        "delay": delay,
        "overshoot": 100.0 * (force.max() - SET) / SET,
        "lost": int(np.count_nonzero(np.diff((force > 0.0).astype(int)) < 0)),
        "settled": np.inf
        if off.size and off[-1] == force.size - 1
        else (off[-1] + 1 if off.size else 0) * CONTROL_PERIOD,
        "last": float(force[-50:].mean()),
    }


def free_air(motions: int, seed: int) -> dict[str, int]:
    """Random guarded motions and approaches with tilts, the hand declared: how many ended for each reason."""
    random = np.random.default_rng(seed)
    realism = Realism(realism_seed=seed)
    rig = ContactRig(1e5, realism, hand=_hand(ContactRig(1e5, realism)))
    reasons: Counter[str] = Counter()
    while reasons.total() < motions:
        if reasons.total() % TOGETHER == 0:
            rig.go_over(UP)
        speed = float(np.exp(random.uniform(np.log(0.02), np.log(0.3))))
        turn = min(TURN, 2.0 * speed) * _unit(random)
        T = pin.SE3(pin.exp3(turn), min(WAY, speed) * _unit(random))
        kind = str(random.choice(("cartesian_guarded", "move_to_touch")))
        try:
            rig.run(kind, {"tr_rel_dest": pin.SE3ToXYZQUAT(T).tolist(), "time_vel_val": speed})
        except InvalidValueError:  # out of reach
            rig.go_over(UP)
            continue
        reasons[rig.executive.reason.name] += 1
    return dict(reasons)


def _hand(rig: ContactRig) -> Hand:
    """What hangs on the wrist sensor, with its load, from the physics."""
    model, data = rig.arm.model, rig.arm.data
    body = model.body("arm/" + rig.robot.sensor_frame).id
    center = data.xmat[body].reshape(3, 3).T @ (data.subtree_com[body] - data.xpos[body])
    return Hand(float(model.body_subtreemass[body]), tuple(center.tolist()))


def _unit(random: np.random.Generator) -> FloatArray:
    v = random.standard_normal(3)
    return np.asarray(v / np.linalg.norm(v))
