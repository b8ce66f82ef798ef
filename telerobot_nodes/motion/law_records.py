"""What the compiled law is told (`Law`), remembers (`State`) and senses (`Inputs`): a few arrays with named rows.

What belongs here: the rows, and the law's arrays made from a parameter set. Rows of one array, not records: a
compiled function is then compiled once for every arm and every row.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.motion.parameters import GcmsfParameters

WAVES = ("triangle", "sine", "square")
TELE_MODES = ("tool", "world", "camera")
NOMINAL_STREAM, NOMINAL_CARTESIAN, NOMINAL_JOINTS = range(3)  # where the nominal motion comes from
SOURCES = ("force", "teleoperation", "dither", "springs", "joint field", "further")  # rows of State.source
FIELD_SHARE = 0.5  # [-] of a joint's velocity limit: fastest motion by the joint field

# Law.R, Law.p: BASE, CAMERA in WORLD; NOM, SENSOR in TN; the others in NOM. The last two are vectors only.
BASE, NOM, FORCE, SENSE, DITHER, TELEOP, CAMERA, SENSOR, COM, GRAVITY = range(10)
# Law.six; the springs' rows have four
SEL_FC, SEL_COMPLY, SETPOINTS, DEAD_ZONE, FORCE_GAINS, MAX_FORCE_VEL = range(6)
DITHER_MAG, DITHER_PERIOD, SEL_SP, SPRING_GAINS, MAX_SPRING_VEL = range(6, 11)
SEL_TP, TELE_GAINS, MAX_TELE_VEL = range(11, 14)
# Law.pair
MAX_SF_VEL, JS_GAIN, JS_THETA, J_SAFETY_LIMIT = range(4)
# Law.value
PERIOD, TRANS_THRESHOLD, ANG_THRESHOLD, MASS = range(4)
MIN_FORCE_THRES, MIN_TORQUE_THRES, MAX_FORCE_THRES, MAX_TORQUE_THRES = range(4, 8)
DITHER_WAVE, TELE_MODE, SEL_SING, FILTER = range(8, 12)  # FILTER: share of a new wrench taken in a sample
# Law.joint
SEL_LIM, LOWER, UPPER, FIELD_SPEED = range(4)

# State.R, State.p: trDel^-1, where NOM is seen from its nominal place; NOM, nominal, in WORLD; TN wanted in BASE.
DEL_INVERSE, NOMINAL, GOAL, SPRING_VECTOR = range(4)  # the last: orientation spring [rad], vector only
# State.six
DITHER_APPLIED, DITHER_STEP, TELE_PENDING, SENSE_WRENCH, FORCE_ERROR, STEP, FIELD_TWIST = range(7)
SMOOTH_WRENCH = 7  # SENSE, filtered
# State.value
TRANS, ANGLE, FELT_FORCE, FELT_TORQUE, JOINT_MARGIN, SIGMA, RESIDUAL = range(7)
LAST_JOINT_MARGIN, LAST_SIGMA, NEAREST_JOINT, TOUCHED_FORCE, TOUCHED_TORQUE = range(7, 12)
# State.joint
WANTED, DEVIATION, PUSH, GRADIENT, TRIAL, STEPPED, SCRATCH = range(7)

# Inputs.R, Inputs.p: nominal NOM in WORLD, when NOMINAL_CARTESIAN
MOTION = 0
# Inputs.six: SENSOR, SENSOR, device, NOM
WRENCH, BIAS, TELE, FURTHER = range(4)
# Inputs.value: [s] since the start; NOMINAL_*; 1: sensors add no motion
TIME, NOMINAL_KIND, FROZEN = range(3)
# Inputs.joint
Q_NOMINAL, Q_MEASURED = range(2)


class Law(NamedTuple):
    """Parameters as numbers, selections as 0 and 1."""

    R: FloatArray  # (8, 3, 3)
    p: FloatArray  # (10, 3)
    six: FloatArray  # (14, 6)
    pair: FloatArray  # (4, 2)
    value: FloatArray  # (12,)
    joint: FloatArray  # (4, dof)


class State(NamedTuple):
    """What lasts from sample to sample, and what was found in the last one."""

    R: FloatArray  # (3, 3, 3)
    p: FloatArray  # (4, 3)
    six: FloatArray  # (8, 6)
    source: FloatArray  # (6, 6) displacement of NOM by each of SOURCES in the last sample
    value: FloatArray  # (12,)
    joint: FloatArray  # (7, dof)
    share: FloatArray  # (2,) of the sum's offset and rotation that `max_sf_vel` left
    pose: FloatArray  # (7,) tool wanted, BASE


class Inputs(NamedTuple):
    """What one sample senses."""

    R: FloatArray  # (1, 3, 3)
    p: FloatArray  # (1, 3)
    six: FloatArray  # (4, 6)
    value: FloatArray  # (3,)
    joint: FloatArray  # (2, dof)


def new_state(dof: int) -> State:
    """A state in which nothing has moved."""
    z = np.zeros
    state = State(z((3, 3, 3)), z((4, 3)), z((8, 6)), z((6, 6)), z(12), z((7, dof)), z(2), z(7))
    state.R[:] = np.eye(3)
    state.share[:] = 1.0
    return state


def new_inputs(dof: int) -> Inputs:
    """Inputs that sense nothing."""
    z = np.zeros
    return Inputs(np.eye(3).reshape(1, 3, 3), z((1, 3)), z((4, 6)), z(3), z((2, dof)))


def law_of(parameters: GcmsfParameters, robot: RobotModel, period: float) -> Law:
    """The law of a parameter set for one arm, stepped every `period` [s]. Raises InvalidValueError."""
    parameters.check_robot(robot.dof)
    z = np.zeros
    law = Law(z((8, 3, 3)), z((10, 3)), z((14, 6)), z((4, 2)), z(12), z((4, robot.dof)))
    for row, T in enumerate(_frames(parameters, robot)):
        law.R[row], law.p[row] = T.rotation, T.translation
    law.p[COM] = parameters.system.mass_prop[1:]
    law.p[GRAVITY] = robot.model.gravity.linear
    _fill_six(law, parameters)
    _fill_values(law, parameters, period)
    joints = parameters.joints
    law.pair[MAX_SF_VEL] = parameters.fusion.max_sf_vel
    law.pair[JS_GAIN], law.pair[JS_THETA] = joints.js_gain, joints.js_theta
    law.pair[J_SAFETY_LIMIT] = joints.j_safety_limit
    law.joint[SEL_LIM] = joints.sel_vect_lim or 0.0
    law.joint[LOWER], law.joint[UPPER] = robot.limits.lower, robot.limits.upper
    law.joint[FIELD_SPEED] = FIELD_SHARE * robot.limits.velocity
    return law


def _frames(parameters: GcmsfParameters, robot: RobotModel) -> tuple[pin.SE3, ...]:
    force, tele = parameters.force, parameters.teleoperation
    return (
        parameters.system.se3("tr_base"),
        parameters.trajectory.se3("tr_nom"),
        force.se3("tr_force"),
        force.se3("tr_sense"),
        parameters.dither.se3("tr_dither"),
        tele.se3("tr_teleop"),
        tele.se3("tr_camera"),
        sensor_in_tool(robot),
    )


def _fill_six(law: Law, parameters: GcmsfParameters) -> None:
    force, dither, tele = parameters.force, parameters.dither, parameters.teleoperation
    rows = {
        SEL_FC: force.sel_vect_fc,
        SEL_COMPLY: force.comply_vect,
        SETPOINTS: force.force_setpoints,
        DEAD_ZONE: force.dead_zone,
        FORCE_GAINS: force.force_gains,
        MAX_FORCE_VEL: force.max_force_vel,
        DITHER_MAG: dither.dither_mag,
        DITHER_PERIOD: dither.dither_period,
        SEL_SP: parameters.springs.sel_vect_sp,
        SPRING_GAINS: parameters.springs.spring_gains,
        MAX_SPRING_VEL: parameters.springs.max_spring_vel,
        SEL_TP: tele.sel_vect_tp,
        TELE_GAINS: tele.tele_gains,
        MAX_TELE_VEL: tele.max_tele_vel,
    }
    for row, values in rows.items():
        law.six[row, : len(values)] = values


def _fill_values(law: Law, parameters: GcmsfParameters, period: float) -> None:
    force, fusion = parameters.force, parameters.fusion
    values = {
        PERIOD: period,
        TRANS_THRESHOLD: fusion.trans_threshold,
        ANG_THRESHOLD: fusion.ang_threshold,
        MASS: parameters.system.mass_prop[0],
        MIN_FORCE_THRES: force.min_force_thres,
        MIN_TORQUE_THRES: force.min_torque_thres,
        MAX_FORCE_THRES: force.max_force_thres,
        MAX_TORQUE_THRES: force.max_torque_thres,
        DITHER_WAVE: WAVES.index(parameters.dither.dither_wave),
        TELE_MODE: TELE_MODES.index(parameters.teleoperation.tele_mode),
        SEL_SING: parameters.joints.sel_vect_sing,
        FILTER: period / (period + force.filter_time),
    }
    for row, value in values.items():
        law.value[row] = value


def sensor_in_tool(robot: RobotModel) -> pin.SE3:
    """SENSOR in TN (the tool frame), both fixed to the last link; identity when the robot names no sensor."""
    if not robot.sensor_frame:
        return pin.SE3.Identity()
    model, data = robot.model, robot.new_data()
    pin.framesForwardKinematics(model, data, robot.home)
    return data.oMf[robot.tool_frame_id].actInv(data.oMf[model.getFrameId(robot.sensor_frame)])
