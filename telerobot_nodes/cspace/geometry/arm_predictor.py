"""Where an arm will be in a moment, by its dynamic model [US5347459 claim 7]."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray


class ArmPredictor:
    """Predicts the configuration of an arm from its dynamic model. One thread."""

    def __init__(self, robot: RobotModel) -> None:
        self._model, self._data = robot.model, robot.new_data()
        self._lower, self._upper = np.array(robot.limits.lower), np.array(robot.limits.upper)

    def predict(self, q: FloatArray, v: FloatArray, effort: FloatArray | None, horizon: float) -> FloatArray:
        """Configuration (n,) [rad] `horizon` [s] on, from `q`, velocity `v` [rad/s] and joint efforts (n,) [N m].

        Without efforts those that keep `v` are assumed.
        """
        ahead = q + horizon * v
        if effort is not None:
            ahead += 0.5 * horizon**2 * pin.aba(self._model, self._data, q, v, effort)
        return np.asarray(np.clip(ahead, self._lower, self._upper))
