"""The level below the decision unit: does each primitive in kinematic time and answers as a real one would.

Faults are given by step; without one each primitive ends with the outcome it was sent for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.rtc.skills import Primitive, Report
from telerobot_nodes.rtc.world import Checks, Database

STEPS_TO_STOP = 0.02  # [s] from a halt to rest
SHORT = 0.01  # [m] of the end of its path a tool touches what it is to touch
LEAST = 0.05  # [s] of a primitive without a trajectory
SILENT = "silent"  # the fault of a primitive that nobody reports
WRONG_WIDTH = "gripped_wrong"  # the fault of fingers that close on something else
SUCCESSES = ("contact", "reached", "gripped", "opened", "found", "granted", "done", "read")
FoldedFaults: TypeAlias = Mapping[str, Sequence[str | None]]


@dataclass
class Running:
    """A primitive under way."""

    primitive: Primitive
    began: float  # [s]
    ends: float  # [s]
    report: Report


class KinematicExecutor:
    """Does primitives, one per subsystem.

    `faults`: a step's name, with or without its frame, to the outcomes of its executions in turn; None: no fault then.
    """

    looking_for = "module"  # what the camera is to find

    def __init__(self, world: Database, checks: Checks, faults: FoldedFaults | None = None) -> None:
        self.checks = checks
        self.faults: dict[str, list[str | None]] = {name: list(outcomes) for name, outcomes in (faults or {}).items()}
        self.joints: dict[str, FloatArray] = {}
        self.running: dict[int, Running] = {}
        self.held: dict[int, float] = {}  # primitives on hold: what is left of them [s]
        self.sent: list[Primitive] = []
        self.busy_clashes: list[str] = []  # subsystems that were sent two primitives at once
        self.truth = {item.key: item.value for item in world.view.query()}  # which the database may not know
        self.silent: set[str] = set()  # subsystems that do not answer
        self.sensors: dict[str, float] = {}  # what each shows

    def begin(self, primitive: Primitive, now: float) -> None:
        """Begin a primitive."""
        for other in self.running.values():
            if other.primitive.subsystem == primitive.subsystem and primitive.subsystem not in ("operator", "program"):
                self.busy_clashes.append(primitive.subsystem)
        self.sent.append(primitive)
        fault = self._fault(primitive.step)
        report, duration = self._answer(primitive, fault)
        if fault == SILENT or primitive.subsystem in self.silent or primitive.subsystem in ("operator", "program"):
            duration = float("inf")
        self.running[primitive.number] = Running(primitive, now, now + duration, report)

    def halt(self, subsystem: str, now: float) -> None:
        """Bring a subsystem to rest."""
        for running in self.running.values():
            if running.primitive.subsystem == subsystem and running.ends > now + STEPS_TO_STOP:
                if subsystem in self.silent:
                    continue
                part = min(1.0, (now - running.began) / max(running.ends - running.began, 1e-9))
                running.report = self._report(running.primitive, "halted", part)
                running.ends = now + STEPS_TO_STOP
                self.held.pop(running.primitive.number, None)

    def hold(self, number: int, hold: bool, now: float) -> None:
        """Keep a primitive where it is, or let it go on."""
        running = self.running.get(number)
        if running is None:
            return
        if hold:
            self.held[number] = running.ends - now
            running.ends = float("inf")
        elif number in self.held:
            running.ends = now + self.held.pop(number)

    def next_end(self) -> float:
        """When the next primitive ends [s]."""
        return min((running.ends for running in self.running.values()), default=float("inf"))

    def finished(self, now: float) -> list[Report]:
        """The reports of the primitives that have ended."""
        over = [running for running in self.running.values() if running.ends <= now]
        for running in over:
            del self.running[running.primitive.number]
            if running.report.joints:
                self.joints[running.primitive.subsystem] = np.array(running.report.joints)
        return [running.report for running in sorted(over, key=lambda r: r.ends)]

    def _fault(self, step: str) -> str | None:
        queue = self.faults.get(step) or self.faults.get(step.rpartition(".")[2])
        return queue.pop(0) if queue else None

    def _answer(self, primitive: Primitive, fault: str | None) -> tuple[Report, float]:
        duration = max(primitive.trajectory.duration, LEAST)
        if fault == "timeout":
            duration = primitive.limit
        if fault in (None, SILENT):
            return self._report(primitive, self._success(primitive), 1.0), duration
        return self._report(primitive, str(fault), 0.5), duration

    def _success(self, primitive: Primitive) -> str:
        if primitive.executive == "read" and str(primitive.parameters["sensor"]) not in self.sensors:
            return "no_reading"
        return next(outcome for outcome in SUCCESSES if outcome in primitive.outcomes)

    def _report(self, primitive: Primitive, outcome: str, part: float) -> Report:
        joints: tuple[float, ...] = ()
        pose: tuple[float, ...] = ()
        readings: dict[str, float | str | tuple[float, ...]] = {}
        if primitive.subsystem in self.joints:
            joints = self._joints_at(primitive, outcome, part)
            pose = tuple(self.checks.kinematics.forward(primitive.subsystem, np.array(joints)).tolist())
        if primitive.executive in ("free_grasp", "compliant_grasp"):
            width = primitive.parameters.get("width", 0.0)
            asked = float(width) if isinstance(width, (int, float)) else 0.0
            readings["width"] = {"empty": 0.0, WRONG_WIDTH: 0.02}.get(outcome, asked)
            outcome = "gripped" if outcome == WRONG_WIDTH else outcome
        if primitive.executive == "locate" and outcome == "found":
            readings["pose"] = self._found(primitive)
        if primitive.executive == "compliant_motion":
            readings["force_kept"] = part
        if primitive.executive == "read" and outcome == "read":
            readings["value"] = self.sensors[str(primitive.parameters["sensor"])]
        elapsed = primitive.trajectory.duration * part
        track = self._track(primitive, pose) if pose else ()
        return Report(primitive.number, outcome, joints, pose, (0.0,) * 6, readings, elapsed, track=track)

    def _track(self, primitive: Primitive, end: Sequence[float]) -> tuple[tuple[float, ...], ...]:
        """Poses the tool passes until it is at `end`."""
        poses = [*self.poses(primitive), np.array(end)]
        nearest = min(range(len(poses)), key=lambda i: float(np.linalg.norm(poses[i] - poses[-1])))
        return tuple(tuple(pose.tolist()) for pose in (*poses[:nearest], poses[-1], poses[-1]))

    def poses(self, primitive: Primitive) -> list[FloatArray]:
        """Poses of the tool at the points of a trajectory, from where it is."""
        arm, points = primitive.subsystem, list(primitive.trajectory.points)
        if primitive.trajectory.space.value == "joint":
            points = [self.checks.kinematics.forward(arm, joints) for joints in points]
        return [self.checks.kinematics.forward(arm, self.joints[arm]), *points]

    def _joints_at(self, primitive: Primitive, outcome: str, part: float) -> tuple[float, ...]:
        start = self.joints[primitive.subsystem]
        points = primitive.trajectory.points
        if not len(points) or outcome in ("refused", "estop"):
            return tuple(start.tolist())
        last = points[min(len(points) - 1, round(part * (len(points) - 1)))]
        if part >= 1.0 and outcome == "contact" and primitive.executive == "move_to_touch":
            last = _short_of(last, points[0])
        if points.shape[1] == 7 and primitive.trajectory.space.value == "task":
            last = self.checks.kinematics.solve(primitive.subsystem, last, start)
        return tuple(np.asarray(last).tolist())

    def _found(self, primitive: Primitive) -> tuple[float, ...]:
        pose = self.truth[self.looking_for + ".pose"]
        return pose if isinstance(pose, tuple) else ()


def _short_of(pose: FloatArray, start: FloatArray) -> FloatArray:
    """The pose (7,), `SHORT` nearer to the position of `start`."""
    way = pose[:3] - start[:3]
    nearer = np.array(pose)
    nearer[:3] -= way * min(SHORT / max(float(np.linalg.norm(way)), 1e-9), 1.0)
    return nearer
