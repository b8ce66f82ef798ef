"""Executive and physics stepped together, deterministically, as fast as the machine allows: primitives offline."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.hardware import MujocoArm, ServoReference
from telerobot_nodes.motion.law import Termination
from telerobot_nodes.motion.primitives import Executive, PrimitiveRequest

SERVO_PERIOD = 0.001  # [s]
SETTLE = 0.2  # [s] at rest before the sensor is tared
PREPARING = 0.02  # [s] at rest between two primitives, while the next is prepared


@dataclass(frozen=True)
class PrimitiveEnd:
    """How one primitive ended. `reason` RUNNING: it was refused, as `refusal` says."""

    reason: Termination
    refusal: str = ""
    elapsed: float = 0.0  # [s]
    readings: Mapping[str, float] = dataclasses.field(default_factory=dict)


class PrimitiveRig:
    """One arm in physics that runs primitives, at rest between them.

    In each control period it reads the sensors, steps the executive, and runs the joint servo and the physics.
    """

    def __init__(self, robot: RobotModel, period: float, arm: MujocoArm, q: FloatArray, opening: float) -> None:
        """`q` (dof,) [rad], `opening` [m]: where the arm starts; `place` puts it there."""
        self.robot, self.period, self.arm = robot, period, arm
        self.executive = Executive(robot, period)
        self.now = 0.0
        self._q, self._opening = q.copy(), opening

    @property
    def q(self) -> FloatArray:
        """The setpoint (dof,) [rad]."""
        return self._q.copy()

    def place(self) -> None:
        """Place the arm at its start and tare the sensor."""
        self.arm.robot = dataclasses.replace(self.robot, home=self._q)
        self.arm.open(0.0)
        felt = []
        for _ in range(max(round(SETTLE / self.period), 2)):
            self._serve(self._q, np.zeros(self.robot.dof), np.zeros(self.robot.dof))
            felt.append(self.arm.read().wrench_sensor)
        self.executive.measure(self.arm.read().position)
        self.executive.set_wrench(0.0, np.mean(felt[len(felt) // 2 :], axis=0))
        self.executive.tare()

    def execute(self, request: PrimitiveRequest, until: float) -> PrimitiveEnd:
        """Run a primitive to its end; it is stopped at the simulated time `until` [s]."""
        executive = self.executive
        try:
            prepared = executive.prepare(request, self._q.copy(), self.arm.read().gripper)
        except InvalidValueError as error:
            return PrimitiveEnd(Termination.RUNNING, str(error))
        self.hold(PREPARING)
        executive.begin(self.now, self._q, prepared)
        while executive.running:
            if self.now > until:
                executive.stop()
            self._period()
        status = executive.status(self.now)
        return PrimitiveEnd(Termination(status.reason), "", status.elapsed, dict(status.readings))

    def hold(self, seconds: float) -> None:
        """Keep still for a time [s]."""
        for _ in range(max(round(seconds / self.period), 1)):
            self._period()

    # for a rig with more around the arm --------------------------------------------------------------------------

    def before_step(self) -> None:
        """Called in each control period, after the sensors were read."""

    def after_physics(self) -> None:
        """Called after each step of the physics."""

    def after_step(self) -> None:
        """Called after each control period."""

    def _period(self) -> None:
        """Run one control period."""
        self.now += self.period
        executive, measured = self.executive, self.arm.read()
        executive.measure(measured.position)
        executive.set_wrench(self.now, measured.wrench_sensor)
        executive.measure_gripper(self.now, measured.gripper)
        self.before_step()
        if executive.running:
            executive.step(self.now)
            self._serve(executive.setpoint.q, executive.setpoint.qd, executive.setpoint.qdd)
        else:
            self._serve(self._q, np.zeros(self.robot.dof), np.zeros(self.robot.dof))
        self.after_step()

    def _serve(self, q: FloatArray, qd: FloatArray, qdd: FloatArray) -> None:
        """Run servo and physics for one control period, with the setpoint reached at its end."""
        gripper = self.executive.gripper
        if gripper.width >= 0.0:
            self._opening = gripper.width
        count = round(self.period / SERVO_PERIOD)
        for k in range(count):
            part = (k + 1) / count
            self.arm.command(ServoReference(self._q + part * (q - self._q), qd, qdd, self._opening, gripper.force))
            self.arm.step(self.now)
            self.after_physics()
        self._q = q.copy()
