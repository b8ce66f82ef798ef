"""Poses of all links of the arm, for displays that draw the robot from transforms."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.robot.robot import RobotModel
from telerobot_nodes.core.values import FloatArray, finite_array


class LinkFrames:
    """Poses of the links of one robot."""

    def __init__(self, robot: RobotModel) -> None:
        self._robot = robot
        self._data = robot.new_data()
        bodies = [i for i, frame in enumerate(robot.model.frames) if frame.type == pin.FrameType.BODY]
        self._frames = {robot.model.frames[i].name: i for i in bodies}

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the links, as in the URDF."""
        return tuple(self._frames)

    def poses(self, q: FloatArray) -> FloatArray:
        """(n, 7) x y z [m], qx qy qz qw of each link in WORLD at joints `q` (dof,) [rad]."""
        pin.framesForwardKinematics(self._robot.model, self._data, finite_array(q, "q", self._robot.dof))
        return np.array([pin.SE3ToXYZQUAT(self._data.oMf[i]) for i in self._frames.values()])
