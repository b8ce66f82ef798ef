"""The numbers of a macro's steps, bit for bit, at each place that binds or receives them.

Places: the check in another process, physics as it ran, and the robot's host, behind a message in the transport's own
bytes. All of them bind from the same file and the same measured state.
"""

from __future__ import annotations

import dataclasses
import multiprocessing
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.macros import BoundStep, Context, Ended, OfflineRobot, play, read_macros, steps_of
from telerobot_nodes.motion.parameters import KindValues, values_of
from telerobot_nodes.nodes.macros import as_received

# Expressions of the arm's state and of a parameter, with fractions that no short decimal holds
BOUND = """\
macro: bound
version: 1
doc: Steps whose numbers are computed when they are sent.
motion: relative
parameters:
  way: {unit: m, low: 0.0, high: 0.1, default: 0.07}
steps:
  - {step: near, primitive: cartesian_guarded,
     values: {tr_tn_dest: "${before(tool.pose, way / 3)}", time_vel_val: "${0.1 + way / 7}"}}
  - {step: turn, primitive: joint_guarded, values: {joint_dest: "${arm.joints}", time_vel_val: 0.1}}
  - {step: back, primitive: cartesian_guarded, values: {tr_rel_dest: [0, 0, "${way / 3}", 0, 0, 1.0e-9, 1]}}
"""

Bits = dict[str, bytes]  # of each value of a step


def places(robot: RobotModel, folder: Path, names: list[str], start: Any) -> dict[str, Any]:
    """How many numbers of the macros in `folder` differ at a place from those in physics. `start` (dof,) [rad]."""
    numbers, differ = 0, {"check in another process": 0, "robot's host, behind a message": 0}
    with multiprocessing.get_context("spawn").Pool(1) as other:
        for name in names:
            contexts, sent = _in_physics(robot, folder, name, start)
            wanted = [bits(step.step.primitive, step.values) for step in sent]
            numbers += sum(len(value) // 8 for step in wanted for value in step.values())
            elsewhere = other.apply(bound_elsewhere, (folder, name, contexts))
            behind = [bits(step.step.primitive, as_received(step.step.primitive, step.values)) for step in sent]
            for place, found in zip(differ, (elsewhere, behind), strict=True):
                differ[place] += differing(wanted, found)
    return {"macros": names, "numbers": numbers, "differ": differ}


def _in_physics(robot: RobotModel, folder: Path, name: str, start: Any) -> tuple[list[Context], list[BoundStep]]:
    """What was known when each step was bound, and the steps as they were sent."""
    offline = OfflineRobot(robot, start, board=False)
    contexts: list[Context] = []
    sent: list[BoundStep] = []

    def context() -> Context:
        contexts.append(offline.context())
        return contexts[-1]

    def send(step: BoundStep) -> Ended:
        sent.append(step)
        return offline.send(step)

    play(steps_of(read_macros(folder), name, {}, context), send, lambda _: None)
    return contexts, sent


def bound_elsewhere(folder: Path, name: str, contexts: list[Context]) -> list[Bits]:
    """The bits of every step, bound in this process; each expects the state of its moment."""
    known: Iterator[Context] = iter(contexts)
    steps = steps_of(read_macros(folder), name, {}, lambda: next(known))
    return [bits(step.step.primitive, step.values) for step, _ in zip(steps, contexts, strict=False)]


def bits(name: str, values: Mapping[str, Any]) -> Bits:
    """Every parameter in force with these values, defaults too, as the bytes of its numbers."""
    whole: KindValues = values_of(name, values)
    found = {f"law.{key}": _bytes(value) for key, value in whole.law.flat().items()}
    for group in ("relative", "touch", "grasp", "path", "guard", "reflect"):
        for entry in dataclasses.fields(getattr(whole, group)):
            found[f"{group}.{entry.name}"] = _bytes(getattr(getattr(whole, group), entry.name))
    return found


def differing(wanted: list[Bits], found: list[Bits]) -> int:
    """How many values are not the same bits; a step that is missing counts with all of its values."""
    missing = sum(len(step) for step in wanted[len(found) :]) + sum(len(step) for step in found[len(wanted) :])
    return missing + sum(a[key] != b.get(key) for a, b in zip(wanted, found, strict=False) for key in a)


def _bytes(value: Any) -> bytes:
    return value.encode() if isinstance(value, str) else np.atleast_1d(np.asarray(value, dtype=np.float64)).tobytes()
