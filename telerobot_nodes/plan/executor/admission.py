"""Checks that new points continue the plan within bounds; a refusal names field, value and allowed values.

What belongs here: checks of points. What must never enter: changes of the plan.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from telerobot_nodes.core.protocol import GRIPPER_RANGE
from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray, pose_distance, pose_from_se3
from telerobot_nodes.errors import InvalidValueError, QueueFullError
from telerobot_nodes.plan.log import EPOCH_BLOCK, ControlReport, Operation, PlanPoints

BEGIN_OFFSET = (0.005, 0.03)  # [m], [rad] of an arm from where a plan begins; a servo at rest is nearer
NUMBER_STEP = 1 << 32  # most by which a point's number may exceed the highest: none can leave no room for the next
TIME_STEP = 86_400.0  # [s] the same for plan time, which ends at `MAX_TIME`


@dataclass(frozen=True)
class Tail:
    """End of the plan, which new points must continue."""

    seq: int  # last point held; 0: none ever
    highest_seq: int  # highest number ever taken, also of points deleted since
    time: float  # [s] plan time of the tail; -inf if nothing is held
    pose: FloatArray  # (7,) tool pose at the tail, WORLD
    room: int  # points that may be added
    max_step: float  # [m] between neighbours, or from the arm to a first point
    max_turn: float  # [rad]


def admit(operation: Operation, tail: Tail, dof: int) -> PlanPoints:
    """Points of an APPEND that continue the plan; `dof` joints.

    Raises InvalidValueError naming the field, or QueueFullError.
    """
    points = operation.points
    if points is None:
        raise InvalidValueError("operation.points", None, "allowed: at least one point")
    if operation.after_seq != tail.seq:
        raise InvalidValueError("operation.after_seq", operation.after_seq, f"allowed: {tail.seq}, the plan's tail")
    if points.author != operation.agent:
        raise InvalidValueError("points.author", points.author, f"allowed: {operation.agent}, the sender")
    low = tail.highest_seq
    if not low < points.first_seq <= low + NUMBER_STEP:
        raise InvalidValueError("points.first_seq", points.first_seq, f"allowed: above {low}, to {low + NUMBER_STEP}")
    if len(points) > tail.room:
        raise QueueFullError(f"points (length): {len(points)} do not fit; allowed: {tail.room} more")
    if points.time[0] < tail.time:
        raise InvalidValueError("points.time[0]", float(points.time[0]), f"allowed: {tail.time:g} or later [s]")
    latest = max(tail.time, 0.0) + TIME_STEP
    if points.time[-1] > latest:
        name = f"points.time[{len(points) - 1}]"
        raise InvalidValueError(name, float(points.time[-1]), f"allowed: up to {latest:g} [s], a day after the tail")
    _check_extras(points, dof)
    _check_steps(points, tail)
    return points


def check_straight(
    points: PlanPoints, tail: Tail, away: FloatArray, turned: FloatArray, most: float, most_turned: float
) -> None:
    """Raise InvalidValueError when the tool leaves the straight line between neighbouring points.

    `away` (n,) [m] and `turned` (n,) [rad]: by how much, between each point and the one before, at most `most` [m] and
    `most_turned` [rad]. The way from the arm to a first point is not one between points.
    """
    first = 0 if tail.seq else 1
    for values, bound, unit in ((away, most, "m"), (turned, most_turned, "rad")):
        far = np.flatnonzero(values[first:] > bound)
        if far.size:
            i = first + int(far[0])
            text = f"allowed: within {bound:g} {unit} of the straight way from the point before; send points between"
            raise InvalidValueError(f"points.pose[{i}] (deviation)", round(float(values[i]), 4), text)


def begins_plan(points: PlanPoints, tail_seq: int, executed_seq: int) -> bool:
    """True for the first point of an operator's plan with nothing before it to execute: where the arm was seen."""
    first_ever = points.first_seq == 1 and tail_seq == 0
    another = points.first_seq % EPOCH_BLOCK == 0 and points.first_seq > tail_seq + 1
    return (first_ever or another) and len(points) == 1 and tail_seq == executed_seq


def check_begin(
    points: PlanPoints, control: ControlReport | None, measured: FloatArray | None, robot: RobotModel
) -> FloatArray:
    """Joints (dof,) [rad] at which a plan begins whose first point this is.

    `measured` (dof,) [rad]: where the operator's side sees the arm; None: as the loop reports. Raises
    InvalidValueError when something, as a primitive, has moved the arm since it was seen at the point.
    """
    if control is not None and control.resting:
        at = control.joint_position if measured is None else measured
        distance, angle = pose_distance(points.pose[0], pose_from_se3(robot.forward(at)))
        if distance <= BEGIN_OFFSET[0] and angle <= BEGIN_OFFSET[1]:
            return control.joint_position
    place = "x {:.3f}, y {:.3f}, z {:.3f} m".format(*points.pose[0, :3])
    raise InvalidValueError("points.pose[0]", place, "allowed: where the arm rests; it was moved meanwhile")


def _check_extras(points: PlanPoints, dof: int) -> None:
    if points.posture.size and points.posture.shape[1] != dof:
        raise InvalidValueError("points.posture (length)", points.posture.shape[1], f"allowed: {dof} per point")
    bad = np.flatnonzero((points.gripper < GRIPPER_RANGE[0]) | (points.gripper > GRIPPER_RANGE[1]))
    if bad.size:
        low, high = GRIPPER_RANGE
        value = float(points.gripper[bad[0]])
        raise InvalidValueError(f"points.gripper[{bad[0]}]", value, f"allowed: {low:g} .. {high:g} [m]")


def _check_steps(points: PlanPoints, tail: Tail) -> None:
    poses = np.vstack([tail.pose, points.pose])
    steps = np.linalg.norm(np.diff(poses[:, :3], axis=0), axis=1)
    far = np.flatnonzero(steps > tail.max_step)
    if far.size:
        i = int(far[0])
        text = f"allowed: within {tail.max_step:g} m of the {'plan' if tail.seq else 'arm'} before it"
        raise InvalidValueError(f"points.pose[{i}] (step)", round(float(steps[i]), 4), text)
    overlap = np.abs(np.einsum("ij,ij->i", poses[1:, 3:], poses[:-1, 3:]))
    turns = 2.0 * np.arccos(np.minimum(overlap, 1.0))
    far = np.flatnonzero(turns > tail.max_turn)
    if far.size:
        i = int(far[0])
        text = f"allowed: within {tail.max_turn:g} rad of the {'plan' if tail.seq else 'arm'} before it"
        raise InvalidValueError(f"points.pose[{i}] (turn)", round(float(turns[i]), 4), text)
