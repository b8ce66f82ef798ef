"""Action Binder: the numbers of one primitive, just before it is sent [JPL-RTC section 5, Action Binding].

Joint- or task-space interpolation in small pieces, kinematics, load, regions, collision; values already bound stay.
Memoryless: reads the database, writes nothing, commands nothing.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from telerobot_nodes.core.values import (
    FloatArray,
    finite_array,
    pose_distance,
    pose_from_se3,
    se3_from_pose,
)
from telerobot_nodes.errors import InvalidValueError, OutOfReachError, TelerobotError
from telerobot_nodes.rtc.elaboration.clauses import UNTOUCHED, law_of, named, of_program
from telerobot_nodes.rtc.elaboration.elaborator import ElaborationError, PlannedStep, demand
from telerobot_nodes.rtc.elaboration.environment import Environment, Results
from telerobot_nodes.rtc.elaboration.motion_parameters import motion_parameters, reflex_events, reflex_stops
from telerobot_nodes.rtc.elaboration.pace import Limits, joint_piece, pace_of, task_piece
from telerobot_nodes.rtc.elaboration.places import place_pose
from telerobot_nodes.rtc.elaboration.request import Request
from telerobot_nodes.rtc.elaboration.straight_pieces import joint_corners, on_straight, task_corners
from telerobot_nodes.rtc.language import GRAVITY
from telerobot_nodes.rtc.skills import (
    RAMP_TIME,
    ExpressionError,
    Library,
    NotYetKnownError,
    ParameterValue,
    Primitive,
    PrimitiveSpec,
    ReportWish,
    Space,
    Trajectory,
    axis_of,
)
from telerobot_nodes.rtc.world import Checks, DatabaseError, Validity, View

JOINT_PIECE = 0.10  # [rad] between via points
TASK_PIECE = 0.03  # [m]
TURN_PIECE = 0.10  # [rad]
MAX_POINTS = 400
KEPT_ANGLE = 0.05  # [rad] an orientation may differ and still counts as kept
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
    began: tuple[float, ...] = (),
) -> Primitive | None:
    """The primitive of a step, or None when its condition leaves it out; raises BindingError.

    `began`: pose (7,) of the tool where the step was tried first; empty: it is tried for the first time.
    """
    extra = {"began": np.array(began)} if began else None
    env = Environment(planned.frame, request, library, view, checks, results, extra)
    with _refusals(planned, request):
        if planned.step.when is not None and not env.evaluate(planned.step.when):
            return None
        demand(env, planned.demands)
        target = planned.bound.get("target")
        if target is None and planned.step.target is not None:
            target = env.evaluate(planned.step.target)
        trajectory = Trajectory(Space.NONE, np.empty(0))
        if of_program(planned, request):
            trajectory = _trajectory(planned, target, env)
        primitive = _primitive(planned, number, command, target, trajectory, env)
        _ask_executive(planned, primitive, env)
    return primitive


@contextlib.contextmanager
def _refusals(planned: PlannedStep, request: Request) -> Iterator[None]:
    """Errors as BindingError with the step, and the clause that set the value."""
    try:
        yield
    except InvalidValueError as error:
        raise BindingError(f"step {planned.name}: {named(error.field, request)}{error}") from error
    except (NotYetKnownError, ExpressionError, DatabaseError, OutOfReachError, ElaborationError) as error:
        raise BindingError(f"step {planned.name}: {error}") from error


def preview(planned: PlannedStep, env: Environment) -> None:
    """Check a step before anything moves, as far as its parameters are known; raises BindingError.

    It stands where the arm is: paths, load and collisions are checked when it is bound.
    """
    if planned.kind.role not in ("arm", "gripper") or env.request.via_operator:
        return
    try:
        if planned.step.when is not None and not env.evaluate(planned.step.when):
            return
    except (NotYetKnownError, ExpressionError, DatabaseError):
        pass  # it may be part of the script then
    with _refusals(planned, env.request), contextlib.suppress(NotYetKnownError, ExpressionError, DatabaseError):
        primitive = _primitive(planned, 0, 0, planned.bound.get("target"), _standing(planned, env), env)
        _ask_executive(planned, primitive, env)


def _ask_executive(planned: PlannedStep, primitive: Primitive, env: Environment) -> None:
    if planned.kind.role in ("arm", "gripper") and not env.request.via_operator:
        env.checks.executive.check_primitive(str(env.lookup("arm")), primitive)


def _standing(planned: PlannedStep, env: Environment) -> Trajectory:
    """The trajectory of a step that stays where the arm is."""
    arm, space = str(env.lookup("arm")), planned.kind.space
    duration = env.evaluate(planned.step.duration) if planned.step.duration is not None else 0.0
    if planned.kind.role != "arm" or space is Space.NONE:
        return Trajectory(Space.NONE, np.empty(0), float(duration))
    joints = np.clip(env.joints(arm), *env.checks.kinematics.limits(arm))
    point = joints if space is Space.JOINT else env.checks.kinematics.forward(arm, joints)
    return Trajectory(space, np.array([point, point]), float(duration), (0, 1))


def _primitive(
    planned: PlannedStep, number: int, command: int, target: object, trajectory: Trajectory, env: Environment
) -> Primitive:
    kind, step, request = planned.kind, planned.step, env.request
    by_operator = request.via_operator and kind.role in ("arm", "gripper")
    parameters = _parameters(planned, target, trajectory, env)
    text = env.text(step.operator or kind.operator or f"{kind.name} ({planned.name})")
    return Primitive(
        number=number,
        command=command,
        step=planned.name,
        kind=kind.name,
        subsystem="operator" if by_operator else _subsystem(kind.role, env),
        executive="operator_task" if by_operator else _executive(kind, trajectory),
        law=law_of(planned),
        trajectory=trajectory,
        stops=reflex_stops(kind, request),
        report=ReportWish(request.report_every, reflex_events(kind, request)),
        parameters=parameters,
        text=text,
        limit=OPERATOR_LIMIT if by_operator else kind.timeout + trajectory.duration,
        grip=_grip(env) if kind.role == "arm" else 0.0,
        began=_began(env) if kind.role == "arm" else (),
    )


def _executive(kind: PrimitiveSpec, trajectory: Trajectory) -> str:
    """The executive's primitive: a joint motion that keeps its orientation is performed in task space."""
    in_task = kind.space is Space.JOINT and trajectory.space is Space.TASK
    return "cartesian_guarded" if in_task else kind.executive


def _began(env: Environment) -> tuple[float, ...]:
    """Where the arm was when the step was tried first; empty when that is not known."""
    with contextlib.suppress(NotYetKnownError, DatabaseError):
        return tuple(map(float, env.lookup("began")))  # type: ignore[call-overload]
    return ()


def _grip(env: Environment) -> float:
    """Opening [m] of the fingers around what the arm holds; 0 when it holds nothing or is not measured."""
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
    values: dict[str, Any] = {}
    for name, expression in (*planned.kind.parameters.items(), *planned.step.parameters.items()):
        try:
            values[name] = env.evaluate(expression)
        except NotYetKnownError:
            if not env.planning:
                raise
    if planned.kind.role == "arm":
        if mass := _held_mass(str(env.lookup("arm")), env.view):  # its weight is no contact
            values.setdefault("mass_prop", (mass, 0.0, 0.0, 0.0))
            if planned.kind.executive in UNTOUCHED and "max_force_thres" in values:  # nor is what it rests on
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
    if _is_in_joints(planned.kind, env):
        points, corners = joints, joint_corners(joints)
        forward = partial(env.checks.kinematics.forward, arm)
        sizes = [joint_piece(forward, points[a], points[b]) for a, b in itertools.pairwise(corners)]
    else:
        space, points = Space.TASK, np.array([env.checks.kinematics.forward(arm, q) for q in joints])
        points[-1] = np.asarray(goals[-1])
        corners = task_corners(points)
        sizes = [task_piece(points[a : b + 1], joints[a : b + 1]) for a, b in itertools.pairwise(corners)]
    pace = pace_of(sizes, _limits(planned, env), _ramp_time(planned, env))
    if planned.step.duration is not None:
        pace = pace.at_least(float(env.evaluate(planned.step.duration)))
    return Trajectory(space, points, sum(pace.pieces), corners, pace.pieces, pace.ramps)


def _is_in_joints(kind: PrimitiveSpec, env: Environment) -> bool:
    """True for a path that is straight in joint space; one that keeps its orientation is straight in task space."""
    return kind.space is Space.JOINT and (kind.joints or not _ORIENTED & set(env.request.kept))


def _limits(planned: PlannedStep, env: Environment) -> Limits:
    arm, asked = env.library.workcell.arms[str(env.lookup("arm"))], env.request.constraints
    return Limits(
        min(env.maybe("speed", DEFAULT_SPEED), arm.speed, planned.kind.speed),
        min(asked.get("turn_speed", arm.joint_speed), arm.joint_speed),
        arm.joint_speed,
        asked.get("acceleration"),
    )


def _ramp_time(planned: PlannedStep, env: Environment) -> float:
    given = {**planned.kind.parameters, **planned.step.parameters}.get("acc_time")
    return float(env.evaluate(given)) if given is not None else RAMP_TIME


def _goals(planned: PlannedStep, target: object, env: Environment) -> list[FloatArray]:
    goals = np.atleast_2d(np.asarray(target, dtype=np.float64))
    rows = list(goals)
    if env.request.via and planned.step.via:
        rows = [place_pose(place, env) for place in env.request.via] + rows
    return rows


def _joint_path(
    arm: str, start: FloatArray, goals: list[FloatArray], kind: PrimitiveSpec, env: Environment
) -> FloatArray:
    """Joint positions (n, dof) through the goals: straight in joint space, or in task space by kinematics."""
    path = [start]
    for goal in goals:
        if _is_in_joints(kind, env):
            if kind.joints:
                _check_joints(arm, goal, start, env)
            end = goal if kind.joints else env.checks.kinematics.solve(arm, goal, path[-1])
            pieces = _pieces(np.abs(end - path[-1]).max() / JOINT_PIECE)
            path += [path[-1] + (end - path[-1]) * k / pieces for k in range(1, pieces + 1)]
            continue
        here = env.checks.kinematics.forward(arm, path[-1])
        metres, angle = pose_distance(here, goal)
        pieces = _pieces(max(metres / TASK_PIECE, angle / TURN_PIECE))
        T_here, T_goal = se3_from_pose(here), se3_from_pose(goal, "target")
        for k in range(1, pieces + 1):
            pose = pose_from_se3(on_straight(T_here, T_goal, k / pieces))
            path.append(env.checks.kinematics.solve(arm, pose, path[-1]))
        if len(path) > MAX_POINTS:
            raise BindingError(f"the path needs more than {MAX_POINTS} pieces")
    return np.array(path)


def _check_joints(arm: str, goal: FloatArray, start: FloatArray, env: Environment) -> None:
    """Raise BindingError for joints that the arm has not, and for lengths of those that turn and angles of slides."""
    if len(goal) != len(start):
        raise BindingError(f"{arm} has {len(start)} joints, not {len(goal)}")
    place = env.request.task.place
    numbers = place.numbers if place is not None and place.kind == "joints" else ()
    for joint, (number, slides) in enumerate(zip(numbers, env.checks.kinematics.slides(arm), strict=False), 1):
        kind = "length" if slides else "angle"
        if number.unit and number.dimension != kind:
            raise BindingError(f"joint {joint} of {arm}: {number.unit} is no unit here; a number of {kind} is meant")


def _pieces(count: float) -> int:
    """At least one; raises BindingError for a number that is none or too large."""
    if not count <= MAX_POINTS:
        raise BindingError(f"the path needs more than {MAX_POINTS} pieces")
    return int(np.ceil(count)) or 1


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
    touching = planned.kind.executive not in UNTOUCHED
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
            problem = f"({x:.3f}, {y:.3f}, {z:.3f}) is outside {inside_name}"
            raise BindingError(f"step {planned.name}: safe-work-range: {problem}")
        entered = next((name for name in env.request.avoided if cell.regions[name].contains((x, y, z))), "")
        if entered and i:
            problem = f"({x:.3f}, {y:.3f}, {z:.3f}) is in region {entered}"
            raise BindingError(f"step {planned.name}: avoid-task-region: {problem}")
