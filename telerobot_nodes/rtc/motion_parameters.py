"""M and F of an arm's primitive as parameters of the compliant motion loop [JPL-RTC section 4, GCMSF]."""

from __future__ import annotations

from typing import Any

import numpy as np

from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.errors import OutOfReachError
from telerobot_nodes.rtc.elaborator import PlannedStep
from telerobot_nodes.rtc.environment import Environment
from telerobot_nodes.rtc.primitives import TIMEOUT, Space, Stop, Trajectory
from telerobot_nodes.rtc.printer import print_condition
from telerobot_nodes.rtc.request import AXES, Request
from telerobot_nodes.rtc.skills import PrimitiveKind
from telerobot_nodes.rtc.syntax import Comparison

ACCELERATION_TIME = 0.2  # [s]
FORCE_GAIN = 1e-4  # [m/s/N] of the compliant loop: a spring of k [N/m] is a rate of k times it [1/s]
MAX_SPRING_GAIN = 50.0  # [1/s]
ORIENTATION_GAIN = 0.5  # [1/s]
TELEOPERATION_GAIN = 1.0
OPERATOR_STOPS = (Stop("failed", "the operator could not"), Stop("done", "the operator has entered the result"))
STOPPING = frozenset(("stop", "hold", "abort", "comply", "release", "retreat", "ask"))


def motion_parameters(
    values: dict[str, Any], target: object, trajectory: Trajectory, planned: PlannedStep, env: Environment
) -> dict[str, Any]:
    """Fill in what the file leaves open: destination, time, limits, shared control; given values stay."""
    filled: dict[str, Any] = {"tr_nom": (0.0, 0, 0, 0, 0, 0, 1), "time_vel_sel": "time"}
    filled["time_vel_val"] = max(trajectory.duration, 0.05)
    gentle = "acceleration" in env.request.constraints
    filled["acc_time"] = (
        0.5 * filled["time_vel_val"] if gentle else min(ACCELERATION_TIME, 0.5 * filled["time_vel_val"])
    )
    filled["end_time"] = (
        planned.kind.timeout if not env.request.timeout else min(planned.kind.timeout, env.request.timeout)
    )
    destination = _destination(target, trajectory, env)
    if destination is not None:
        filled["tr_tn_dest"] = destination
    filled |= values
    _limits(filled, env.request)
    if env.request.shared is not None and planned.kind.space is Space.TASK:
        filled |= shared_parameters(env.request.shared)
    if "dither" in env.request.constraints:
        filled["dither_wave"] = filled.get("dither_wave", "triangle")
        selected = np.asarray(filled.get("sel_vect_fc", (0, 0, 1, 0, 0, 0)))
        filled["dither_mag"] = selected * env.request.constraints["dither"]
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
    if "stiffness" in request.constraints:
        gain = min(request.constraints["stiffness"] * FORCE_GAIN, MAX_SPRING_GAIN)
        filled["spring_gains"] = (gain, gain, gain, ORIENTATION_GAIN)
        filled["sel_vect_sp"] = filled.get("sel_vect_sp", (1,) * 6)
    if "sel_vect_fc" in filled and "comply_vect" in filled:  # a DOF that keeps a force does not also yield
        filled["comply_vect"] = np.where(np.asarray(filled["sel_vect_fc"]), 0, np.asarray(filled["comply_vect"]))


def shared_parameters(shared: tuple[tuple[str, ...], tuple[str, ...]]) -> dict[str, tuple[float, ...]]:
    """Shared control by degree of freedom: the operator's axes move by teleoperation, the program's by force or path.

    Springs pull the program's axes to the path; the operator's are free [JPL-RTC section 2, GCMSF].
    """
    operator = tuple(1.0 if axis in shared[0] else 0.0 for axis in AXES)
    program = tuple(1.0 if axis in shared[1] else 0.0 for axis in AXES)
    return {
        "sel_vect_tp": operator,
        "tele_gains": tuple(TELEOPERATION_GAIN * chosen for chosen in operator),
        "sel_vect_sp": program,
    }


def reflex_events(kind: PrimitiveKind, request: Request) -> tuple[tuple[str, str], ...]:
    """Part of R: reflexes that report or slow down and let the motion go on."""
    if kind.role != "arm":
        return ()
    return tuple((rule.text, rule.does) for rule in request.reflexes if rule.action.kind not in STOPPING)


def reflex_stops(kind: PrimitiveKind, request: Request) -> tuple[Stop, ...]:
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
