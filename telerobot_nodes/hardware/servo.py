"""Joint servo: computed torque, so that the arm follows the reference as if every joint were a unit inertia.

tau = M(q) (qdd_ref + Kd (qd_ref - qd) + Kp (q_ref - q)) + C(q, qd) qd + g(q), saturated at the effort limits
[Siciliano et al., Robotics: Modelling, Planning and Control, section 8.5].
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.validation import FloatArray

BANDWIDTH = 100.0  # [rad/s] of the error's two equal poles; a tenth of the 1 kHz sampling


class JointServo:
    """Torques for one arm; one thread each."""

    def __init__(self, robot: RobotModel, bandwidth: float = BANDWIDTH) -> None:
        self._model = robot.model
        self._data = robot.new_data()
        self._effort = robot.limits.effort
        self._kp = bandwidth**2
        self._kd = 2.0 * bandwidth
        self._wanted = np.zeros(robot.dof)
        self._error = np.zeros(robot.dof)
        self.saturated = 0  # periods in which an effort limit was reached
        self.tracking_error = 0.0  # [rad] largest joint error of the last period

    def torque(
        self, q: FloatArray, qd: FloatArray, q_ref: FloatArray, qd_ref: FloatArray, qdd_ref: FloatArray
    ) -> FloatArray:
        """Joint torques (dof,) [N m] inside the effort limits."""
        error, wanted = self._error, self._wanted
        np.subtract(q_ref, q, out=error)
        np.subtract(qd_ref, qd, out=wanted)
        wanted *= self._kd
        wanted += self._kp * error
        wanted += qdd_ref
        self.tracking_error = float(np.abs(error).max())
        torque = pin.rnea(self._model, self._data, q, qd, wanted)
        limited = np.minimum(np.maximum(torque, -self._effort), self._effort)
        if not np.array_equal(limited, torque):
            self.saturated += 1
        return limited
