"""Joint servo by computed torque: the arm follows the reference as if every joint were a unit inertia.

tau = M(q) (qdd_ref + Kd (qd_ref - qd) + Kp (q_ref - q)) + C(q, qd) qd + g(q), saturated at the effort limits
[SicilianoEtAl2009], section 8.5.
"""

from __future__ import annotations

import numba
import numpy as np
import pinocchio as pin

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray

BANDWIDTH = 100.0  # [rad/s] of the error's two equal poles; a tenth of the 1 kHz sampling


@numba.njit(cache=True)
def _wanted_acceleration(
    q: FloatArray,
    qd: FloatArray,
    q_ref: FloatArray,
    qd_ref: FloatArray,
    qdd_ref: FloatArray,
    kp: float,
    kd: float,
    out: FloatArray,
) -> float:
    """Write the wanted acceleration (dof,) [rad/s^2] into `out`; returns the largest joint error [rad]."""
    worst = 0.0
    for i in range(q.size):
        error = q_ref[i] - q[i]
        out[i] = qdd_ref[i] + kd * (qd_ref[i] - qd[i]) + kp * error
        worst = max(worst, abs(error))
    return worst


@numba.njit(cache=True)
def _saturate(torque: FloatArray, most: FloatArray, out: FloatArray) -> bool:
    """Write `torque` (dof,) [N m], limited to +-`most`, into `out`; True when a limit changed it."""
    cut = False
    for i in range(torque.size):
        out[i] = min(max(torque[i], -most[i]), most[i])
        cut = cut or out[i] != torque[i]
    return cut


class JointServo:
    """Torques for one arm; one thread each."""

    def __init__(self, robot: RobotModel, bandwidth: float = BANDWIDTH) -> None:
        self._model = robot.model
        self._data = robot.new_data()
        self._effort = robot.limits.effort
        self._kp = bandwidth**2
        self._kd = 2.0 * bandwidth
        self._wanted = np.zeros(robot.dof)
        self._torque = np.zeros(robot.dof)
        self.saturated = 0  # periods in which an effort limit was reached
        self.tracking_error = 0.0  # [rad] largest joint error of the last period

    def torque(
        self, q: FloatArray, qd: FloatArray, q_ref: FloatArray, qd_ref: FloatArray, qdd_ref: FloatArray
    ) -> FloatArray:
        """Joint torques (dof,) [N m] inside the effort limits; the array is the servo's own."""
        self.tracking_error = _wanted_acceleration(q, qd, q_ref, qd_ref, qdd_ref, self._kp, self._kd, self._wanted)
        torque = pin.rnea(self._model, self._data, q, qd, self._wanted)
        if _saturate(torque, self._effort, self._torque):
            self.saturated += 1
        return self._torque
