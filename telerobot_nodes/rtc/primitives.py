"""The primitive T = (P, M, F, R) and the report that answers it [JPL-RTC section 4].

What belongs here: values. P and M say what motion, F when it stops (complete and unambiguous), R what is reported.
Parameter names are those of the generalized compliant motion primitive [GCMSF].
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from telerobot_nodes.core.validation import FloatArray, finite_array, in_range
from telerobot_nodes.errors import InvalidValueError

# The whole parameter set of [GCMSF] in snake_case: number of values, 0 for a word or any number.
GCMSF_PARAMETERS: dict[str, int] = {
    "tr_base": 7,
    "mass_prop": 4,
    "period": 1,
    "tr_tn_dest": 7,
    "tr_nom": 7,
    "time_vel_sel": 0,
    "time_vel_val": 1,
    "acc_time": 1,
    "max_sf_vel": 6,
    "trans_threshold": 1,
    "ang_threshold": 1,
    "select": 0,
    "test_time": 1,
    "end_time": 1,
    "end_trans_err": 1,
    "end_ang_err": 1,
    "end_trans_vel": 1,
    "end_ang_vel": 1,
    "end_force_err": 1,
    "end_torque_err": 1,
    "end_force_vel": 1,
    "end_torque_vel": 1,
    "tr_force": 7,
    "tr_sense": 7,
    "sel_vect_fc": 6,
    "comply_vect": 6,
    "force_setpoints": 6,
    "dead_zone": 6,
    "force_gains": 6,
    "max_force_vel": 6,
    "min_force_thres": 1,
    "min_torque_thres": 1,
    "max_force_thres": 1,
    "max_torque_thres": 1,
    "dither_wave": 0,
    "tr_dither": 7,
    "dither_mag": 6,
    "dither_period": 6,
    "sel_vect_sp": 6,
    "spring_gains": 4,
    "max_spring_vel": 4,
    "tele_mode": 0,
    "tr_camera": 7,
    "tr_teleop": 7,
    "sel_vect_tp": 6,
    "tele_gains": 6,
    "max_tele_vel": 6,
    "sel_vect_lim": 0,
    "sel_vect_sing": 0,
    "js_gain": 2,
    "js_theta": 2,
    "j_safety_limit": 2,
}

ParameterValue: TypeAlias = "float | str | tuple[float, ...]"  # whole numbers and booleans among the floats

TIMEOUT = "timeout"
HALTED = "halted"


class Space(Enum):
    """Where the trajectory is a straight line."""

    JOINT = "joint"
    TASK = "task"
    NONE = "none"  # grippers, cameras, people


@dataclass(frozen=True)
class Trajectory:
    """P: via points, (n, dof) [rad] in joint space or (n, 7) poses of the tool in WORLD."""

    space: Space
    points: FloatArray
    duration: float = 0.0  # [s]

    def __post_init__(self) -> None:
        points = np.array(self.points, dtype=np.float64)
        finite_array(points, "trajectory.points")
        if self.space is not Space.NONE and (points.ndim != 2 or not len(points)):
            raise InvalidValueError("trajectory.points (shape)", points.shape, "allowed: (n, dof) or (n, 7)")
        in_range(self.duration, "trajectory.duration", 0.0, 3600.0, "s")
        points.setflags(write=False)
        object.__setattr__(self, "points", points)


@dataclass(frozen=True)
class Stop:
    """One stop function of F: an outcome, what triggers it, and the reflex action."""

    outcome: str
    when: str
    action: str = "stop"


@dataclass(frozen=True)
class ReportWish:
    """R: what is reported, and how often on the way."""

    every: float = 0.0  # [s]; 0: at the end only
    events: tuple[tuple[str, str], ...] = ()  # conditions that stop nothing: what is done when they come true
    fields: tuple[str, ...] = ("joints", "pose", "wrench", "reason")


@dataclass(frozen=True)
class Primitive:
    """T = (P, M, F, R) for one subsystem; validated when made. Raises InvalidValueError."""

    number: int  # unique in the life of the decision unit
    command: int
    step: str
    kind: str
    subsystem: str  # left_arm, left_gripper, camera, operator, program
    executive: str  # primitive of the executive, e.g. cartesian_guarded
    law: str  # M: position, compliant, teleoperation
    trajectory: Trajectory  # P
    stops: tuple[Stop, ...]  # F, highest priority first
    report: ReportWish = field(default_factory=ReportWish)  # R
    parameters: Mapping[str, ParameterValue] = field(default_factory=dict)  # [GCMSF] names, or the device's own
    text: str = ""  # what a person is shown
    limit: float = 3600.0  # [s] its own timeout: it ends by then, whatever else
    grip: float = 0.0  # [m] opening of the fingers around what the arm holds; 0: nothing is held

    def __post_init__(self) -> None:
        check_stops(self.kind, self.stops)
        for name, value in self.parameters.items():
            _check_parameter(name, value)
        in_range(self.limit, "primitive.limit", 0.0, 2 * 3600.0, "s")
        in_range(self.grip, "primitive.grip", 0.0, 1.0, "m")
        object.__setattr__(self, "parameters", MappingProxyType(dict(self.parameters)))

    @property
    def outcomes(self) -> tuple[str, ...]:
        """The finite list of how it can end."""
        return tuple(stop.outcome for stop in self.stops)


def check_stops(kind: str, stops: tuple[Stop, ...]) -> None:
    """F is complete (it always ends by time) and unambiguous (one outcome per stop); raises InvalidValueError."""
    outcomes = [stop.outcome for stop in stops]
    if TIMEOUT not in outcomes:
        raise InvalidValueError(f"{kind}.stops", outcomes, "allowed: lists with a timeout, so that one always triggers")
    twice = {outcome for outcome in outcomes if outcomes.count(outcome) > 1}
    if twice:
        raise InvalidValueError(f"{kind}.stops", sorted(twice), "allowed: each outcome once")


def _check_parameter(name: str, value: ParameterValue) -> None:
    count = GCMSF_PARAMETERS.get(name)
    if isinstance(value, str):
        if count:
            raise InvalidValueError(name, value, f"allowed: {count} numbers")
        return
    finite_array(value, name, count or None)


@dataclass(frozen=True)
class Report:
    """What a subsystem says of a primitive. `final` False: progress on the way."""

    primitive: int
    outcome: str
    joints: tuple[float, ...] = ()  # [rad]
    pose: tuple[float, ...] = ()  # (7,) of the tool in WORLD
    wrench: tuple[float, ...] = ()  # [N], [N m], SENSE frame
    readings: Mapping[str, float | str | tuple[float, ...]] = field(default_factory=dict)  # width, found pose ...
    elapsed: float = 0.0  # [s]
    final: bool = True
    note: str = ""

    def __post_init__(self) -> None:
        if not self.outcome:
            raise InvalidValueError("report.outcome", self.outcome, "allowed: an outcome of the primitive")
        finite_array(self.joints, "report.joints")
        if len(self.pose) not in (0, 7):
            raise InvalidValueError("report.pose (length)", len(self.pose), "allowed: 0 or 7")
        finite_array(self.pose, "report.pose")
        finite_array(self.wrench, "report.wrench")
