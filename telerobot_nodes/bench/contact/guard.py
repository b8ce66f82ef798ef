"""Benchmark of the guard: random motions of every kind, at every speed, towards a plane and a box.

Each motion runs through the control step as the loop runs it, with an arm that is where it was sent one period ago. The
judge computes the points of the tool at every setpoint from the joints alone, with Pinocchio, and the distances from
the values of the motion. With `guard=false` the same motions run without the guard, which shows what it is good for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from telerobot_nodes.bench import is_on, report
from telerobot_nodes.bench.contact.guard_motions import GuardedMotion, random_motion
from telerobot_nodes.core.protocol import HardwareState
from telerobot_nodes.core.robot import RobotModel, load_robot
from telerobot_nodes.core.values import FloatArray, se3_from_pose
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.motion.law import sensor_in_tool
from telerobot_nodes.motion.loop import ControlStep
from telerobot_nodes.motion.primitives import PrimitiveRequest

PERIOD = 0.004  # [s] of the control step
DEVICE = 0.012  # [s] between increments of the hand
PATIENCE = 3.0  # [s] of one motion
HOME_EVERY = 20  # motions, between two ways back to where the arm began
NOISE = 1e-6  # [N], [N m] else the sensor counts as frozen
HELD = 1e-3  # [m] of room: less means that the guard held the tool
_FREE_ENDS = frozenset(("COMPLETED", "CONDITIONS", "END_TIME", "TOUCHED", "MISSED"))


@dataclass(frozen=True)
class Judged:
    """What became of one motion."""

    kind: str
    reason: str
    beyond: float  # [m] largest distance beyond plane or box, of points of the tool that began inside
    deeper: float  # [m] of points that began beyond
    room: float  # [m] as reported; NaN: not reported
    crosses: bool  # the destination is beyond, and nothing else moves the tool
    fastest: float  # [m/s] of the tool


def run(options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return conditions, figures and goals.

    Options: `motions` (10000), `seed` (1), `robot` (arm), `guard` (true).
    """
    options = options or {}
    motions, seed = int(options.get("motions", 10_000)), int(options.get("seed", 1))
    cell = _Cell(load_robot(str(options.get("robot", "arm"))), is_on(options, "guard"))
    random = np.random.default_rng(seed)
    judged: list[Judged] = []
    refused: Counter[str] = Counter()
    while len(judged) < motions:
        if len(judged) % HOME_EVERY == 0:
            cell.go_home()
        motion = random_motion(random, cell.robot, cell.q)
        try:
            judged.append(cell.run(motion))
        except InvalidValueError as error:  # out of reach, mostly
            refused[error.field] += 1
            cell.go_home()
    return report.result(report.conditions(seed), _figures(judged, refused), _goals(judged))


class _Cell:
    """One control step with an arm that follows it exactly."""

    def __init__(self, robot: RobotModel, guarded: bool) -> None:
        self.robot, self.guarded = robot, guarded
        self.control = ControlStep(robot, PERIOD)
        self.now, self._number = 1.0, 0
        self._flange = sensor_in_tool(robot).translation
        self._q = np.array(robot.home)
        self._step()

    @property
    def q(self) -> FloatArray:
        """The setpoint (dof,) [rad]."""
        return self.control.output.q.copy()

    def go_home(self) -> None:
        """Move back to where the arm began, without a guard."""
        free = {"joint_dest": self.robot.home.tolist(), "max_force_thres": 0.0, "max_torque_thres": 0.0}
        self._begin("joint_guarded", {**free, "time_vel_val": 2.0})
        while self._busy:
            self._step()

    def run(self, motion: GuardedMotion) -> Judged:
        """Run one motion to its end and judge it. Raises InvalidValueError when the arm cannot make it."""
        judge = _Judge(motion, self.robot, self.q, self._flange)
        guard = () if self.guarded else ("guard_plane", "guard_box")
        self._begin(motion.kind, {k: v for k, v in motion.values.items() if k not in guard})
        began, fed = self.now, 0.0
        while self._busy and self.now - began < PATIENCE:
            self.control.set_wrench(self.now, motion.wrench + NOISE * np.sin(1e3 * self.now))
            if self.now - fed >= DEVICE and motion.hand.any():
                self.control.teleoperate(motion.hand * DEVICE)
                fed = self.now
            if self.now - began >= motion.halt_at:
                self._halt()
            self._step()
            judge.look(self.q)
        if self._busy:
            self.control.stop("it takes too long")
            while self._busy:
                self._step()
                judge.look(self.q)
        self.control.resume(int(self.control.output.record["halt_count"]))
        executive = self.control.primitives.executive
        room = executive.readings.get("guard_room", np.nan)
        far = (judge.beyond, judge.deeper)
        return Judged(motion.kind, executive.reason.name, *far, room, judge.crosses, judge.fastest)

    @property
    def _busy(self) -> bool:
        return self.control.primitives.running or self.control.primitives.confirming

    def _halt(self) -> None:
        if not self.control.output.record["halted"]:
            self.control.halt(int(self.control.output.record["distinct"]) + 1, "halt of the benchmark")

    def _begin(self, name: str, values: Mapping[str, Any]) -> None:
        self._number += 1
        request = PrimitiveRequest(self._number, name, values)
        prepared = self.control.primitives.executive.prepare(request, self.q)
        refusal = self.control.begin(self.now, self._number, prepared)
        if refusal:
            raise InvalidValueError("begin", name, f"allowed: {refusal}")

    def _step(self) -> None:
        self.now += PERIOD
        self.control.measure(self.now, self._q, np.zeros(self.robot.dof))
        opening = self.robot.gripper.max_opening if self.robot.gripper else 0.0
        self.control.set_hardware(HardwareState.READY, "", self.now, opening)
        self.control.arrival.hardware(self.now, int(self.control.output.record["number"]), opening, opening)
        self._q = self.control.step(self.now).q.copy()


class _Judge:
    """Distances of the tool's points from plane and box, from the joints alone."""

    def __init__(self, motion: GuardedMotion, robot: RobotModel, q: FloatArray, flange: FloatArray) -> None:
        self._robot, values = robot, motion.values
        self._T_nom = se3_from_pose(values["tr_nom"]) if "tr_nom" in values else pin.SE3.Identity()
        given = np.array(values.get("guard_points", ())).reshape(-1, 3)
        ends = [self._T_nom.actInv(p) for p in (np.zeros(3), flange)]
        self._points = given if len(given) else np.array([np.zeros(3), *ends])
        self._plane, self._box = values.get("guard_plane"), values.get("guard_box")
        self._start = self._distances(robot.forward(q) * self._T_nom)
        self._at = self._tool(q).translation
        self.beyond = self.deeper = self.fastest = 0.0
        least = np.minimum(values["guard_band"], self._start) - 1e-6
        end = None if motion.target is None else self._distances(se3_from_pose(motion.target))
        alone = not (motion.hand.any() or motion.wrench.any())  # else the tool may end elsewhere
        self.crosses = alone and end is not None and bool((end < least).any())

    def look(self, q: FloatArray) -> None:
        """Look at one setpoint (dof,) [rad]."""
        T = self._tool(q)
        now, inside = self._distances(T), self._start > 0.0
        self.beyond = max(self.beyond, float(np.where(inside, -now, 0.0).max()))
        self.deeper = max(self.deeper, float(np.where(inside, 0.0, self._start - now).max()))
        self.fastest = max(self.fastest, float(np.linalg.norm(T.translation - self._at)) / PERIOD)
        self._at = T.translation

    def _tool(self, q: FloatArray) -> pin.SE3:
        return self._robot.forward(q) * self._T_nom

    def _distances(self, T: pin.SE3) -> FloatArray:
        """Distances [m] of all points from all planes, positive inside."""
        points = self._points @ T.rotation.T + T.translation
        rows = []
        if self._plane is not None:
            normal = np.array(self._plane[3:]) / np.linalg.norm(self._plane[3:])
            rows.append((points - np.array(self._plane[:3])) @ normal)
        if self._box is not None:
            rows += [*(points - np.array(self._box[:3])).T, *(np.array(self._box[3:]) - points).T]
        return np.concatenate(rows)


def _figures(judged: list[Judged], refused: Counter[str]) -> dict[str, Any]:
    kinds: dict[str, Any] = {}
    for kind in sorted({row.kind for row in judged}):
        rows = [row for row in judged if row.kind == kind]
        kinds[kind] = {
            "motions": len(rows),
            "beyond_mm": 1e3 * max(row.beyond for row in rows),
            "deeper_mm": 1e3 * max(row.deeper for row in rows),
            "went_beyond": sum(row.beyond > 1e-6 for row in rows),
            "fastest": max(row.fastest for row in rows),
            "destination_beyond": sum(row.crosses for row in rows),
            "held": sum(row.room < HELD for row in rows),
            "reasons": dict(Counter(row.reason for row in rows)),
        }
    return {"kinds": kinds, "refused_before_they_began": dict(refused)}


def _goals(judged: list[Judged]) -> list[dict[str, Any]]:
    silent = [row for row in judged if row.crosses and row.reason in _FREE_ENDS]
    return [
        report.goal("motions", len(judged), "motions", ">=", 10_000),
        report.goal("beyond plane or box, largest", 1e3 * max(row.beyond for row in judged), "mm", "<=", 1e-3),
        report.goal("deeper, where it began beyond", 1e3 * max(row.deeper for row in judged), "mm", "<=", 0.02),
        report.goal("towards a destination beyond, and no reason", len(silent), "motions", "==", 0),
    ]
