"""What the wrist sensor reads of the hand's weight: no contact, and to be subtracted before anything reads the wrench.

The arm bears the hand, so a sensor that reads the wrench of the tool on the environment reads minus the weight.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.robot.robot import RobotModel
from telerobot_nodes.core.values import FloatArray

GRAVITY = np.array([0.0, 0.0, -9.81])  # [m/s^2] in WORLD


class HandWeight:
    """The reading of the hand that the arm file declares; zero without one. One thread each."""

    def __init__(self, robot: RobotModel) -> None:
        self._model, self._data = robot.model, robot.new_data()
        self._frame = robot.model.getFrameId(robot.sensor_frame or robot.tool_frame)
        self._mass = robot.hand.mass if robot.hand else 0.0
        self._center = np.array(robot.hand.center if robot.hand else (0.0, 0.0, 0.0))
        self._reading = np.zeros(6)

    def reading(self, q: FloatArray) -> FloatArray:
        """The reading (6,) [N], [N m] in SENSOR at `q` (dof,) [rad]; the array is this object's own."""
        if self._mass > 0.0:
            pin.forwardKinematics(self._model, self._data, q)
            T_world_sensor = pin.updateFramePlacement(self._model, self._data, self._frame)
            self._reading[:3] = -self._mass * (T_world_sensor.rotation.T @ GRAVITY)
            self._reading[3:] = np.cross(self._center, self._reading[:3])
        return self._reading
