"""Primitives T = (P, M, F, R) of the decision unit as primitives of the executive, and its reports back [JPL-RTC].

What belongs here: names, frames and the table of reasons. The straight pieces of a path become one primitive each.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.frames import interpolate, pose_distance, pose_from_se3, se3_from_pose
from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.motion.parameters import FIELDS
from telerobot_nodes.motion.primitive_kinds import KINDS, kind_named
from telerobot_nodes.rtc.conditions import reflex_of_threshold
from telerobot_nodes.rtc.primitives import ParameterValue, Primitive, Report, Space
from telerobot_nodes.rtc.request import Request
from telerobot_nodes.rtc.units import GRAVITY

STRAIGHT = (1e-3, 0.01, 1e-3)  # [m], [rad] of the tool, [rad] of the joints: a via point nearer to the line is left out
SPEED_SHARE = (0.05, 1.0)  # of the joints' velocity limits
BETWEEN = {"select": 0.0, "end_time": 0.0}  # of pieces that are not the last: no ending conditions
# What means nothing to some primitives of the executive; anything else that does not fit is refused there.
_MAY_DROP = frozenset(("tr_tn_dest", "tr_nom", "end_time", "select", "time_vel_sel", "time_vel_val", "acc_time"))
GUARDED = frozenset(("cartesian_guarded", "joint_guarded", "joint_path", "free_grasp"))
PRESSED = 0.8  # of a threshold
_GRASP_WORDS = {"width": "grip_width", "force": "grip_force"}

# Reason of the executive to outcome; first by executive, then for all.
_OF_KIND: dict[str, dict[str, str]] = {
    "compliant_motion": {"max_force": "force_limit", "max_torque": "torque_limit", "trans_threshold": "deviation",
                         "ang_threshold": "deviation"},
    "teleoperation": {"max_force": "force_limit", "max_torque": "torque_limit", "trans_threshold": "force_limit",
                      "ang_threshold": "torque_limit", "external_stop": "done", "completed": "done",
                      "end_time": "timeout"},
}  # fmt: skip
_OF_ALL: dict[str, str] = {
    "completed": "reached",
    "conditions": "reached",
    "end_time": "timeout",
    "max_force": "collision",
    "max_torque": "collision",
    "min_force": "collision",
    "min_torque": "collision",
    "trans_threshold": "collision",
    "ang_threshold": "collision",
    "joint_limit": "joint_limit",
    "singularity": "joint_limit",
    "unreachable": "joint_limit",
    "stale_sensor": "sensor_loss",
    "frozen_sensor": "sensor_loss",
    "invalid_sensor": "sensor_loss",
    "external_stop": "halted",
    "touched": "contact",
    "missed": "missed",
    "snagged": "collision",
    "held_back": "collision",
    "gripped": "gripped",
    "opened": "opened",
    "blocked": "blocked",
    "empty": "empty",
}


_TOLD = frozenset(("refused", "sensor_loss", "estop"))  # outcomes whose cause a person wants to read
_SILENT = re.compile(r"\bold$|^no |stale|hardware")  # of stops from outside: nothing was heard in time


@dataclass(frozen=True)
class Ask:
    """One goal for the executive."""

    name: str
    values: Mapping[str, ParameterValue]

    @property
    def texts(self) -> tuple[list[str], list[str]]:
        """Keys and YAML values, as PrimitiveParameters.msg has them."""
        return list(self.values), [_yaml(value) for value in self.values.values()]


def asks_of(primitive: Primitive, robot: RobotModel, T_world_arm: pin.SE3) -> list[Ask]:
    """The goals that a primitive of an arm or gripper becomes, in order; `T_world_arm`: WORLD of the arm's graph."""
    if primitive.executive in ("free_grasp", "compliant_grasp"):
        return [_grasp(primitive)]
    points = primitive.trajectory.points
    if primitive.trajectory.space is Space.JOINT:
        return [_joints(primitive, points, robot)]
    if primitive.trajectory.space is Space.TASK:
        return list(_straight_pieces(primitive, points, T_world_arm))
    return [_fitting(primitive.executive, dict(primitive.parameters))]


def begun_in_contact(ask: Ask, wrench: Sequence[float]) -> Ask:
    """The goal of an arm that `wrench` (6,) [N], [N m] presses already: guarding thresholds count from there.

    Otherwise a motion that leaves a contact would be stopped by it before it has begun.
    """
    if ask.name not in GUARDED or len(wrench) != 6:
        return ask
    values = dict(ask.values)
    weight = GRAVITY * float(np.ravel(values.get("mass_prop", 0.0))[0])  # of what is held: no contact
    felt = {"max_force_thres": np.linalg.norm(wrench[:3]) - weight, "max_torque_thres": np.linalg.norm(wrench[3:])}
    for name, now in felt.items():
        preset = KINDS[ask.name].defaults.get(name, FIELDS[name].default)
        limit = float(values.get(name, preset))  # type: ignore[arg-type]
        if now > PRESSED * limit > 0.0:
            values[name] = round(float(now) + limit, 3)
    return Ask(ask.name, values)


def _grasp(primitive: Primitive) -> Ask:
    values = {_GRASP_WORDS.get(name, name): value for name, value in primitive.parameters.items()}
    if primitive.executive == "compliant_grasp":
        values.pop("grip_width", None)  # it closes until it holds something; how wide that is, is judged here
    return _fitting(primitive.executive, values)


def _joints(primitive: Primitive, points: FloatArray, robot: RobotModel) -> Ask:
    values = dict(primitive.parameters)
    corners = points[joint_corners(points)][1:]
    if len(corners) == 1:
        values["joint_dest"] = tuple(corners[0].tolist())
        return _fitting("joint_guarded", values)
    values["via_points"] = tuple(corners.ravel().tolist())
    way = np.abs(np.diff(points, axis=0)).sum(axis=0) / robot.limits.velocity
    share = float(way.max()) / max(primitive.trajectory.duration, 0.05)
    values["path_speed"] = float(np.clip(1.3 * share, *SPEED_SHARE))  # 1.3: at rest at every corner
    return _fitting("joint_path", values)


def _straight_pieces(primitive: Primitive, points: FloatArray, T_world_arm: pin.SE3) -> Iterator[Ask]:
    corners = task_corners(points)
    total = sum(_length(points[a], points[b]) for a, b in itertools.pairwise(corners)) or 1.0
    for a, b in itertools.pairwise(corners):
        values = dict(primitive.parameters)
        share = _length(points[a], points[b]) / total
        seconds = max(primitive.trajectory.duration * share, 0.05)
        values["time_vel_val"] = seconds
        values["acc_time"] = min(float(values.get("acc_time", 0.2)), 0.5 * seconds)  # type: ignore[arg-type]
        pose = pose_from_se3(T_world_arm.actInv(se3_from_pose(points[b])))
        values["tr_tn_dest"] = tuple(pose.tolist())
        if b != corners[-1]:
            values |= BETWEEN
        yield _fitting(primitive.executive, values)


def _length(a: FloatArray, b: FloatArray) -> float:
    metres, angle = pose_distance(a, b)
    return metres + 0.1 * angle + 1e-9


def task_corners(poses: FloatArray) -> list[int]:
    """Rows of a path (n, 7) between which it is straight, first and last among them."""
    corners, last = [0], len(poses) - 1
    while corners[-1] < last:
        first = corners[-1]
        end = first + 1
        while end < last and _is_straight(poses[first : end + 2]):
            end += 1
        corners.append(end)
    return corners if len(corners) > 1 else [0, 0]


def _is_straight(poses: FloatArray) -> bool:
    T_a, T_b = se3_from_pose(poses[0]), se3_from_pose(poses[-1])
    whole = _length(poses[0], poses[-1])
    for pose in poses[1:-1]:
        on_line = pose_from_se3(interpolate(T_a, T_b, min(_length(poses[0], pose) / whole, 1.0)))
        metres, angle = pose_distance(on_line, pose)
        if metres > STRAIGHT[0] or angle > STRAIGHT[1]:
            return False
    return True


def joint_corners(points: FloatArray) -> list[int]:
    """Rows of a joint path (n, dof) between which it is straight, first and last among them."""
    corners, last = [0], len(points) - 1
    while corners[-1] < last:
        first = corners[-1]
        end = first + 1
        while end < last and _is_line(points[first : end + 2]):
            end += 1
        corners.append(end)
    return corners if len(corners) > 1 else [0, 0]


def _is_line(points: FloatArray) -> bool:
    way = points[-1] - points[0]
    square = float(way @ way)
    if square < 1e-12:
        return False
    share = (points[1:-1] - points[0]) @ way / square
    off = points[1:-1] - points[0] - share[:, None] * way
    return bool(np.abs(off).max() <= STRAIGHT[2]) if len(off) else True


def _fitting(executive: str, values: dict[str, ParameterValue]) -> Ask:
    """Without what the primitive does not have; the executive's `end_time` is that of the ending segment."""
    allowed = kind_named(executive).allowed
    if not values.get("select") and executive != "teleoperation":
        values["end_time"] = 0.0
    return Ask(executive, {n: v for n, v in values.items() if n in allowed or n not in _MAY_DROP})


def _yaml(value: ParameterValue) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(list(value) if isinstance(value, tuple) else value)


def outcome_of(primitive: Primitive, request: Request | None, reason: str, detail: str = "") -> str:
    """Outcome of the primitive that a reason of the executive means; the reason itself when the table has none.

    `detail` tells stops from outside apart: nobody's halt is a sensor or a servo that fell silent.
    """
    word = reason.strip().lower().replace(" ", "_").replace("-", "_")
    for kind in ("force", "torque"):
        if word == f"max_{kind}" and request is not None and (reflex := reflex_of_threshold(primitive, request, kind)):
            return reflex
    if "e_stop" in word or word.startswith("estop"):
        return "estop"
    if word == "external_stop" and _SILENT.search(detail):
        return "sensor_loss"
    return _OF_KIND.get(primitive.executive, {}).get(word) or _OF_ALL.get(word) or word


def report_of(primitive: Primitive, outcome: str, message: Any, robot: RobotModel, T_world_arm: pin.SE3) -> Report:
    """The report of PrimitiveReport.msg; the pose is that of the joints, in the workcell's WORLD."""
    joints = np.array(message.joint_position)
    pose: tuple[float, ...] = ()
    is_arm = primitive.executive not in ("free_grasp", "compliant_grasp")
    if len(joints) == robot.dof and is_arm:
        pose = tuple(pose_from_se3(T_world_arm * robot.forward(joints)).tolist())
    readings: dict[str, float | str | tuple[float, ...]] = dict(
        zip(message.reading_names, message.readings, strict=False)
    )
    if not is_arm:
        readings["width"] = float(readings.get("grip_width", message.gripper))  # type: ignore[arg-type]
    finite = {name: value for name, value in readings.items() if not isinstance(value, float) or np.isfinite(value)}
    return Report(
        primitive.number,
        outcome,
        tuple(joints.tolist()) if pose else (),
        pose,
        tuple(message.wrench) if np.isfinite(message.wrench).all() else (),
        finite,
        float(message.elapsed),
        note="" if outcome in primitive.outcomes and outcome not in _TOLD else str(message.detail or message.reason),
    )
