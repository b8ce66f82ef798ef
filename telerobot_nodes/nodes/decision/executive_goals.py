"""Primitives T = (P, M, F, R) of the decision unit as goals of the executive, and its reports back [JPL-RTC].

Names and frames are translated here. Each straight piece of a path becomes one goal.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray, pose_distance, pose_from_se3, se3_from_pose
from telerobot_nodes.motion.parameters import kind_named
from telerobot_nodes.rtc.elaboration import joint_piece, pose_length
from telerobot_nodes.rtc.execution import needs_note
from telerobot_nodes.rtc.skills import ParameterValue, Primitive, Report, Space

BETWEEN = {"select": 0, "end_time": 0.0}  # of pieces that are not the last: no ending conditions
# Dropped where a primitive of the executive has no such parameter; the executive rejects any other misfit.
_MAY_DROP = frozenset(("tr_tn_dest", "tr_nom", "end_time", "select", "time_vel_sel", "time_vel_val", "acc_time"))
# Destination of an arm that holds for a time: to the executive a motion of no length has ended when it begins.
NO_LENGTH = 1e-6  # [m], [rad]
AT_REST = (0.0001, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
_GRASP_WORDS = {"width": "grip_width", "force": "grip_force", "rest": "grip_time"}


@dataclass(frozen=True)
class ExecutiveGoal:
    """One goal for the executive."""

    name: str
    values: Mapping[str, ParameterValue]

    @property
    def texts(self) -> tuple[list[str], list[str]]:
        """Keys and YAML values, as PrimitiveParameters.msg has them."""
        return list(self.values), [_yaml(value) for value in self.values.values()]


def goals_of(primitive: Primitive, robot: RobotModel, T_world_arm: pin.SE3) -> list[ExecutiveGoal]:
    """The goals that a primitive of an arm or gripper becomes, in order; `T_world_arm`: WORLD of the arm's graph."""
    if primitive.executive in ("free_grasp", "compliant_grasp"):
        return [_grasp(primitive)]
    if primitive.trajectory.space is not Space.NONE:
        return list(_pieces(primitive, T_world_arm))
    values = dict(primitive.parameters)
    if primitive.trajectory.duration > 0.0 and "tr_rel_dest" in kind_named(primitive.executive).allowed:
        values["tr_rel_dest"] = AT_REST
    return [_fitting(primitive.executive, values)]


def _grasp(primitive: Primitive) -> ExecutiveGoal:
    values = {_GRASP_WORDS.get(name, name): value for name, value in primitive.parameters.items()}
    if primitive.executive == "compliant_grasp":
        values.pop("grip_width", None)  # it closes until it holds something; how wide that is, is judged here
    return _fitting(primitive.executive, values)


def _pieces(primitive: Primitive, T_world_arm: pin.SE3) -> Iterator[ExecutiveGoal]:
    trajectory = primitive.trajectory
    points, corners = trajectory.points, trajectory.corners
    in_joints = trajectory.space is Space.JOINT
    stretch = float(primitive.parameters["time_vel_val"]) / (trajectory.duration or 1.0)  # type: ignore[arg-type]
    for a, b, piece, ramp in zip(corners[:-1], corners[1:], trajectory.pieces, trajectory.ramps, strict=True):
        values = dict(primitive.parameters)
        if values["time_vel_sel"] == "time":  # a skill file may give a velocity, which counts for each piece
            values["time_vel_val"] = seconds = max(piece * stretch, 0.05)
            values["acc_time"] = min(ramp, 0.5 * seconds)
        if in_joints:
            values["joint_dest"] = tuple(points[b].tolist())
        elif primitive.executive == "compliant_motion" and pose_length(points[a], points[b]) < NO_LENGTH:
            values = {name: value for name, value in values.items() if name != "tr_tn_dest"}
            values["tr_rel_dest"] = AT_REST
        else:
            pose = pose_from_se3(T_world_arm.actInv(se3_from_pose(points[b])))
            values["tr_tn_dest"] = tuple(pose.tolist())
        if b != corners[-1]:
            values |= BETWEEN
        yield _fitting("joint_guarded" if in_joints else primitive.executive, values)


def _fitting(executive: str, values: dict[str, ParameterValue]) -> ExecutiveGoal:
    """Without what the primitive does not have; the executive's `end_time` is that of the ending segment."""
    allowed = kind_named(executive).allowed
    if not values.get("select") and executive != "teleoperation":
        values["end_time"] = 0.0
    return ExecutiveGoal(executive, {n: v for n, v in values.items() if n in allowed or n not in _MAY_DROP})


@dataclass(frozen=True)
class Slowing:
    """A motion that goes on more slowly: the goal under way, and those still to be sent. One value for each goal."""

    velocities: tuple[float, ...]  # [m/s] or [rad/s], of whichever is more, as the executive has it
    ratios: tuple[float, ...]  # of the tool's largest speed to the one that is allowed

    @property
    def ratio(self) -> float:
        """The largest."""
        return max(self.ratios)

    def change(self, left: int) -> tuple[list[str], list[str]] | None:
        """Keys and values for the goal under way, the first of `left`; None where it is slower already."""
        if self.ratios[-left] <= 1.0:
            return None
        return ["time_vel_sel", "time_vel_val"], ["velocity", repr(self.velocities[-left])]

    def goal(self, goal: ExecutiveGoal, left: int) -> ExecutiveGoal:
        """The first of `left` goals at the new speed; as it is where it is slower already."""
        if "time_vel_val" not in goal.values or self.ratios[-left] <= 1.0:
            return goal
        seconds = float(goal.values["time_vel_val"])  # type: ignore[arg-type]
        if goal.values["time_vel_sel"] == "velocity":
            return ExecutiveGoal(goal.name, {**goal.values, "time_vel_val": min(seconds, self.velocities[-left])})
        ramp = float(goal.values.get("acc_time", 0.0))  # type: ignore[arg-type]
        slower = (seconds - ramp) * self.ratios[-left] + ramp
        return ExecutiveGoal(goal.name, {**goal.values, "time_vel_val": slower})


def slowing(primitive: Primitive, robot: RobotModel, speed: float) -> Slowing | None:
    """How the tool of a motion comes to go at `speed` [m/s] at most; None where it is slower already, or stands."""
    trajectory = primitive.trajectory
    if trajectory.space is Space.NONE or len(trajectory.points) < 2:
        return None
    ratios, velocities = [], []
    for i, (a, b) in enumerate(itertools.pairwise(trajectory.corners)):
        length, size = _way(trajectory.space, robot, trajectory.points[a], trajectory.points[b])
        seconds = trajectory.pieces[i]
        ramp = min(trajectory.ramps[i], 0.5 * seconds)
        ratios.append(length / (speed * (seconds - ramp)))
        velocities.append(size * speed / max(length, NO_LENGTH))
    slower = Slowing(tuple(velocities), tuple(ratios))
    return slower if slower.ratio > 1.0 else None


def _way(space: Space, robot: RobotModel, start: FloatArray, end: FloatArray) -> tuple[float, float]:
    """Way of the tool [m] if all were as fast as the fastest part, and that which the executive counts [m], [rad]."""
    if space is Space.JOINT:
        size = joint_piece(lambda joints: pose_from_se3(robot.forward(joints)), start, end)
        return size.tool, size.joint
    metres, angle = pose_distance(start, end)
    return metres, max(metres, angle)


def _yaml(value: ParameterValue) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(list(value) if isinstance(value, tuple) else value)


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
        note=str(message.detail or message.reason) if needs_note(primitive, outcome) else "",
    )
