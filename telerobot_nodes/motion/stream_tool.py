"""A plan stream under the whole law [GCMSF]: force, compliance, springs, joint field, force field on top of windows.

What belongs here: what the loop feeds to the law, and the sensor's watch. The law itself is `fusion.py`.
"""

from __future__ import annotations

import numpy as np

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.motion.fusion import FusedTool, Fusion
from telerobot_nodes.motion.law_records import FURTHER, Q_MEASURED, TELE, WRENCH
from telerobot_nodes.motion.monitors import Termination
from telerobot_nodes.motion.parameters import GcmsfParameters
from telerobot_nodes.motion.primitive import SENSOR_TIMEOUT


class StreamTool:
    """The ToolMotion of a ControlStep that follows windows under a parameter set. One thread."""

    def __init__(self, robot: RobotModel, period: float, parameters: GcmsfParameters) -> None:
        self._fusion = Fusion(robot, period, parameters)
        self._tool = FusedTool(self._fusion)
        self._feels = parameters.feels
        self._frozen_time = parameters.force.frozen_time
        self.pose = self._tool.pose
        self.monitor = 0  # Termination that asks for a stop; 0: none
        self._felt_at = self._changed_at = -np.inf
        self._valid = True

    def reset(self, q: FloatArray) -> None:
        """At rest at `q` (dof,) [rad]."""
        self._tool.reset(q)
        self.monitor = 0
        self._valid = True

    def measure(self, q: FloatArray) -> None:
        """Measured joints (dof,) [rad], finite."""
        self._fusion.inputs.joint[Q_MEASURED] = q

    def feel(self, at: float, wrench: FloatArray) -> None:
        """Wrench (6,) [N], [N m] of the tool on the environment, SENSOR, received at `at` [s]."""
        if not np.isfinite(wrench).all():
            self._valid = False
            return
        held = self._fusion.inputs.six[WRENCH]
        if not np.array_equal(wrench, held):
            self._changed_at = at
        held[:] = wrench
        self._felt_at = at

    def push(self, displacement: FloatArray) -> None:
        """A force field's displacement of NOM (6,) [m], [rad] for the next sample, finite."""
        self._fusion.inputs.six[FURTHER] += displacement

    def teleoperate(self, increment: FloatArray) -> None:
        """Motion of the operator's device (6,) [m], [rad], finite."""
        self._fusion.inputs.six[TELE] += increment

    def tare(self) -> None:
        """Take the wrench felt last as no contact."""
        inputs = self._fusion.inputs
        self._fusion.tare(inputs.joint[Q_MEASURED], inputs.six[WRENCH])

    def step(self, now: float, q_nominal: FloatArray, q_wanted: FloatArray, frozen: bool) -> None:
        """Joints wanted into `q_wanted` (dof,) [rad]; `frozen`: sensors add no more motion."""
        sensor = self._watch(now)
        self._tool.step(now, q_nominal, q_wanted, frozen or sensor != 0)
        self.monitor = self.monitor or sensor or self._tool.monitor

    def _watch(self, now: float) -> int:
        if not self._feels:
            return 0
        if not self._valid:
            return int(Termination.INVALID_SENSOR)
        if now - self._felt_at > SENSOR_TIMEOUT:
            return int(Termination.STALE_SENSOR)
        if self._frozen_time and now - self._changed_at > self._frozen_time:
            return int(Termination.FROZEN_SENSOR)
        return 0
