"""The whole parameter set of the generalized compliant motion primitive [GCMSF], and nothing but values.

One frozen dataclass per group of the source; each field has the source's name in snake_case. A set is checked as a
whole when it is made; errors name the field. Degrees of freedom have the order x y z rx ry rz. Fields with an empty
source name are additions of this project.
"""

# ruff: noqa: RUF009

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from telerobot_nodes.core.config import ParameterInfo
from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.motion.parameters.parameter_fields import (
    Group,
    Selection,
    Shape,
    Vector,
    choice,
    flag,
    mask,
    number,
    pose,
    selection,
    vector,
)

END_BITS = {  # of `select`, by the limit they test
    "end_trans_err": 1,
    "end_ang_err": 2,
    "end_trans_vel": 4,
    "end_ang_vel": 8,
    "end_force_err": 16,
    "end_torque_err": 32,
    "end_force_vel": 64,
    "end_torque_vel": 128,
}
ALL_END_BITS = 255
THRESHOLDS = ("min_force_thres", "min_torque_thres", "max_force_thres", "max_torque_thres")

_SLOW, _FAST = (0.05, 0.05, 0.05, 0.2, 0.2, 0.2), (0.1, 0.1, 0.1, 0.5, 0.5, 0.5)


@dataclasses.dataclass(frozen=True)
class System(Group):
    """The whole primitive."""

    tr_base: Vector = pose("trBase", "BASE in WORLD")
    mass_prop: Vector = vector(
        "massProp", (0.0, 0.0, 0.0, 0.0), "kg, m", -100.0, 100.0, "load beyond the sensor: mass, centre of mass in TN"
    )
    period: float = number("period", 0.5, "s", 0.01, 60.0, "between status reports")


@dataclasses.dataclass(frozen=True)
class Trajectory(Group):
    """The nominal motion."""

    tr_tn_dest: Vector = pose("trTnDest", "goal of TN, in WORLD; empty: the present pose", empty=True)
    tr_nom: Vector = pose("trNom", "NOM in TN")
    time_vel_sel: str = choice("timeVelSel", "velocity", ("time", "velocity"), "meaning of `time_vel_val`")
    time_vel_val: float = number(
        "timeVelVal", 0.05, "s or m/s and rad/s", 1e-4, 3600.0, "duration, or linear and angular speed of NOM"
    )
    acc_time: float = number("accTime", 0.3, "s", 0.01, 60.0, "duration of each ramp, up to full speed and down")
    max_acceleration: float = number(
        "", 0.0, "m/s^2 and rad/s^2", 0.0, 100.0, "acceleration limit of NOM: lengthens the ramp; 0: none"
    )
    joint_dest: Vector = vector(
        "", (), "rad", -100.0, 100.0, "joint goal, instead of `tr_tn_dest`; empty: none", empty=True
    )


@dataclasses.dataclass(frozen=True)
class FusionLimits(Group):
    """The sum of all sensor motion."""

    max_sf_vel: Vector = vector("maxSfVel", (0.1, 0.5), "m/s, rad/s", 0.0, 10.0, "highest speed of NOM by sensors")
    trans_threshold: float = number("transThreshold", 0.3, "m", 0.0, 10.0, "monitor: largest offset by sensor motion")
    ang_threshold: float = number("angThreshold", 1.5, "rad", 0.0, 3.2, "monitor: largest rotation by sensor motion")


@dataclasses.dataclass(frozen=True)
class Ending(Group):
    """When the ending segment is over."""

    select: int = mask("select", ALL_END_BITS, "conditions to test, the sum of their bits; all must hold")
    test_time: float = number("testTime", 1.0, "s", 0.2, 60.0, "averaging time of each condition")
    end_time: float = number("endTime", 0.0, "s", 0.0, 3600.0, "longest ending segment")
    end_trans_err: float = number("endTransErr", 0.002, "m", 0.0, 10.0, "bit 1: offset by sensor motion")
    end_ang_err: float = number("endAngErr", 0.02, "rad", 0.0, 3.2, "bit 2: rotation by sensor motion")
    end_trans_vel: float = number("endTransVel", 0.002, "m/s", 0.0, 10.0, "bit 4: rate of that offset")
    end_ang_vel: float = number("endAngVel", 0.02, "rad/s", 0.0, 10.0, "bit 8: rate of that rotation")
    end_force_err: float = number("endForceErr", 1.0, "N", 0.0, 1e4, "bit 16: force error, SENSE")
    end_torque_err: float = number("endTorqueErr", 0.2, "N m", 0.0, 1e4, "bit 32: torque error, SENSE")
    end_force_vel: float = number("endForceVel", 2.0, "N/s", 0.0, 1e5, "bit 64: rate of the force error")
    end_torque_vel: float = number("endTorqueVel", 0.5, "N m/s", 0.0, 1e5, "bit 128: rate of the torque error")


@dataclasses.dataclass(frozen=True)
class Force(Group):
    """Force and compliance. Wrenches are those the tool exerts on what it touches."""

    tr_force: Vector = pose("trForce", "FORCE in NOM: frame in which forces move the tool")
    tr_sense: Vector = pose("trSense", "SENSE in NOM: frame in which forces are monitored")
    sel_vect_fc: Selection = selection("selVectFc", "DOFs of FORCE that are force controlled")
    comply_vect: Selection = selection("complyVect", "DOFs of FORCE that comply while position controlled")
    force_setpoints: Vector = vector("forceSetpoints", (0.0,) * 6, "N, N m", -1e4, 1e4, "wrench setpoints, FORCE")
    dead_zone: Vector = vector(
        "deadZone", (0.2, 0.2, 0.2, 0.01, 0.01, 0.01), "N, N m", 0.0, 1e3, "wrench below which the error is zero"
    )
    force_gains: Vector = vector(
        "forceGains",
        (1e-4, 1e-4, 1e-4, 1e-2, 1e-2, 1e-2),
        "m/s/N, rad/s/(N m)",
        0.0,
        1.0,
        "speed per force error (the source's displacement per sample, over the sample time)",
    )
    press_time: float = number(
        "",
        0.3,
        "s",
        0.0,
        60.0,
        "time constant of `selVectFc` on soft surfaces, by gains that follow the stiffness; 0: gains as given",
    )
    max_force_vel: Vector = vector("maxForceVel", _SLOW, "m/s, rad/s", 0.0, 10.0, "highest speed by forces, FORCE")
    min_force_thres: float = number(
        "minForceThres", 0.0, "N", 0.0, 1e4, "monitor: contact is lost below this force; 0: none"
    )
    min_torque_thres: float = number(
        "minTorqueThres", 0.0, "N m", 0.0, 1e4, "monitor: contact is lost below this torque; 0: none"
    )
    max_force_thres: float = number("maxForceThres", 60.0, "N", 0.0, 1e4, "monitor: largest force, SENSE; 0: none")
    max_torque_thres: float = number("maxTorqueThres", 15.0, "N m", 0.0, 1e4, "monitor: largest torque, SENSE; 0: none")
    filter_time: float = number(
        "",
        0.02,
        "s",
        0.0,
        1.0,
        "filter time constant of the wrench that moves the tool; monitors use the unfiltered wrench",
    )
    frozen_time: float = number(
        "",
        0.05,
        "s",
        0.0,
        60.0,
        "monitor: time without a change of any digit of the wrench, or of a channel at its largest value; 0: none",
    )


@dataclasses.dataclass(frozen=True)
class Dither(Group):
    """A small periodic motion that overcomes friction."""

    dither_wave: str = choice("ditherWave", "sine", ("triangle", "sine", "square"), "shape")
    tr_dither: Vector = pose("trDither", "DITHER in NOM")
    dither_mag: Vector = vector("ditherMag", (0.0,) * 6, "m, rad", 0.0, 0.1, "amplitude of each DOF; 0: none")
    dither_period: Vector = vector("ditherPeriod", (1.0,) * 6, "s", 0.02, 60.0, "period of each DOF")
    dither_ramp: float = number("", 0.0, "s", 0.0, 60.0, "time in which the waves grow to their amplitude; 0: none")


@dataclasses.dataclass(frozen=True)
class Springs(Group):
    """Virtual springs that pull sensor motion back to the nominal motion."""

    sel_vect_sp: Selection = selection("selVectSp", "DOFs of NOM with springs")
    spring_gains: Vector = vector("springGains", (0.5, 0.5, 0.5, 0.5), "1/s", 0.0, 50.0, "x, y, z, orientation")
    max_spring_vel: Vector = vector(
        "maxSpringVel",
        (0.02, 0.02, 0.02, 0.1),
        "m/s, rad/s",
        0.0,
        10.0,
        "highest speed by springs: x, y, z, orientation",
    )


@dataclasses.dataclass(frozen=True)
class Teleoperation(Group):
    """The operator's hand, added to everything else."""

    tele_mode: str = choice("teleMode", "tool", ("tool", "world", "camera"), "frame of the operator's motion")
    tr_camera: Vector = pose("trCamera", "CAMERA in WORLD")
    tr_teleop: Vector = pose("trTeleop", "TELEOP in NOM")
    sel_vect_tp: Selection = selection("selVectTp", "DOFs of TELEOP that the operator moves")
    tele_gains: Vector = vector("teleGains", (1.0,) * 6, "-", -10.0, 10.0, "scale of each DOF")
    max_tele_vel: Vector = vector("maxTeleVel", _FAST, "m/s, rad/s", 0.0, 10.0, "highest speed by the operator, TELEOP")


@dataclasses.dataclass(frozen=True)
class Joints(Group):
    """Joint limits and singularities as a force field, and as a monitor."""

    sel_vect_lim: Selection = selection("selVectLim", "joints to keep from their limits; empty: none", empty=True)
    sel_vect_sing: bool = flag("selVectSing", "keep the arm from singularities")
    js_gain: Vector = vector(
        "jsGain", (0.002, 0.002), "rad^2/s, rad/s", 0.0, 10.0, "gain of the field: limits, singularities"
    )
    js_theta: Vector = vector(
        "jsTheta", (0.15, 0.08), "rad, -", 0.0, 3.0, "start of the field: distance from limits, singular value"
    )
    j_safety_limit: Vector = vector(
        "jSafetyLimit",
        (0.0, 0.0),
        "rad, -",
        0.0,
        3.0,
        "monitor: smallest distance from limits, singular value; 0: none",
    )


@dataclasses.dataclass(frozen=True)
class GcmsfParameters:
    """The whole set. Raises InvalidValueError naming the field, also for fields that contradict each other."""

    system: System = dataclasses.field(default_factory=System)
    trajectory: Trajectory = dataclasses.field(default_factory=Trajectory)
    fusion: FusionLimits = dataclasses.field(default_factory=FusionLimits)
    ending: Ending = dataclasses.field(default_factory=Ending)
    force: Force = dataclasses.field(default_factory=Force)
    dither: Dither = dataclasses.field(default_factory=Dither)
    springs: Springs = dataclasses.field(default_factory=Springs)
    teleoperation: Teleoperation = dataclasses.field(default_factory=Teleoperation)
    joints: Joints = dataclasses.field(default_factory=Joints)

    def __post_init__(self) -> None:
        _check_system(self.system)
        _check_trajectory(self.trajectory)
        _check_force(self.force)
        _check_ending(self)

    def check_robot(self, dof: int) -> None:
        """Reject a set that does not fit an arm of `dof` joints. Raises InvalidValueError."""
        for name, values in (
            ("joint_dest", self.trajectory.joint_dest),
            ("sel_vect_lim", self.joints.sel_vect_lim),
        ):
            if values and len(values) != dof:
                raise InvalidValueError(f"{name} (length)", len(values), f"allowed: {dof}, one for each joint")

    def changed(self, values: Mapping[str, Any]) -> GcmsfParameters:
        """The same set with some fields changed, by flat name. Raises InvalidValueError."""
        by_group: dict[str, dict[str, Any]] = {}
        for name, value in values.items():
            if name not in FIELDS:
                raise InvalidValueError(name, value, f"allowed names: {', '.join(FIELDS)}")
            by_group.setdefault(FIELDS[name].group, {})[name] = value
        groups = {group: dataclasses.replace(getattr(self, group), **some) for group, some in by_group.items()}
        return dataclasses.replace(self, **groups)

    def flat(self) -> dict[str, Any]:
        """Every field by name."""
        return {name: getattr(getattr(self, row.group), name) for name, row in FIELDS.items()}

    @property
    def felt(self) -> dict[str, Any]:
        """The fields by which the set needs the wrist sensor, with their values."""
        vectors = {name: getattr(self.force, name) for name in ("sel_vect_fc", "comply_vect")}
        found = {name: vector for name, vector in vectors.items() if any(vector)}
        return found | {name: getattr(self.force, name) for name in THRESHOLDS if getattr(self.force, name)}

    @cached_property
    def feels(self) -> bool:
        """True when the set needs the wrist sensor."""
        return bool(self.felt)

    def check_sensor(self, robot: RobotModel) -> None:
        """Reject a set that needs the wrist sensor on an arm without one. Raises InvalidValueError."""
        if robot.wrist_sensor:
            return
        for name, value in self.felt.items():
            raise InvalidValueError(name, value, "allowed: 0; this arm has no wrist sensor")


@dataclasses.dataclass(frozen=True)
class FieldRow:
    """One row of the table of parameters."""

    group: str
    name: str
    source: str
    unit: str
    default: Any
    doc: str


def _rows() -> dict[str, FieldRow]:
    rows = {}
    for group in dataclasses.fields(GcmsfParameters):
        for entry in dataclasses.fields(group.default_factory):  # type: ignore[arg-type]
            info: ParameterInfo = entry.metadata["parameter"]
            shape: Shape = entry.metadata["shape"]
            rows[entry.name] = FieldRow(group.name, entry.name, shape.source, info.unit, entry.default, info.doc)
    return rows


FIELDS = _rows()


def markdown_table() -> str:
    """The table of parameters for the docs: source name, field, unit, default, meaning."""
    lines = ["| group | source name | field | unit | default | meaning |", "|---|---|---|---|---|---|"]
    for row in FIELDS.values():
        default = "none" if row.default == () else str(row.default).replace(", ", " ").strip("()")
        cells = (row.group, row.source or "(ours)", f"`{row.name}`", row.unit or "-", default, row.doc)
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def parameters_from(values: Mapping[str, Any]) -> GcmsfParameters:
    """The set with these values, by flat name, and defaults for the rest. Raises InvalidValueError."""
    return DEFAULTS.changed(values)


def _check_system(system: System) -> None:
    if system.mass_prop[0] < 0.0:
        raise InvalidValueError("mass_prop[0]", system.mass_prop[0], "allowed: 0 or more [kg]")


def _check_trajectory(trajectory: Trajectory) -> None:
    if trajectory.tr_tn_dest and trajectory.joint_dest:
        raise InvalidValueError("joint_dest", trajectory.joint_dest, "allowed: none, when tr_tn_dest is given")
    if trajectory.time_vel_sel == "time" and trajectory.acc_time > 0.5 * trajectory.time_vel_val:
        allowed = f"allowed: up to half of time_vel_val = {trajectory.time_vel_val:g} [s]"
        raise InvalidValueError("acc_time", trajectory.acc_time, allowed)


def _check_force(force: Force) -> None:
    for i in range(6):
        if force.sel_vect_fc[i] and force.comply_vect[i]:
            raise InvalidValueError(f"comply_vect[{i}]", True, "allowed: false, where sel_vect_fc is true")
        if force.force_setpoints[i] and not force.sel_vect_fc[i]:
            value = force.force_setpoints[i]
            raise InvalidValueError(f"force_setpoints[{i}]", value, "allowed: 0, where sel_vect_fc is false")
    for kind in ("force", "torque"):
        low, high = getattr(force, f"min_{kind}_thres"), getattr(force, f"max_{kind}_thres")
        if high and low >= high:
            raise InvalidValueError(f"min_{kind}_thres", low, f"allowed: below max_{kind}_thres = {high:g}")


def _check_ending(parameters: GcmsfParameters) -> None:
    ending, controlled = parameters.ending, parameters.force.sel_vect_fc
    for names, dofs, what in (
        (("end_force_err", "end_force_vel"), controlled[:3], "force"),
        (("end_torque_err", "end_torque_vel"), controlled[3:], "torque"),
    ):
        for name in names:
            if ending.select & END_BITS[name] and not any(dofs):
                allowed = f"allowed: no bit {END_BITS[name]} ({name}), as sel_vect_fc controls no {what}"
                raise InvalidValueError("select", ending.select, allowed)
    if ending.select and ending.end_time < ending.test_time:
        allowed = f"allowed: test_time = {ending.test_time:g} [s] or more, when conditions are selected"
        raise InvalidValueError("end_time", ending.end_time, allowed)


DEFAULTS = GcmsfParameters()
