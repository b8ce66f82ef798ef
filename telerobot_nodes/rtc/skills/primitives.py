"""The primitive T = (P, M, F, R) and the report that answers it [JPL-RTC section 4].

P and M define the motion, F when it stops (complete and unambiguous), R what is reported.
Parameter names are those of the generalized compliant motion primitive [GCMSF].
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from telerobot_nodes.core.values import FloatArray, finite_array, in_range
from telerobot_nodes.errors import InvalidValueError

# The parameter set of [GCMSF] in snake_case: number of values, 0 for a word, a code or a flag.
_NAMES: dict[int, str] = {
    0: "time_vel_sel select dither_wave tele_mode sel_vect_lim sel_vect_sing",
    1: (
        "period time_vel_val acc_time trans_threshold ang_threshold test_time end_time end_trans_err "
        "end_ang_err end_trans_vel end_ang_vel end_force_err end_torque_err end_force_vel end_torque_vel "
        "min_force_thres min_torque_thres max_force_thres max_torque_thres dither_ramp"
    ),
    2: "max_sf_vel js_gain js_theta j_safety_limit",
    4: "mass_prop spring_gains max_spring_vel",
    6: (
        "sel_vect_fc comply_vect force_setpoints dead_zone force_gains max_force_vel dither_mag dither_period "
        "sel_vect_sp sel_vect_tp tele_gains max_tele_vel"
    ),
    7: "tr_base tr_tn_dest tr_nom tr_force tr_sense tr_dither tr_camera tr_teleop",
}
GCMSF_PARAMETERS = {name: count for count, names in _NAMES.items() for name in names.split()}

# Who executes what: executives by role, and the parameters of those that are no motion.
EXECUTIVES = {
    "arm": (
        *("joint_guarded", "cartesian_guarded", "move_to_touch", "compliant_motion", "teleoperation"),
        *("sense", "tare"),
    ),
    "gripper": ("free_grasp", "compliant_grasp"),
    "camera": ("locate", "pan"),
    "sensor": ("read",),
    "authority": ("hand_over",),
    "operator": ("operator_task",),
    "program": ("watch",),
}
DEVICE_PARAMETERS = {
    "gripper": ("width", "force", "rest"),
    "camera": ("camera_position",),
    "sensor": ("sensor",),
    "authority": ("arm", "holder"),
    "operator": (),
    "program": ("seconds",),
}

# What a number can be, by the name of a parameter or of a constraint: lowest, highest, unit.
RANGES = {
    "speed": (0.001, 5.0, "m/s"),
    "acceleration": (0.01, 50.0, "m/s^2"),
    "force": (0.0, 1000.0, "N"),
    "torque": (0.0, 200.0, "N m"),
    "clearance": (0.0, 1.0, "m"),
    "stiffness": (0.0, 1e6, "N/m"),
    "payload": (0.0, 1000.0, "kg"),
    "dither": (0.0, 0.05, "m"),
    "timeout": (0.0, 3600.0, "s"),
    "seconds": (0.0, 3600.0, "s"),
    "width": (0.0, 1.0, "m"),
    "rest": (0.02, 10.0, "s"),
    "max_force_thres": (0.0, 1000.0, "N"),
    "max_torque_thres": (0.0, 200.0, "N m"),
    "trans_threshold": (0.0, 1.0, "m"),
    "ang_threshold": (0.0, 3.1416, "rad"),
    "test_time": (0.0, 3600.0, "s"),
    "end_time": (0.0, 3600.0, "s"),
    "comply_vect": (0.0, 1.0, ""),
    "sel_vect_fc": (0.0, 1.0, ""),
    "sel_vect_tp": (0.0, 1.0, ""),
}

# What a word can be, by the name of a parameter.
WORDS = {
    "dither_wave": ("triangle", "sine", "square"),
    "tele_mode": ("tool", "world", "camera"),
    "holder": ("operator", "program"),
}

ParameterValue: TypeAlias = "float | str | tuple[float, ...]"  # whole numbers and booleans among the floats

RAMP_TIME = 0.2  # [s] to full speed, and back to rest
TIMEOUT = "timeout"
HALTED = "halted"


class Space(Enum):
    """Where the trajectory is a straight line."""

    JOINT = "joint"
    TASK = "task"
    NONE = "none"  # grippers, cameras, people


@dataclass(frozen=True)
class Trajectory:
    """P: via points, (n, dof) [rad] in joint space or (n, 7) poses of the tool in WORLD.

    `corners`: the rows between which the path is straight, first and last among them. `pieces` [s]: the time of each
    straight piece; `ramps` [s]: of its beginning, and of its end.
    """

    space: Space
    points: FloatArray
    duration: float = 0.0  # [s]
    corners: tuple[int, ...] = ()
    pieces: tuple[float, ...] = ()  # empty: one, of all the duration
    ramps: tuple[float, ...] = ()  # empty: RAMP_TIME each

    def __post_init__(self) -> None:
        points = np.array(self.points, dtype=np.float64)
        finite_array(points, "trajectory.points")
        if self.space is not Space.NONE and (points.ndim != 2 or not len(points)):
            raise InvalidValueError("trajectory.points (shape)", points.shape, "allowed: (n, dof) or (n, 7)")
        in_range(self.duration, "trajectory.duration", 0.0, 3600.0, "s")
        object.__setattr__(self, "pieces", self.pieces or (self.duration,))
        object.__setattr__(self, "ramps", self.ramps or (RAMP_TIME,) * len(self.pieces))
        count = max(len(self.corners) - 1, 1)
        if (len(self.pieces), len(self.ramps)) != (count, count):
            raise InvalidValueError("trajectory.pieces", len(self.pieces), f"allowed: {count}, one per straight piece")
        points.setflags(write=False)
        object.__setattr__(self, "points", points)


@dataclass(frozen=True)
class Stop:
    """One stop function of F: an outcome, its trigger, and the reflex action."""

    outcome: str
    when: str
    action: str = "stop"


@dataclass(frozen=True)
class ReportWish:
    """R: the contents of a report, and the interval of progress reports."""

    every: float = 0.0  # [s]; 0: at the end only
    events: tuple[tuple[str, str], ...] = ()  # (condition, action) that stop nothing
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
    text: str = ""  # shown to a person
    limit: float = 3600.0  # [s] its own timeout: it ends by then, whatever else
    grip: float = 0.0  # [m] opening of the fingers around what the arm holds; 0: nothing is held
    began: tuple[float, ...] = ()  # (7,) of the tool in WORLD where its step was tried first; empty: not known

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
    """A subsystem's report of a primitive. `final` False: progress on the way."""

    primitive: int
    outcome: str
    joints: tuple[float, ...] = ()  # [rad]
    pose: tuple[float, ...] = ()  # (7,) of the tool in WORLD
    wrench: tuple[float, ...] = ()  # [N], [N m], SENSE frame
    readings: Mapping[str, float | str | tuple[float, ...]] = field(default_factory=dict)  # width, found pose ...
    elapsed: float = 0.0  # [s]
    final: bool = True
    note: str = ""
    track: tuple[tuple[float, ...], ...] = ()  # (n, 7) poses of the tool as measured on the way

    def __post_init__(self) -> None:
        if not self.outcome:
            raise InvalidValueError("report.outcome", self.outcome, "allowed: an outcome of the primitive")
        finite_array(self.joints, "report.joints")
        if len(self.pose) not in (0, 7):
            raise InvalidValueError("report.pose (length)", len(self.pose), "allowed: 0 or 7")
        finite_array(self.pose, "report.pose")
        finite_array(self.wrench, "report.wrench")
        if self.track:
            finite_array(self.track, "report.track", 7 * len(self.track))
