"""Action Binder: the numbers of one primitive, just before it is sent [JPL-RTC section 5, Action Binding].

Joint- or task-space interpolation in small pieces, kinematics, load, regions, collision; values already bound stay.
Memoryless: reads the database, writes nothing, commands nothing.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from telerobot_nodes.core.frames import interpolate, pose_distance, pose_from_se3, se3_from_pose
from telerobot_nodes.core.validation import FloatArray, finite_array
from telerobot_nodes.errors import InvalidValueError, OutOfReachError, TelerobotError
from telerobot_nodes.rtc.database import DatabaseError, Validity, View
from telerobot_nodes.rtc.elaborator import ElaborationError, PlannedStep, demand
from telerobot_nodes.rtc.environment import Environment, Results
from telerobot_nodes.rtc.expressions import ExpressionError, NotYetKnownError
from telerobot_nodes.rtc.interfaces import Checks
from telerobot_nodes.rtc.motion_parameters import motion_parameters, reflex_events, reflex_stops
from telerobot_nodes.rtc.places import place_pose
from telerobot_nodes.rtc.pose_functions import axis_of
from telerobot_nodes.rtc.primitives import ParameterValue, Primitive, ReportWish, Space, Trajectory
from telerobot_nodes.rtc.request import Request
from telerobot_nodes.rtc.skills import Library, PrimitiveKind
from telerobot_nodes.rtc.units import GRAVITY

JOINT_PIECE = 0.10  # [rad] between via points
TASK_PIECE = 0.03  # [m]
TURN_PIECE = 0.10  # [rad]
MAX_POINTS = 400
KEPT_ANGLE = 0.05  # [rad] an orientation may differ and still counts as kept
_UNTOUCHED = ("cartesian_guarded", "joint_guarded")  # no contact is expected
_ORIENTED = {"pose-during-motion", "upright"}
DEFAULT_SPEED = 0.10  # [m/s] of the tool
OPERATOR_LIMIT = 3600.0  # [s] a person has for a task


class BindingError(TelerobotError):
    """A primitive cannot be bound: unreachable, too heavy, in collision, outside the range, or a value is missing."""


def bind(
    planned: PlannedStep,
    number: int,
    command: int,
    request: Request,
    library: Library,
    view: View,
    checks: Checks,
    results: Results,
) -> Primitive | None:
    """The primitive of a step, or None when its condition leaves it out; raises BindingError."""
    env = Environment(planned.frame, request, library, view, checks, results)
    try:
        if planned.step.when is not None and not env.evaluate(planned.step.when):
            return None
        demand(env, planned.demands)
        return _bind(planned, number, command, env)
    except NotYetKnownError as error:
        raise BindingError(f"step {planned.name}: {error}") from error
    except (ExpressionError, DatabaseError, OutOfReachError, InvalidValueError, ElaborationError) as error:
        raise BindingError(f"step {planned.name}: {error}") from error


def _bind(planned: PlannedStep, number: int, command: int, env: Environment) -> Primitive:
    kind, step, request = planned.kind, planned.step, env.request
    by_operator = request.via_operator and kind.role in ("arm", "gripper")
    target = planned.bound.get("target")
    if target is None and step.target is not None:
        target = env.evaluate(step.target)
    trajectory = Trajectory(Space.NONE, np.empty(0))
    if kind.role == "arm" and not by_operator:
        trajectory = _trajectory(planned, target, env)
    parameters = _parameters(planned, target, trajectory, env)
    text = env.text(step.operator or kind.operator or f"{kind.name} ({planned.name})")
    return Primitive(
        number=number,
        command=command,
        step=planned.name,
        kind=kind.name,
        subsystem="operator" if by_operator else _subsystem(kind.role, env),
        executive="operator_task" if by_operator else kind.executive,
        law=request.mode or kind.law,
        trajectory=trajectory,
        stops=reflex_stops(kind, request),
        report=ReportWish(request.report_every, reflex_events(kind, request)),
        parameters=parameters,
        text=text,
        limit=OPERATOR_LIMIT if by_operator else kind.timeout + trajectory.duration,
        grip=_grip(env) if kind.role == "arm" else 0.0,
    )


def _grip(env: Environment) -> float:
    """Opening [m] of the fingers around what the arm holds; 0 when it holds nothing, or nobody measured it."""
    arm = str(env.lookup("arm"))
    key = f"{env.library.workcell.arms[arm].gripper}.width"
    known = env.view.has(key) and env.view.item(key).validity is Validity.VALID
    width = env.view.read(key) if known and env.lookup("held") else 0.0
    return width if isinstance(width, float) else 0.0


def _subsystem(role: str, env: Environment) -> str:
    if role in ("arm", "gripper", "camera"):
        return str(env.lookup(role))
    return role


def _parameters(planned: PlannedStep, target: object, trajectory: Trajectory, env: Environment) -> dict[str, Any]:
    values: dict[str, Any] = {name: env.evaluate(e) for name, e in planned.kind.parameters.items()}
    values |= {name: env.evaluate(e) for name, e in planned.step.parameters.items()}
    if planned.kind.role == "arm":
        if mass := _held_mass(str(env.lookup("arm")), env.view):  # its weight is no contact
            values.setdefault("mass_prop", (mass, 0.0, 0.0, 0.0))
            if planned.kind.executive in _UNTOUCHED and "max_force_thres" in values:  # nor is what it rests on
                values["max_force_thres"] = float(values["max_force_thres"]) + GRAVITY * mass
        values = motion_parameters(values, target, trajectory, planned, env)
    elif target is not None:
        values["target"] = target
    return {name: _plain(name, value) for name, value in values.items()}


def _plain(name: str, value: object) -> ParameterValue:
    if isinstance(value, str):
        return str(value)
    if name == "select":
        return int(np.asarray(value))
    if name.startswith("sel_vect") or name == "comply_vect":
        return tuple(bool(chosen) for chosen in np.asarray(value))
    if isinstance(value, (bool, int, float, np.number)):
        return float(value)
    return tuple(finite_array(value, "parameter").tolist())


def _trajectory(planned: PlannedStep, target: object, env: Environment) -> Trajectory:
    """P of an arm's primitive, checked; raises BindingError."""
    arm = str(env.lookup("arm"))
    space = planned.kind.space
    if space is Space.NONE or target is None:
        duration = float(env.evaluate(planned.step.duration)) if planned.step.duration is not None else 0.0
        return Trajectory(Space.NONE, np.empty(0), duration)  # where it is, which the level below knows best
    start = env.joints(arm)
    goals = _goals(planned, target, env)
    joints = _joint_path(arm, start, goals, planned.kind, env)
    _check_path(arm, planned, joints, env)
    length, turn = _length(arm, joints, env)
    speed = min(_speed(arm, env), planned.kind.speed)
    swing = float(np.abs(np.diff(joints, axis=0)).max(axis=1).sum()) if len(joints) > 1 else 0.0
    joint_speed = env.library.workcell.arms[arm].joint_speed
    duration = max(length / speed, turn / joint_speed, swing / joint_speed, 0.05)
    if "acceleration" in env.request.constraints:  # half the way faster, half the way slower
        duration = max(duration, 2.0 * float(np.sqrt(length / env.request.constraints["acceleration"])))
    if planned.step.duration is not None:
        duration = max(duration, float(env.evaluate(planned.step.duration)))
    if space is Space.JOINT:
        return Trajectory(space, joints, duration)
    via = np.array([env.checks.kinematics.forward(arm, q) for q in joints])
    via[-1] = np.asarray(goals[-1])
    return Trajectory(space, via, duration)


def _goals(planned: PlannedStep, target: object, env: Environment) -> list[FloatArray]:
    goals = np.atleast_2d(np.asarray(target, dtype=np.float64))
    rows = list(goals)
    if env.request.via and planned.step.via:
        rows = [place_pose(place, env) for place in env.request.via] + rows
    return rows


def _joint_path(
    arm: str, start: FloatArray, goals: list[FloatArray], kind: PrimitiveKind, env: Environment
) -> FloatArray:
    """Joint positions (n, dof) through the goals: straight in joint space, or in task space by kinematics."""
    path = [start]
    for goal in goals:
        if kind.space is Space.JOINT and (kind.joints or not _ORIENTED & set(env.request.kept)):
            if kind.joints and len(goal) != len(start):
                raise BindingError(f"{arm} has {len(start)} joints, not {len(goal)}")
            end = goal if kind.joints else env.checks.kinematics.solve(arm, goal, path[-1])
            pieces = int(np.ceil(np.abs(end - path[-1]).max() / JOINT_PIECE)) or 1
            path += [path[-1] + (end - path[-1]) * k / pieces for k in range(1, pieces + 1)]
            continue
        here = env.checks.kinematics.forward(arm, path[-1])
        metres, angle = pose_distance(here, goal)
        pieces = int(np.ceil(max(metres / TASK_PIECE, angle / TURN_PIECE))) or 1
        T_here, T_goal = se3_from_pose(here), se3_from_pose(goal, "target")
        for k in range(1, pieces + 1):
            pose = pose_from_se3(interpolate(T_here, T_goal, k / pieces))
            path.append(env.checks.kinematics.solve(arm, pose, path[-1]))
        if len(path) > MAX_POINTS:
            raise BindingError(f"the path needs more than {MAX_POINTS} pieces")
    return np.array(path)


def _check_path(arm: str, planned: PlannedStep, joints: FloatArray, env: Environment) -> None:
    lower, upper = env.checks.kinematics.limits(arm)
    over = np.maximum(np.maximum(lower - joints, joints - upper), 0.0)
    worse = np.flatnonzero((over > over[0] + 1e-9).any(axis=1))  # coming back from beyond a limit is always allowed
    if worse.size:
        bad = int(worse[0])
        raise BindingError(f"step {planned.name}: the path leaves the joint limits at piece {bad} of {len(joints)}")
    mass = env.request.constraints.get("payload", _held_mass(arm, env.view))
    if mass > env.library.workcell.arms[arm].load:
        load = env.library.workcell.arms[arm].load
        raise BindingError(f"step {planned.name}: {mass:g} kg is more than {arm} carries ({load:g} kg)")
    if problem := env.checks.load.check_load(arm, joints[-1], mass):
        raise BindingError(f"step {planned.name}: {problem}")
    _check_orientation(arm, planned, joints, env)
    _check_regions(arm, planned, joints, env)
    clearance = env.request.constraints.get("clearance", 0.01 if "avoid-neighbors" in env.request.kept else 0.0)
    touching = planned.kind.executive not in _UNTOUCHED
    ignore = {str(env.frame.slots.get(slot, "")) for slot in ("object", "place")}
    ignore.add(str(env.view.read(f"{arm}.holds")) if env.view.has(f"{arm}.holds") else "")
    margin = 0.0 if touching else clearance
    if problem := env.checks.collision.check_path(arm, joints, margin, frozenset(ignore)):
        raise BindingError(f"step {planned.name}: {problem}")


def _check_orientation(arm: str, planned: PlannedStep, joints: FloatArray, env: Environment) -> None:
    """`pose-during-motion` keeps the whole orientation, `upright` the direction of the tool's axis."""
    kept = _ORIENTED & set(env.request.kept)
    if not kept:
        return
    poses = [env.checks.kinematics.forward(arm, q) for q in joints]
    for pose in poses:
        tilt = float(np.arccos(np.clip(axis_of(poses[0], "z") @ axis_of(pose, "z"), -1.0, 1.0)))
        turn = pose_distance(poses[0], pose)[1] if "pose-during-motion" in kept else 0.0
        if max(tilt, turn) > KEPT_ANGLE:
            raise BindingError(f"step {planned.name}: {' and '.join(sorted(kept))} cannot be kept on this path")


def _held_mass(arm: str, view: View) -> float:
    key = f"{view.read(f'{arm}.holds')}.mass" if view.has(f"{arm}.holds") else ""
    mass = view.read(key) if view.has(key) else 0.0
    return mass if isinstance(mass, float) else 0.0


def _check_regions(arm: str, planned: PlannedStep, joints: FloatArray, env: Environment) -> None:
    cell = env.library.workcell
    kept = env.request.kept.get("safe-work-range")
    inside_name = (kept or cell.safe_work_range) if kept is not None else ""
    if not inside_name and not env.request.avoided:
        return
    for i, q in enumerate(joints):
        x, y, z = (float(v) for v in env.checks.kinematics.forward(arm, q)[:3])
        if inside_name and i and not cell.regions[inside_name].contains((x, y, z)):
            raise BindingError(f"step {planned.name}: ({x:.3f}, {y:.3f}, {z:.3f}) is outside {inside_name}")
        entered = next((name for name in env.request.avoided if cell.regions[name].contains((x, y, z))), "")
        if entered and i:
            raise BindingError(f"step {planned.name}: ({x:.3f}, {y:.3f}, {z:.3f}) is in region {entered}")


def _length(arm: str, joints: FloatArray, env: Environment) -> tuple[float, float]:
    poses = [env.checks.kinematics.forward(arm, q) for q in joints]
    steps = [pose_distance(a, b) for a, b in itertools.pairwise(poses)]
    return sum(step[0] for step in steps), sum(step[1] for step in steps)


def _speed(arm: str, env: Environment) -> float:
    return min(env.maybe("speed", DEFAULT_SPEED), env.library.workcell.arms[arm].speed)
