"""M and F of an arm's primitive as parameters of the compliant motion loop [JPL-RTC section 4, GCMSF]."""

from __future__ import annotations

from typing import Any

import numpy as np

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import InvalidValueError, OutOfReachError
from telerobot_nodes.rtc.elaboration.clauses import COMPLIANT, by_hand
from telerobot_nodes.rtc.elaboration.elaborator import PlannedStep
from telerobot_nodes.rtc.elaboration.environment import Environment
from telerobot_nodes.rtc.elaboration.request import AXES, Request
from telerobot_nodes.rtc.language import Comparison, print_condition
from telerobot_nodes.rtc.skills import TIMEOUT, PrimitiveSpec, Space, Stop, Trajectory

FORCE_GAIN = 1e-4  # [m/s/N] of the compliant loop: a spring of k [N/m] is a rate of k times it [1/s]
MAX_SPRING_GAIN = 50.0  # [1/s]
ORIENTATION_GAIN = 0.5  # [1/s]
HAND_SPEED = (0.1, 0.5)  # [m/s], [rad/s] of the operator's device, where the command gives none
FORCE_BITS, TORQUE_BITS = 16 | 64, 32 | 128  # of `select`: endings by force and torque; the others are by offset
TELEOPERATION_GAIN = 1.0
OPERATOR_STOPS = (Stop("failed", "the operator could not"), Stop("done", "the operator has entered the result"))
STOPPING = frozenset(("stop", "abort", "comply", "release", "retreat", "ask"))  # `hold` pauses the command


def motion_parameters(
    values: dict[str, Any], target: object, trajectory: Trajectory, planned: PlannedStep, env: Environment
) -> dict[str, Any]:
    """Add what the file leaves open: destination, time, limits, shared control; values of the file stay."""
    filled: dict[str, Any] = {"tr_nom": (0.0, 0, 0, 0, 0, 0, 1), "time_vel_sel": "time"}
    filled["time_vel_val"] = max(trajectory.duration, 0.05)
    filled["acc_time"] = min(trajectory.ramps[0], 0.5 * filled["time_vel_val"])
    filled["end_time"] = (
        planned.kind.timeout if not env.request.timeout else min(planned.kind.timeout, env.request.timeout)
    )
    destination = _destination(target, trajectory, env)
    if destination is not None:
        filled["tr_tn_dest"] = destination
    filled |= values
    _limits(filled, env.request)
    if planned.kind.executive == COMPLIANT:
        _compliance(filled, env.request)
    if by_hand(planned, env.request):
        _speed_of_hand(filled, env.request)
    _check_thresholds(filled)
    return filled


def _destination(target: object, trajectory: Trajectory, env: Environment) -> FloatArray | None:
    if target is None:
        return None
    if not len(trajectory.points):  # a person goes there by eye
        return np.atleast_2d(np.asarray(target))[-1] if np.asarray(target).size % 7 == 0 else None
    last = trajectory.points[-1]
    if trajectory.space is Space.TASK:
        return np.asarray(last)
    try:
        return env.checks.kinematics.forward(str(env.lookup("arm")), np.asarray(last))
    except OutOfReachError:
        return None


def _limits(filled: dict[str, Any], request: Request) -> None:
    """Constraints of the command tighten limits, never widen them."""
    for name, key in (("force", "max_force_thres"), ("torque", "max_torque_thres")):
        limit = request.constraints.get(name)
        kept_force = np.any(np.asarray(filled.get("force_setpoints", 0.0)))
        if limit is not None and not (name == "force" and kept_force):
            filled[key] = min(float(filled.get(key, limit)), limit)
    for rule in request.reflexes:
        condition = rule.condition
        if rule.action.kind not in STOPPING:
            continue
        simple = isinstance(condition, Comparison) and not condition.measure.axis and condition.comparator[0] == ">"
        if simple and isinstance(condition, Comparison) and condition.measure.kind in ("force", "torque"):
            key = f"max_{condition.measure.kind}_thres"
            filled[key] = min(float(filled.get(key, condition.quantity.si)), condition.quantity.si)
    if request.guarded:
        filled["max_force_thres"] = min(float(filled.get("max_force_thres", 10.0)), 10.0)


def _compliance(filled: dict[str, Any], request: Request) -> None:
    """Clauses of a command for compliant motion: stiffness, dither, shared control."""
    if "stiffness" in request.constraints:
        gain = min(request.constraints["stiffness"] * FORCE_GAIN, MAX_SPRING_GAIN)
        filled["spring_gains"] = (gain, gain, gain, ORIENTATION_GAIN)
        filled["sel_vect_sp"] = filled.get("sel_vect_sp", (1,) * 6)
    if "dither" in request.constraints:
        filled["dither_wave"] = filled.get("dither_wave", "triangle")
        selected = np.asarray(filled.get("sel_vect_fc", (0, 0, 1, 0, 0, 0)), dtype=np.float64)
        filled["dither_mag"] = selected * request.constraints["dither"]
    if request.shared is not None:
        _share(filled, *request.shared)
    if "sel_vect_fc" in filled and "comply_vect" in filled:  # a DOF that keeps a force does not also yield
        filled["comply_vect"] = np.where(np.asarray(filled["sel_vect_fc"]), 0, np.asarray(filled["comply_vect"]))


def _share(filled: dict[str, Any], operator_axes: tuple[str, ...], program_axes: tuple[str, ...]) -> None:
    """Shared control by degree of freedom: the hand moves the operator's axes, path and force the program's.

    Springs pull the program's axes to the path, where no force is kept; the operator's axes keep no force, have no
    dither, and end no motion by their offset [JPL-RTC section 2, GCMSF].
    """
    operator = np.array([axis in operator_axes for axis in AXES])
    kept = np.asarray(filled.get("sel_vect_fc", (0,) * 6), dtype=bool) & ~operator
    filled["sel_vect_tp"] = operator
    filled["tele_gains"] = TELEOPERATION_GAIN * operator
    filled["sel_vect_sp"] = np.array([axis in program_axes for axis in AXES]) & ~kept
    filled["sel_vect_fc"] = kept
    for name in ("force_setpoints", "dither_mag"):
        if name in filled:
            filled[name] = np.where(operator, 0.0, np.asarray(filled[name], dtype=np.float64))
    bits = FORCE_BITS * bool(kept[:3].any()) | TORQUE_BITS * bool(kept[3:].any())
    filled["select"] = int(filled.get("select", 0)) & bits
    for name in ("trans_threshold", "ang_threshold"):  # the hand is the largest part of the sensor motion
        filled.pop(name, None)


def _speed_of_hand(filled: dict[str, Any], request: Request) -> None:
    speed, turn = (request.constraints.get(name) for name in ("speed", "turn_speed"))
    if speed is not None or turn is not None:
        filled["max_tele_vel"] = (speed or HAND_SPEED[0],) * 3 + (turn or HAND_SPEED[1],) * 3


def _check_thresholds(filled: dict[str, Any]) -> None:
    """A force to keep must stay below the one that stops the motion; raises InvalidValueError."""
    setpoints = np.asarray(filled.get("force_setpoints", (0.0,) * 6), dtype=np.float64)
    for name, kept in (("max_force_thres", setpoints[:3]), ("max_torque_thres", setpoints[3:])):
        most, size = float(filled.get(name, 0.0)), float(np.linalg.norm(kept))
        if 0.0 < most <= size:
            raise InvalidValueError(name, most, f"allowed: above {size:g}, which the motion keeps")


def reflex_events(kind: PrimitiveSpec, request: Request) -> tuple[tuple[str, str], ...]:
    """Part of R: reflexes that report or slow down and let the motion go on."""
    if kind.role != "arm":
        return ()
    return tuple((rule.text, rule.does) for rule in request.reflexes if rule.action.kind not in STOPPING)


def reflex_stops(kind: PrimitiveSpec, request: Request) -> tuple[Stop, ...]:
    """F: the command's reflexes and its `until` before the kind's own stops, each with an outcome of its own."""
    if request.via_operator and kind.role in ("arm", "gripper"):
        safety = tuple(stop for stop in kind.stops if stop.action == "halt")
        return (*safety, *OPERATOR_STOPS, Stop(TIMEOUT, "end_time"))
    if kind.role != "arm":
        return kind.stops
    stops = [
        Stop(f"reflex_{number}", rule.text, rule.does)
        for number, rule in enumerate(request.reflexes, 1)
        if rule.action.kind in STOPPING
    ]
    if request.until is not None:
        stops.append(Stop("until", print_condition(request.until)))
    always = [stop for stop in kind.stops if stop.action == "halt"]
    rest = [stop for stop in kind.stops if stop.action != "halt"]
    return (*always, *stops, *rest)
