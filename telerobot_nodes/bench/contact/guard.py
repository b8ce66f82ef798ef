"""Benchmark of the guard: random motions of every kind, at every speed, towards a plane and a box.

Each motion runs through the control step as the loop runs it, with an arm that is where it was sent one period ago. The
judge (`guard_judge.py`) computes where the whole tool, and what it holds, was at every setpoint: from the URDF and the
joints alone. With `guard=false` the same motions run without the guard, which shows what it is good for.
"""

from __future__ import annotations

import json
import multiprocessing
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from telerobot_nodes.bench import is_on, report
from telerobot_nodes.bench.contact.guard_judge import ToolGeometry
from telerobot_nodes.bench.contact.guard_motions import GuardedMotion, random_motion
from telerobot_nodes.core.protocol import HardwareState
from telerobot_nodes.core.robot import RobotModel, load_robot
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.motion.loop import ControlStep
from telerobot_nodes.motion.primitives import PrimitiveRequest

PERIOD = 0.004  # [s] of the control step
DEVICE = 0.012  # [s] between increments of the hand
PATIENCE = 6.0  # [s] of one motion
CHUNK = 100  # motions of one cell: the same seed gives the same motions, however many processes share them
NOISE = 1e-6  # [N], [N m] else the sensor counts as frozen
HOME_EVERY = 20  # motions, between two ways back to where the arm began
HELD = 1e-3  # [m] of room: less means that the guard held the tool
EXACT = 1e-6  # [m] by which a destination must be inside the band to count as beyond
TOO_LONG = "it takes too long"
Chunk: TypeAlias = tuple[int, str, bool, int, int]  # seed, robot, guarded, first motion, count
_FREE_ENDS = frozenset(("COMPLETED", "CONDITIONS", "END_TIME", "TOUCHED", "MISSED"))


@dataclass(frozen=True)
class Judged:
    """What became of one motion."""

    number: int
    kind: str
    reason: str
    beyond: float  # [m] largest distance beyond plane or box, of parts of the tool that began inside
    deeper: float  # [m] of parts that began beyond
    room: float  # [m] as reported; NaN: not reported
    left: float  # [m] between the tool at the end and its band
    crosses: bool  # the destination is beyond, and nothing else moves the tool
    fastest: float  # [m/s] of the tool
    halted: bool  # by the benchmark
    cut: bool  # it took too long


def run(options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return conditions, figures and goals.

    Options: `motions` (10000), `seed` (1), `robot` (arm), `guard` (true), `processes` (all usable), `rows` (a file: one
    line for each CHUNK of motions, and a run that was broken off goes on behind them).
    """
    options = options or {}
    motions, seed = int(options.get("motions", 10_000)), int(options.get("seed", 1))
    common = (seed, str(options.get("robot", "arm")), is_on(options, "guard"))
    chunks = [(*common, first, min(CHUNK, motions - first)) for first in range(0, motions, CHUNK)]
    file = Path(str(options["rows"])) if "rows" in options else None
    found = _known(file)
    for chunk, rows, refused in _run_all([chunk for chunk in chunks if chunk not in found], options):
        found[chunk] = rows, refused
        if file is not None:
            with file.open("a") as out:
                out.write(json.dumps([chunk, [asdict(row) for row in rows], refused]) + "\n")
    judged = [row for chunk in chunks for row in found[chunk][0]]
    refused = sum((Counter(found[chunk][1]) for chunk in chunks), Counter[str]())
    return report.result(report.conditions(seed), _figures(judged, refused), _goals(judged))


def _known(file: Path | None) -> dict[Chunk, tuple[list[Judged], dict[str, int]]]:
    """What the file of an earlier run holds."""
    if file is None or not file.exists():
        return {}
    lines = map(json.loads, file.read_text().splitlines())
    return {tuple(chunk): ([Judged(**row) for row in rows], refused) for chunk, rows, refused in lines}


def _run_all(chunks: list[Chunk], options: Mapping[str, Any]) -> Iterator[tuple[Chunk, list[Judged], dict[str, int]]]:
    """Run chunks in several processes; each as soon as it is done."""
    processes = min(int(options.get("processes", len(os.sched_getaffinity(0)))), len(chunks))
    if processes <= 1:
        yield from map(_run_chunk, chunks)
        return
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        yield from pool.imap_unordered(_run_chunk, chunks)


def _run_chunk(chunk: Chunk) -> tuple[Chunk, list[Judged], dict[str, int]]:
    """Motions `first` to `first + count`, of one cell that begins at home, and the fields of what was refused."""
    seed, name, guarded, first, count = chunk
    cell = _Cell(load_robot(name), guarded)
    random = np.random.default_rng((seed, first))
    judged: list[Judged] = []
    refused: Counter[str] = Counter()
    while len(judged) < count:
        if len(judged) % HOME_EVERY == 0:
            cell.go_home()
        motion = random_motion(random, cell.robot, cell.tool, cell.q)
        try:
            judged.append(cell.run(first + len(judged), motion))
        except InvalidValueError as error:  # out of reach, mostly
            refused[error.field] += 1
            cell.go_home()
    return chunk, judged, dict(refused)


class _Cell:
    """One control step with an arm that follows it exactly."""

    def __init__(self, robot: RobotModel, guarded: bool) -> None:
        self.robot, self.guarded = robot, guarded
        self.tool = ToolGeometry(robot)
        self.control = ControlStep(robot, PERIOD)
        self.now, self._number = 1.0, 0
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

    def run(self, number: int, motion: GuardedMotion) -> Judged:
        """Run one motion to its end and judge it. Raises InvalidValueError when the arm cannot make it."""
        guard = () if self.guarded else ("guard_plane", "guard_box", "guard_points")
        began, fed, way = self.now, 0.0, [self.q]
        self._begin(motion.kind, {k: v for k, v in motion.values.items() if k not in guard})
        while self._busy:
            self.control.set_wrench(self.now, motion.wrench + NOISE * np.sin(1e3 * self.now))
            if self.now - fed >= DEVICE and motion.hand.any():
                self.control.teleoperate(motion.hand * DEVICE)
                fed = self.now
            if self.now - began >= motion.halt_at:
                self._halt()
            if self.now - began >= PATIENCE:
                self.control.stop(TOO_LONG)
            self._step()
            way.append(self.q)
        halted = bool(self.control.output.record["halted"])
        self.control.resume(int(self.control.output.record["halt_count"]))
        executive = self.control.primitives.executive
        room = executive.readings.get("guard_room", np.nan)
        cut = self.now - began >= PATIENCE
        found = _judge(motion, self.tool, np.array(way))
        return Judged(number, motion.kind, executive.reason.name, room=room, halted=halted, cut=cut, **found)

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


def _judge(motion: GuardedMotion, tool: ToolGeometry, way: FloatArray) -> dict[str, Any]:
    """What the judge sees of a motion through the setpoints `way` (k, dof) [rad]."""
    T = tool.last(way)
    d = motion.planes.distances(T, motion.solids)
    start, inside = d[0], d[0] > 0.0
    least = np.minimum(motion.values["guard_band"], start)
    end = None if motion.target is None else motion.planes.distances(motion.target[None], motion.solids)[0]
    alone = not (motion.hand.any() or motion.wrench.any())  # else the tool may end elsewhere
    steps = np.linalg.norm(np.diff((T @ tool.T_last_tn)[:, :3, 3], axis=0), axis=1)
    return {
        "beyond": float(np.where(inside, -d, 0.0).max()),
        "deeper": float(np.where(inside, 0.0, start - d).max()),
        "left": float((d[-1] - least).min()),
        "crosses": alone and end is not None and bool((end < least - EXACT).any()),
        "fastest": float(steps.max(initial=0.0)) / PERIOD,
    }


def _figures(judged: list[Judged], refused: Counter[str]) -> dict[str, Any]:
    kinds: dict[str, Any] = {}
    for kind in sorted({row.kind for row in judged}):
        rows = [row for row in judged if row.kind == kind]
        held = [row.left for row in rows if row.reason == "GUARD"]
        kinds[kind] = {
            "motions": len(rows),
            "beyond_mm": 1e3 * max(row.beyond for row in rows),
            "deeper_mm": 1e3 * max(row.deeper for row in rows),
            "went_beyond": sum(row.beyond > 1e-6 for row in rows),
            "fastest": max(row.fastest for row in rows),
            "destination_beyond": sum(row.crosses for row in rows),
            "held": sum(row.room < HELD for row in rows),
            "ended_by_guard_mm_before_the_band": [1e3 * float(q) for q in np.percentile(held, (50, 95, 100))]
            if held
            else [],
            "halted": sum(row.halted for row in rows),
            "reasons": dict(Counter(row.reason for row in rows)),
        }
    worst = sorted(judged, key=lambda row: max(row.beyond, row.deeper), reverse=True)[:5]
    wrong = [asdict(row) for row in judged if _is_silent(row) or row.cut]
    return {
        "kinds": kinds,
        "refused_before_they_began": dict(refused),
        "farthest": [asdict(row) for row in worst],
        "without_reason": wrong[:20],
    }


def _is_silent(row: Judged) -> bool:
    """True for a motion that ended as if its destination had been reached, and it was beyond."""
    return row.crosses and row.reason in _FREE_ENDS


def _goals(judged: list[Judged]) -> list[dict[str, Any]]:
    unnamed = [row for row in judged if row.reason == "EXTERNAL_STOP" and not row.halted]
    return [
        report.goal("motions", len(judged), "motions", ">=", 10_000),
        report.goal("beyond plane or box, largest", 1e3 * max(row.beyond for row in judged), "mm", "<=", 1e-3),
        report.goal("deeper, where it began beyond", 1e3 * max(row.deeper for row in judged), "mm", "<=", 0.02),
        report.goal("towards a destination beyond, and no reason", sum(map(_is_silent, judged)), "motions", "==", 0),
        report.goal("stopped from outside, unasked or for time", len(unnamed), "motions", "==", 0),
    ]
