"""A tool path past the singularity of a wrist whose outer axes come into line."""

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.values import pose_from_se3


def turning_the_wrist(robot, step, side=0.0):
    """Poses (n, 7) of a turn of joint 5 alone from 0.4 to -0.4 rad, `side` [rad] beside; joints (dof,) at its begin."""
    q = np.array(robot.home)
    q[3:] = -1.2, 0.0, 0.0
    axes, T = robot.jacobian(q)[3:], robot.forward(q)
    axis = T.rotation @ np.cross(axes[:, 3], axes[:, 4])
    poses = []
    for q[4] in np.arange(0.4, -0.4, -step):
        T = robot.forward(q)
        poses.append(pose_from_se3(pin.SE3(pin.exp3(side * axis) @ T.rotation, T.translation)))
    q[4] = 0.4
    return np.array(poses), q
