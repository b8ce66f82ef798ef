"""Preparation of a primitive outside the loop: checks, reachability, the law's arrays, timing.

What belongs here: pure functions, callable from any thread, slow (milliseconds). The loop begins or applies their
results within microseconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.robot import JointLimits, Kinematics, RobotModel
from telerobot_nodes.core.timing import TimedPath
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import InvalidValueError, OutOfReachError
from telerobot_nodes.motion.law import Law, law_of
from telerobot_nodes.motion.parameters import GcmsfParameters
from telerobot_nodes.motion.primitives.endings import EndingConditions
from telerobot_nodes.motion.primitives.guard import GuardBand
from telerobot_nodes.motion.primitives.trajectory import (
    CartesianMotion,
    JointMotion,
    NominalMotion,
    PathMotion,
    nominal_destination,
)

FIXED = ("tr_base", "tr_nom")  # must not change while running: NOM would jump
LIMIT_SHARE = 0.9  # [-] part of the joints' velocity and acceleration limits that a nominal motion uses
_POSES = 40  # samples of the motion checked for reach and speed
_JUMP = 0.6  # [rad] largest rotation of a joint between two of them


@dataclass(frozen=True)
class PreparedMotion:
    """One motion, ready to begin with the arm at rest at `q`."""

    q: FloatArray  # (dof,) [rad]
    parameters: GcmsfParameters
    law: Law
    conditions: EndingConditions
    motion: NominalMotion
    guard: GuardBand | None = None

    @property
    def duration(self) -> float:
        """Duration of the nominal motion [s]."""
        return self.motion.duration


@dataclass(frozen=True)
class PreparedChange:
    """A change of the set `base`, checked as a whole."""

    base: GcmsfParameters
    values: Mapping[str, Any]
    parameters: GcmsfParameters
    law: Law
    conditions: EndingConditions
    redirects: bool  # the nominal motion changes


def prepare_motion(
    robot: RobotModel, period: float, parameters: GcmsfParameters, q: FloatArray, path: TimedPath | None = None
) -> PreparedMotion:
    """Prepare a motion from rest at `q` (dof,) [rad], stepped every `period` [s]; `path` replaces a destination.

    Raises InvalidValueError if the set does not fit the arm or the motion is out of reach.
    """
    law = law_of(parameters, robot, period)
    start = robot.limits.check_position(q, "q")
    motion = PathMotion(path) if path is not None else _motion(robot, parameters, start)
    return PreparedMotion(start, parameters, law, EndingConditions(parameters), motion)


def prepare_change(
    robot: RobotModel, period: float, base: GcmsfParameters, values: Mapping[str, Any], q: FloatArray, runs: bool = True
) -> PreparedChange:
    """Prepare a change of `base`, the set in force, with the arm near `q` (dof,) [rad].

    Raises InvalidValueError if the resulting set is invalid, or changes a fixed parameter while the primitive `runs`.
    """
    parameters = base.changed(values)
    parameters.check_sensor(robot)
    if runs:
        for name in FIXED:
            if parameters.flat()[name] != base.flat()[name]:
                raise InvalidValueError(name, values[name], "allowed: no change while the primitive runs")
    law = law_of(parameters, robot, period)
    redirects = parameters.trajectory != base.trajectory
    if redirects and runs:
        _check_space(base, parameters)
        _motion(robot, parameters, robot.limits.check_position(q, "q"))
    return PreparedChange(base, dict(values), parameters, law, EndingConditions(parameters), redirects)


def _check_space(base: GcmsfParameters, parameters: GcmsfParameters) -> None:
    """A running motion must stay in its space (Cartesian or joint), and one in joint space needs a destination."""
    joints, trajectory = bool(base.trajectory.joint_dest), parameters.trajectory
    other = "tr_tn_dest" if joints else "joint_dest"
    if getattr(trajectory, other):
        raise InvalidValueError(other, getattr(trajectory, other), "allowed: none, while the other space is used")
    if joints and not trajectory.joint_dest:
        raise InvalidValueError("joint_dest", (), "allowed: a destination, while the primitive runs")


def _motion(robot: RobotModel, parameters: GcmsfParameters, q: FloatArray) -> CartesianMotion | JointMotion:
    """The nominal motion from rest at `q` (dof,) [rad], slowed down to the joint limits."""
    trajectory = parameters.trajectory
    if trajectory.joint_dest:
        robot.limits.check_position(trajectory.joint_dest, "joint_dest")
        joints = JointMotion(q, np.array(trajectory.joint_dest), trajectory)
        rows = np.array([joints.at(t) for t in np.linspace(0.0, joints.duration, _POSES + 1)])
        joints.stretch(_slowdown(rows, joints.duration, robot.limits))
        return joints
    T_world_base = parameters.system.se3("tr_base")
    T_world_nom = T_world_base * tool_pose(robot, q) * trajectory.se3("tr_nom")
    motion = CartesianMotion(T_world_nom, nominal_destination(parameters, T_world_nom), trajectory)
    if trajectory.tr_tn_dest:
        rows = _reached(robot, parameters, motion, q)
        motion.stretch(_slowdown(np.vstack((q, rows)), motion.duration, robot.limits))
    return motion


def tool_pose(robot: RobotModel, q: FloatArray) -> pin.SE3:
    """TN in BASE at `q` (dof,) [rad]; callable from any thread."""
    data = robot.new_data()
    pin.forwardKinematics(robot.model, data, q)
    return pin.updateFramePlacement(robot.model, data, robot.tool_frame_id).copy()


def _reached(robot: RobotModel, parameters: GcmsfParameters, motion: CartesianMotion, q: FloatArray) -> FloatArray:
    """Joints (_POSES, dof) [rad] along the motion. Raises InvalidValueError if a pose is out of reach."""
    trajectory = parameters.trajectory
    T_world_base, back = parameters.system.se3("tr_base"), trajectory.se3("tr_nom").inverse()
    poses = np.empty((_POSES, 7))
    for k in range(_POSES):
        motion.sample(motion.duration * (k + 1) / _POSES)
        poses[k] = pin.SE3ToXYZQUAT(T_world_base.actInv(pin.SE3(motion.R, motion.p) * back))
    motion.sample(0.0)
    try:
        return Kinematics(robot).solve_path(poses, q, max_jump=_JUMP)
    except OutOfReachError as error:
        raise InvalidValueError("tr_tn_dest", trajectory.tr_tn_dest, f"allowed: reachable poses ({error})") from None


def _slowdown(rows: FloatArray, duration: float, limits: JointLimits) -> float:
    """Factor, at least 1, by which a motion through `rows` (n, dof) [rad], evenly spaced in time, must take longer."""
    if duration <= 0.0:
        return 1.0
    h = duration / (len(rows) - 1)
    speed = np.abs(np.diff(rows, axis=0)).max(axis=0) / h
    push = np.abs(np.diff(rows, n=2, axis=0)).max(axis=0) / h**2
    return float(
        max(
            1.0,
            (speed / (LIMIT_SHARE * limits.velocity)).max(),
            np.sqrt(push / (LIMIT_SHARE * limits.acceleration)).max(),
        )
    )
