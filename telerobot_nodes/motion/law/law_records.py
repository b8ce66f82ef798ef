"""The arrays of the compiled law: its parameters (`Law`), its memory (`State`) and its measurements (`Inputs`).

What belongs here: the arrays, the names of their rows, and the arrays made from a parameter set. A quantity is a row
of a shared array rather than a field of its own: passing each array to compiled code costs time in every sample.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray, se3_from_pose
from telerobot_nodes.motion.parameters import GcmsfParameters

GUARD_COLUMNS = 12  # of a row of `Law.guard`
FIELD_SHARE = 0.5  # [-] of a joint's velocity limit: fastest motion by the joint field


Wave = IntEnum("Wave", "TRIANGLE SINE SQUARE", start=0)  # `dither_wave`
TeleMode = IntEnum("TeleMode", "TOOL WORLD CAMERA", start=0)  # `tele_mode`
Nominal = IntEnum("Nominal", "STREAM CARTESIAN JOINTS", start=0)  # where the nominal motion comes from
# rows of State.source, in the order of the sum; FURTHER: another module, such as a force field
Source = IntEnum("Source", "FORCE TELEOPERATION DITHER SPRINGS JOINT_FIELD FURTHER", start=0)

# Rows of `Law` that are parameters have the parameter's name in capitals, without `tr_` for frames.
# BASE and CAMERA are given in WORLD, NOM and SENSOR in TN, the other frames in NOM.
LawFrame = IntEnum("LawFrame", "BASE NOM FORCE SENSE DITHER TELEOP CAMERA SENSOR", start=0)
# Shorter parameters fill the first columns. COM [m]: centre of mass of the load in TN; GRAVITY [m/s^2] in WORLD
LawSix = IntEnum(
    "LawSix",
    "SEL_VECT_FC COMPLY_VECT FORCE_SETPOINTS DEAD_ZONE FORCE_GAINS MAX_FORCE_VEL DITHER_MAG DITHER_PERIOD "
    "SEL_VECT_SP SPRING_GAINS MAX_SPRING_VEL SEL_VECT_TP TELE_GAINS MAX_TELE_VEL "
    "MAX_SF_VEL JS_GAIN JS_THETA J_SAFETY_LIMIT COM GRAVITY",
    start=0,
)
# SAMPLE_PERIOD [s]; MASS [kg] of the load; FILTER [-]: weight of a new wrench in the low-pass filter
LawValue = IntEnum(
    "LawValue",
    "SAMPLE_PERIOD MASS FILTER TRANS_THRESHOLD ANG_THRESHOLD MIN_FORCE_THRES MIN_TORQUE_THRES MAX_FORCE_THRES "
    "MAX_TORQUE_THRES PRESS_TIME DITHER_WAVE DITHER_RAMP TELE_MODE SEL_VECT_SING",
    start=0,
)
LawJoint = IntEnum("LawJoint", "SEL_VECT_LIM LOWER UPPER FIELD_SPEED", start=0)

# DEL_INVERSE: trDel^-1, NOM seen from its nominal place; NOMINAL: that place in WORLD; GOAL: wanted TN in BASE
StateFrame = IntEnum("StateFrame", "DEL_INVERSE NOMINAL GOAL", start=0)
# SMOOTH_WRENCH: SENSE_WRENCH after the low-pass filter; SPRING (3,) [rad]: rotation vector of the orientation spring;
# SHARES (2,): part of the sum's offset and rotation that `max_sf_vel` left. Of `stiffness.py`, (3,) along FORCE:
# STIFFNESS [N/m], FOLLOWING_GAIN [m/s/N], FORCE_BEFORE [N] of the latest step of force, WAY [m] since it, WAY_DUE [m]
# that counts later; FORCE_PLACE [m]: origin of FORCE in WORLD
StateSix = IntEnum(
    "StateSix",
    "DITHER_APPLIED DITHER_STEP TELE_PENDING SENSE_WRENCH SMOOTH_WRENCH FORCE_ERROR STEP FIELD_TWIST SPRING SHARES "
    "STIFFNESS FOLLOWING_GAIN FORCE_BEFORE WAY WAY_DUE FORCE_PLACE",
    start=0,
)
StateValue = IntEnum(
    "StateValue",
    "TRANS ANGLE FELT_FORCE FELT_TORQUE JOINT_MARGIN SIGMA RESIDUAL LAST_JOINT_MARGIN LAST_SIGMA NEAREST_JOINT "
    "TOUCHED_FORCE TOUCHED_TORQUE",
    start=0,
)
StateJoint = IntEnum("StateJoint", "WANTED DEVIATION PUSH GRADIENT TRIAL STEPPED SCRATCH", start=0)

# WRENCH, BIAS: of the sensor, SENSOR; TELE: increment of the device; FURTHER: displacement of NOM by another module
InputSix = IntEnum("InputSix", "WRENCH BIAS TELE FURTHER", start=0)
# TIME [s] since the start; NOMINAL_KIND: a Nominal; FROZEN 1: sensors add no motion
InputValue = IntEnum("InputValue", "TIME NOMINAL_KIND FROZEN", start=0)
InputJoint = IntEnum("InputJoint", "Q_NOMINAL Q_MEASURED", start=0)


class Law(NamedTuple):
    """Parameters as numbers; selections are 0 or 1."""

    R: FloatArray  # (LawFrame, 3, 3)
    p: FloatArray  # (LawFrame, 3)
    six: FloatArray  # (LawSix, 6)
    value: FloatArray  # (LawValue,)
    joint: FloatArray  # (LawJoint, dof)
    guard: FloatArray  # (n, GUARD_COLUMNS) planes and parts of the tool: `guard_rows.py`


class State(NamedTuple):
    """What the law keeps between samples, and the results of the last sample."""

    R: FloatArray  # (StateFrame, 3, 3)
    p: FloatArray  # (StateFrame, 3)
    six: FloatArray  # (StateSix, 6)
    source: FloatArray  # (Source, 6) displacement of NOM by each source in the last sample
    value: FloatArray  # (StateValue,)
    joint: FloatArray  # (StateJoint, dof)
    pose: FloatArray  # (7,) wanted TN in BASE


class Inputs(NamedTuple):
    """Measurements and nominal motion of one sample."""

    R: FloatArray  # (3, 3) nominal NOM in WORLD, for Nominal.CARTESIAN
    p: FloatArray  # (3,) [m]
    six: FloatArray  # (InputSix, 6)
    value: FloatArray  # (InputValue,)
    joint: FloatArray  # (InputJoint, dof)


def _rows(kind: type[IntEnum], *shape: int) -> FloatArray:
    return np.zeros((len(kind), *shape))


def new_state(dof: int) -> State:
    """State of an arm of `dof` joints without sensor motion."""
    state = State(
        _rows(StateFrame, 3, 3),
        _rows(StateFrame, 3),
        _rows(StateSix, 6),
        _rows(Source, 6),
        _rows(StateValue),
        _rows(StateJoint, dof),
        np.zeros(7),
    )
    state.R[:] = np.eye(3)
    state.six[StateSix.SHARES, :2] = 1.0
    return state


def new_inputs(dof: int) -> Inputs:
    """Inputs of an arm of `dof` joints with all measurements zero."""
    return Inputs(np.eye(3), np.zeros(3), _rows(InputSix, 6), _rows(InputValue), _rows(InputJoint, dof))


def law_of(parameters: GcmsfParameters, robot: RobotModel, period: float) -> Law:
    """The law of a parameter set for one arm, stepped every `period` [s]. Raises InvalidValueError."""
    parameters.check_robot(robot.dof)
    law = Law(
        _rows(LawFrame, 3, 3),
        _rows(LawFrame, 3),
        _rows(LawSix, 6),
        _rows(LawValue),
        _rows(LawJoint, robot.dof),
        np.zeros((0, GUARD_COLUMNS)),
    )
    flat = {**parameters.flat(), "com": parameters.system.mass_prop[1:], "gravity": robot.model.gravity.linear}
    for frame in LawFrame:
        T = se3_from_pose(flat[f"tr_{frame.name.lower()}"]) if frame is not LawFrame.SENSOR else sensor_in_tool(robot)
        law.R[frame], law.p[frame] = T.rotation, T.translation
    for six in LawSix:
        values = flat[six.name.lower()]
        law.six[six, : len(values)] = values
    for scalar in LawValue:
        law.value[scalar] = _scalar(flat, scalar, period)
    law.joint[LawJoint.SEL_VECT_LIM] = flat["sel_vect_lim"] or 0.0
    law.joint[LawJoint.LOWER], law.joint[LawJoint.UPPER] = robot.limits.lower, robot.limits.upper
    law.joint[LawJoint.FIELD_SPEED] = FIELD_SHARE * robot.limits.velocity
    return law


def _scalar(flat: Mapping[str, Any], row: LawValue, period: float) -> float:
    derived: dict[LawValue, float] = {
        LawValue.SAMPLE_PERIOD: period,
        LawValue.MASS: flat["mass_prop"][0],
        LawValue.FILTER: period / (period + flat["filter_time"]),
        LawValue.DITHER_WAVE: Wave[flat["dither_wave"].upper()],
        LawValue.TELE_MODE: TeleMode[flat["tele_mode"].upper()],
    }
    return derived[row] if row in derived else flat[row.name.lower()]


def sensor_in_tool(robot: RobotModel) -> pin.SE3:
    """SENSOR in TN (the tool frame), both fixed to the last link; identity when the robot names no sensor."""
    if not robot.sensor_frame:
        return pin.SE3.Identity()
    model, data = robot.model, robot.new_data()
    pin.framesForwardKinematics(model, data, robot.home)
    return data.oMf[robot.tool_frame_id].actInv(data.oMf[model.getFrameId(robot.sensor_frame)])
