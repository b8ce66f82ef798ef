"""A hand and an arm on the two sides of a link, in one process: what the graph does, without its middleware.

Operator's side: the simulated hand, its device at 100 Hz, `Reflection`. Link: the product's delay lines. Robot's side:
`ControlStep` under a primitive, `Hardware`, the arm in physics above a plate of known stiffness. Time is the rig's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from telerobot_nodes.bench.contact.contact_rig import PLACE, TIP_BEYOND, PlateArm
from telerobot_nodes.bench.contact.simulated_hand import STEP, Person, SimulatedHand
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.hardware import Hardware, Realism, Setpoint
from telerobot_nodes.link import DelayLine, LinkSettings
from telerobot_nodes.motion.law import sensor_in_tool
from telerobot_nodes.motion.loop import ControlStep
from telerobot_nodes.motion.primitives import PrimitiveRequest
from telerobot_nodes.operator.devices import ReflectConfig, Reflection, wrench_at_hand

PERIOD = 0.002  # [s] of the control step
TICK, DEVICE, STATE = 0.005, 0.01, 0.05  # [s] between measurements, samples of the hand, states of the robot
LONGEST = 0.1  # [s] for which one velocity of the device counts, as in `gcmsf_control`
GRIP = 0.02  # [m] opening of the fingers
BYTES = 500  # of a message, for the delay line


@dataclass(frozen=True)
class Wire:
    """The link, and what comes back over it."""

    delay: float  # [s] one way
    jitter: float = 0.0  # [s]
    loss: float = 0.0  # [-]
    reflects: bool = True
    passive: bool = True  # False: the force as it arrives, without the energy observer


class ReflectRig:
    """One hand, one link, one arm. Traces have one row per control period of `press`."""

    def __init__(self, stiffness: float, wire: Wire, person: Person, realism: Realism) -> None:
        self.robot, self.wire = load_robot("arm"), wire
        self.arm = PlateArm(self.robot, stiffness, realism)
        self.hardware, self.control = Hardware(self.robot, arm=self.arm), ControlStep(self.robot, PERIOD)
        self.hand, self.reflection = SimulatedHand(person), Reflection(ReflectConfig())
        settings = LinkSettings(delay=wire.delay, jitter=wire.jitter, loss=wire.loss)
        self._up: DelayLine[FloatArray] = DelayLine(settings, True, realism.realism_seed)
        self._down: DelayLine[FloatArray] = DelayLine(settings, False, realism.realism_seed + 1)
        self._sensor = sensor_in_tool(self.robot)
        self._rotation = self.robot.forward(self.robot.home).rotation  # of the tool in WORLD
        self._wrench, self._late = np.zeros(6), np.zeros(6)  # at the sensor; as it arrived at the operator
        self._on_hand = np.zeros(6)  # wrench that the device holds
        self._hand_before, self._heard = self.hand.place.copy(), -np.inf
        self.now, self._next_tick, self._count, self._number = 10.0, 10.0, 0, 0
        self.force: list[float] = []  # [N] of the tip on the plate
        self.felt: list[float] = []  # [N] of the device on the hand, against pressing
        self.hand_depth: list[float] = []  # [m] of the hand
        self.work: list[float] = []  # [J] of the hand on the device
        self.hardware.open(self.now)
        for _ in range(round(0.5 / PERIOD)):
            self._robot()

    @property
    def running(self) -> bool:
        """True while the primitive runs."""
        return self.control.primitives.running

    @property
    def reason(self) -> str:
        """Why the latest primitive ended."""
        return self.control.primitives.executive.reason.name

    def begin(self, name: str, values: Mapping[str, Any]) -> None:
        """Begin a primitive. Raises TelerobotError when the loop rejects it."""
        self._number += 1
        executive, q = self.control.primitives.executive, self.control.output.q.copy()
        refusal = self.control.begin(
            self.now, self._number, executive.prepare(PrimitiveRequest(self._number, name, values), q)
        )
        if refusal:
            raise TelerobotError(refusal)

    def go_over(self, height: float) -> None:
        """Put the tip at `height` [m] above the plate, at rest, and tare the sensor."""
        above = PLACE + np.array([0.0, 0.0, height + TIP_BEYOND])
        T = pin.SE3(self.robot.forward(self.robot.home).rotation, above)
        free = {"max_force_thres": 0.0, "max_torque_thres": 0.0, "end_time": 0.5}
        self.begin("gcm", {"tr_tn_dest": pin.SE3ToXYZQUAT(T).tolist(), "time_vel_val": 0.2, **free})
        while self.running or self.control.primitives.confirming:
            self._robot()
        self.hardware.tare()
        self._measure()
        self.control.tare()

    def press(self, seconds: float) -> None:
        """Let the person press for a time, or until the primitive ends."""
        for _ in range(round(seconds / PERIOD)):
            if not self.running:
                return
            for _ in range(round(PERIOD / STEP)):
                self.hand.step(self._on_hand[:3])
            self._robot()
            self._operator()
            self.force.append(self.arm.contact_force)
            self.felt.append(float(self._on_hand[2]))
            self.hand_depth.append(-float(self.hand.place[2]))
            self.work.append(self.hand.work)

    def _operator(self) -> None:
        """The operator's host: what has arrived, and a sample of the device."""
        for wrench in self._down.due(self.now):
            self._late = wrench
            self.reflection.receive(self.now, wrench)
        if self._count % round(DEVICE / PERIOD):
            return
        velocity = np.zeros(6)
        velocity[:3] = (self.hand.place - self._hand_before) / DEVICE
        self._hand_before = self.hand.place.copy()
        self._up.push(self.now, velocity, BYTES)
        if self.wire.reflects:
            passive = self.reflection.wrench(self.now, velocity)
            self._on_hand = passive if self.wire.passive else -self._late

    def _robot(self) -> None:
        """One period of the robot's host: measurements, the hand's motion as it arrives, the control step, physics."""
        self.now += PERIOD
        self._count += 1
        while self._next_tick <= self.now + 1e-9:
            self.hardware.step(self._next_tick)
            self._next_tick += TICK
            self._measure()
        for velocity in self._up.due(self.now):
            gap, self._heard = min(self.now - self._heard, LONGEST), self.now
            self.control.teleoperate(velocity * gap)
        out = self.control.step(self.now)
        if out.commanding:
            joints = (out.q.copy(), out.qd.copy(), out.qdd.copy())
            setpoint: Any = Setpoint(out.number, self.now, *joints, GRIP)
            self.hardware.command(self.now, setpoint)
        if self._count % round(STATE / PERIOD) == 0:
            self._down.push(self.now, wrench_at_hand(self._wrench, self._sensor, self._rotation), BYTES)

    def _measure(self) -> None:
        measured, status = self.hardware.measured(), self.hardware.status()
        self.control.measure(self.now, measured.position, measured.velocity)
        self.control.set_wrench(self.now, measured.wrench_sensor)
        self.control.set_hardware(status.state, status.reason, self.now, status.gripper)
        fingers = (status.gripper, status.gripper_reference)
        self.control.arrival.hardware(self.now, status.setpoint_number, *fingers)
        self._wrench = measured.wrench_sensor
        self._rotation = self.robot.forward(measured.position).rotation
