"""A compliant-motion primitive run with an ideal arm, for the claims of [GCMSF]."""

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.motion.law import law_records as lr
from telerobot_nodes.motion.parameters import parameters_from
from telerobot_nodes.motion.primitives import Phase, Primitive

PERIOD = 0.005
# an ideal sensor has no noise: `frozen_time` 0
QUIET = {"max_force_thres": 0, "max_torque_thres": 0, "frozen_time": 0.0, "end_time": 100.0}
ALL = [1] * 6
ARM = load_robot("arm")
HOME = ARM.forward(ARM.home)
SENSOR = lr.sensor_in_tool(ARM)
QUARTER_Z = [0, 0, 0, 0, 0, np.sqrt(0.5), np.sqrt(0.5)]


def play(seconds, q=None, wrench=(0,) * 6, hand=None, hand_rests=np.inf, **values):
    """Run a primitive with an ideal arm; a wrench at TN, the hand's velocity. Returns it with its tool poses."""
    primitive = Primitive(ARM, PERIOD)
    primitive.start(0.0, ARM.home if q is None else q, parameters_from({**QUIET, **values}))
    primitive.poses, primitive.joints = [], []
    at_sensor = SENSOR.actInv(pin.Force(np.array(wrench, float))).vector
    now = 0.0
    for _ in range(round(seconds / PERIOD)):
        now += PERIOD
        primitive.measure(primitive.setpoint.q)
        primitive.set_wrench(now, at_sensor)
        if hand is not None and now <= hand_rests:
            primitive.teleoperate(PERIOD * np.array(hand, float))
        going = primitive.step(now)
        primitive.poses.append(ARM.forward(primitive.setpoint.q))
        primitive.joints.append(primitive.setpoint.q.copy())
        primitive.now = now
        if not going:
            break
    return primitive


def moved(primitive):
    """How the tool moved (6,), seen from home: offset [m], rotation vector [rad]."""
    T = HOME.actInv(primitive.poses[-1])
    return np.concatenate((T.translation, pin.log3(T.rotation)))


def along(T):
    return pin.SE3ToXYZQUAT(HOME * T).tolist()


def shift(x=0.0, y=0.0, z=0.0, turn=(0, 0, 0)):
    return pin.SE3(pin.exp3(np.array(turn, float)), np.array([x, y, z]))


def stops(reason, **values):
    p = play(3, **values)
    assert p.phase is Phase.ENDED
    assert p.reason is reason
    return p
