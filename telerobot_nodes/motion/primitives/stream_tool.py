"""Sensor motion on top of a plan's windows [GCMSF]: force, compliance, springs, joint field, force field.

What belongs here: the inputs of the law and the supervision of the sensor. The law itself is `law/fusion.py`.
"""

from __future__ import annotations

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.motion.law import FusedTool, Fusion, InputJoint, InputSix, StateSix
from telerobot_nodes.motion.parameters import GcmsfParameters
from telerobot_nodes.motion.primitives.sensor_watch import SensorWatch


class StreamTool:
    """The ToolMotion of a ControlStep that follows windows under a parameter set. One thread."""

    def __init__(self, robot: RobotModel, period: float, parameters: GcmsfParameters) -> None:
        self._fusion = Fusion(robot, period, parameters)
        self._tool = FusedTool(self._fusion)
        self._feels = parameters.feels
        self._frozen_time = parameters.force.frozen_time
        self.pose = self._tool.pose
        self.monitor = 0  # Termination that asks for a stop; 0: none
        self._sensor = SensorWatch()

    def reset(self, q: FloatArray) -> None:
        """Start at rest at `q` (dof,) [rad]."""
        self._tool.reset(q)
        self.monitor = 0
        self._sensor.valid = True

    def measure(self, q: FloatArray) -> None:
        """Set the measured joints (dof,) [rad], finite."""
        self._fusion.inputs.joint[InputJoint.Q_MEASURED] = q

    def set_wrench(self, at: float, wrench: FloatArray) -> None:
        """Set the wrench (6,) [N], [N m] of the tool on the environment, SENSOR, received at `at` [s]."""
        self._sensor.receive(at, wrench, self._fusion.inputs.six[InputSix.WRENCH])

    def add_displacement(self, displacement: FloatArray) -> None:
        """Add a displacement of NOM (6,) [m], [rad] by a force field to the next sample; finite."""
        self._fusion.inputs.six[InputSix.FURTHER] += displacement

    def teleoperate(self, increment: FloatArray) -> None:
        """Add a motion of the operator's device (6,) [m], [rad]; finite."""
        self._fusion.inputs.six[InputSix.TELE] += increment

    def tare(self) -> None:
        """Take the latest wrench as no contact."""
        inputs = self._fusion.inputs
        self._fusion.tare(inputs.joint[InputJoint.Q_MEASURED], inputs.six[InputSix.WRENCH])
        self._sensor.expect_another_force()

    def step(self, now: float, q_nominal: FloatArray, q_wanted: FloatArray, frozen: bool) -> None:
        """Write the wanted joints into `q_wanted` (dof,) [rad]; `frozen`: sensors add no motion."""
        force, q = self._fusion.state.six[StateSix.SENSE_WRENCH][:3], self._fusion.inputs.joint[InputJoint.Q_MEASURED]
        self._sensor.feel(force, q)  # of the sample before
        sensor = int(self._sensor.check(now, self._frozen_time)) if self._feels else 0
        self._tool.step(now, q_nominal, q_wanted, frozen or sensor != 0)
        self.monitor = self.monitor or sensor or self._tool.monitor
