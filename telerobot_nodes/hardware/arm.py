"""The hardware interface of one arm: setpoint checks, reference, watchdog, e-stop, pacing and tare around a driver.

Rules: a rejected setpoint changes nothing; without a fresh setpoint, and on e-stop or fault, the reference comes to
rest inside the acceleration limits and holds; only a reset leaves e-stop or fault, and then the arm holds.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace

import numpy as np

from telerobot_nodes.core.protocol import HardwareState
from telerobot_nodes.core.robot import HandWeight, RobotModel
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.hardware.estop import Event, Readiness
from telerobot_nodes.hardware.interface import ArmHardware, Measured, ServoReference
from telerobot_nodes.hardware.pacer import Pacer
from telerobot_nodes.hardware.realism import Realism
from telerobot_nodes.hardware.reference import Reference
from telerobot_nodes.hardware.setpoint import SetpointLike, check_engagement, check_setpoint
from telerobot_nodes.hardware.watchdog import Watchdog

FINGER_SPEED = 0.1  # [m/s] of the opening
LOST_ERROR = 0.3  # [rad] largest tracking error
LOST_TIME = 0.1  # [s] how long a larger one may last before it is a fault
REST_SPEED = 1e-3  # [rad/s] of a joint, below which it is at rest
TARE_READINGS = 20  # a tare is the mean of these latest measurements: 0.1 s at 200 Hz


@dataclass(frozen=True)
class HardwareStatus:
    """`HardwareState.msg` as a value."""

    state: HardwareState
    reason: str
    setpoint_number: int
    refused: int
    refusal: str
    saturated: int
    gripper: float  # [m]
    gripper_reference: float  # [m] commanded to the fingers at present; NaN: no gripper
    tracking_error: float  # [rad]
    real_time_factor: float
    watchdog_trips: int
    dropped_time: float  # [s] simulated time skipped because the host was late


class Hardware:
    """One arm served at `period` [s]. All methods are called from one thread; `now` is the host's monotonic clock."""

    def __init__(
        self,
        robot: RobotModel,
        period: float = 0.001,
        arm: ArmHardware | None = None,
        task_board: bool = True,
        realism: Realism | None = None,
    ) -> None:
        if arm is None:
            from telerobot_nodes.hardware.mujoco_arm import MujocoArm

            arm = MujocoArm(robot, period, task_board, realism)
        self.robot = robot
        self.period = period
        self.arm = arm
        self._readiness = Readiness()
        self._watchdog = Watchdog()
        self._reference = Reference(robot.limits, period, np.array(robot.home))
        self._pacer: Pacer | None = None
        self._present = np.zeros(robot.dof), np.zeros(robot.dof)
        self._hand = HandWeight(robot)
        self._bias = np.zeros(6)
        self._raw, self._felt = np.zeros(6), np.zeros(6)  # the latest reading, and without the hand's weight
        self._readings: deque[FloatArray] = deque(maxlen=TARE_READINGS)
        self._opening = robot.gripper.max_opening if robot.gripper else 0.0
        self._opening_goal = self._opening
        self._grip_force = 0.0
        self._number = 0
        self._refused = 0
        self._refusal = ""
        self._saturated = 0
        self._fresh_saturation = False
        self._lost_since: float | None = None
        self._error = 0.0

    def open(self, now: float) -> Pacer:
        """Connect to the arm, hold its position, tare the wrist sensor; the first `step` does so if needed."""
        self.arm.open(now)
        self._pacer = Pacer(self.period, now)
        self._reference.hold(self.arm.position)
        self._readings.clear()
        self._hold_fingers(self.measured())
        self.tare()
        return self._pacer

    def command(self, now: float, setpoint: SetpointLike) -> str:
        """Accept a setpoint; returns "", or the reason of the rejection, naming the field."""
        try:
            self._accept(now, setpoint)
        except InvalidValueError as error:
            self._refused += 1
            self._refusal = str(error)
            return self._refusal
        return ""

    def _accept(self, now: float, raw: SetpointLike) -> None:
        if not self._readiness.may_move:
            raise InvalidValueError("setpoint", raw.number, f"not allowed in {self._readiness.state.name}; reset first")
        setpoint = check_setpoint(raw, self.robot.limits, now, self._watchdog.timeout)
        if self._readiness.state is HardwareState.HOLDING:
            check_engagement(setpoint, self._reference.q)
        elif now - setpoint.monotonic >= self._watchdog.age(now):
            raise InvalidValueError("setpoint.monotonic", setpoint.monotonic, "allowed: later than the one before")
        self._readiness.handle(Event.SETPOINT)
        self._watchdog.feed(setpoint.monotonic)
        self._reference.follow(setpoint)
        self._number = setpoint.number
        self._fresh_saturation = True
        if self.robot.gripper is not None:
            stops = setpoint.gripper < 0.0
            self._opening_goal = self._opening if stops else min(setpoint.gripper, self.robot.gripper.max_opening)
            self._grip_force = self._grip_force if stops else setpoint.gripper_force

    def step(self, now: float) -> int:
        """Serve all periods due by `now` [s]; returns their number."""
        pacer = self._pacer or self.open(now)
        due = pacer.due(now)
        for _ in range(due):
            self._serve(pacer.served())
        if due:
            self._check_following(pacer.time)
        return due

    def _serve(self, now: float) -> None:
        if self._watchdog.expired(now) and self._readiness.state is HardwareState.READY:
            self._readiness.handle(Event.STALE, f"no setpoint for {self._watchdog.timeout:g} s")
        if self._readiness.state is not HardwareState.READY:
            self._reference.brake()
        present_q, present_qd = self._present
        present_q[:], present_qd[:] = self._reference.q, self._reference.qd
        if self._reference.advance(now) and self._fresh_saturation:
            self._saturated += 1
            self._fresh_saturation = False
        self._move_fingers()
        # the servo follows the state at the period's start and the acceleration during it
        qdd, force = self._reference.qdd, self._grip_force
        self.arm.command(ServoReference(present_q, present_qd, qdd, self._opening, force))
        self.arm.step(now)

    def _move_fingers(self) -> None:
        if self._readiness.state is HardwareState.READY:
            most = FINGER_SPEED * self.period
            self._opening += min(max(self._opening_goal - self._opening, -most), most)
        else:
            self._opening_goal = self._opening

    def _hold_fingers(self, measured: Measured) -> None:
        """Hold them where they are: what they hold must not fall when this process begins."""
        if self.robot.gripper is not None and np.isfinite((measured.time, measured.gripper)).all():
            self._opening = self._opening_goal = min(max(measured.gripper, 0.0), self.robot.gripper.max_opening)

    def _check_following(self, now: float) -> None:
        trouble = self.arm.healthy
        self._error = float(np.abs(self._reference.q - self.arm.position).max())
        if self._error <= LOST_ERROR:
            self._lost_since = None
        elif self._lost_since is None:
            self._lost_since = now
        elif now - self._lost_since > LOST_TIME:
            trouble = trouble or f"tracking error {self._error:.2f} rad; allowed: {LOST_ERROR:g}"
        if trouble:
            self._readiness.handle(Event.FAULT, trouble)

    def measured(self) -> Measured:
        """The latest measurement; the wrench without the hand's weight, tared."""
        raw = self.arm.read()
        new = raw.wrench_sensor != self._raw  # a channel that stands still must not come to life by subtraction
        wrench = np.where(new, raw.wrench_sensor - self._hand.reading(raw.position), self._felt)
        self._raw, self._felt = raw.wrench_sensor, wrench
        self._readings.append(wrench)
        return replace(raw, wrench_sensor=wrench - self._bias)

    def status(self) -> HardwareStatus:
        """Readiness and counts."""
        pacer = self._pacer
        return HardwareStatus(
            state=self._readiness.state,
            reason=self._readiness.reason,
            setpoint_number=self._number,
            refused=self._refused,
            refusal=self._refusal,
            saturated=self._saturated,
            gripper=self.arm.read().gripper,
            gripper_reference=self._opening if self.robot.gripper else float("nan"),
            tracking_error=self._error,
            real_time_factor=pacer.real_time_factor if pacer else 0.0,
            watchdog_trips=self._watchdog.trips,
            dropped_time=pacer.dropped if pacer else 0.0,
        )

    @property
    def at_rest(self) -> bool:
        """True when the commanded joints stand still."""
        return float(np.abs(self._reference.qd).max()) < REST_SPEED

    def estop(self, reason: str) -> None:
        """Latch the e-stop: come to rest, hold, reject setpoints until `reset`."""
        self._readiness.handle(Event.ESTOP, f"e-stop: {reason}")
        self._reference.brake()

    def reset(self) -> None:
        """Release e-stop or fault; the arm holds where it is.

        Raises TransitionError when nothing is latched, InvalidValueError while the arm's fault lasts.
        """
        state = self._readiness.state
        latched = state in (HardwareState.ESTOP, HardwareState.FAULT)
        faulty = latched and (state is HardwareState.FAULT or bool(self.arm.healthy))
        why = self.arm.engage() if faulty else ""
        if why:
            raise InvalidValueError("reset", state.name, f"not allowed yet: {why}")
        self._readiness.handle(Event.RESET, "reset; no setpoint yet")
        if latched:
            self._lost_since = None
        if faulty or (latched and not self._error <= LOST_ERROR):
            self._reference.hold(self.arm.position)

    def tare(self) -> bool:
        """Take the mean of the latest wrenches as zero: the sensor's offset, and the weight of an undeclared hand.

        False, and nothing changes, while the sensor is silent.
        """
        readings = [row for row in self._readings if np.isfinite(row).all()]
        if not readings or readings[-1] is not self._readings[-1]:
            return False
        self._bias[:] = np.mean(readings, axis=0)
        return True

    def close(self) -> None:
        """Disconnect from the arm."""
        self.arm.close()
