"""An arm behind another driver's topics: measurements in, commands out, and every trouble by its name.

Rules: the first trouble is kept until `engage`, which is only possible once it is over and the arm rests; then
commands begin at the measured position. Between them nothing is sent, so the arm cannot jump when it comes back.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.hardware import Measured, ServoReference, Setpoint
from telerobot_nodes.hardware.ros2_control.commander import STALL, Commander, End
from telerobot_nodes.hardware.ros2_control.joint_feed import JointFeed, JointSample
from telerobot_nodes.hardware.ros2_control.options import CommandMode, Ros2ControlOptions, driver_names
from telerobot_nodes.hardware.ros2_control.trouble import AT_ONCE, Fault, Trouble
from telerobot_nodes.hardware.ros2_control.wrench_feed import WrenchFeed

GOOD_FOR = 0.2  # [s] without a bad message before commands may begin again
AT_REST = 0.05  # [rad/s]
LATENCY = 0.1  # [s] of the arm behind its commands, which is no following error
FOLLOW_TIME = 0.1  # [s] how long a larger following error may last


class RemoteArm:
    """`ArmHardware` without the transport. `receive_*` run on the transport's thread, `commander.next` on another."""

    def __init__(
        self, robot: RobotModel, period: float, options: Ros2ControlOptions, listen_only: bool = False
    ) -> None:
        """`period` [s] is that of `step`. `listen_only`: no command is ever sent."""
        self.robot, self.options, self.listen_only = robot, options, listen_only
        finger = options.gripper.joint if options.gripper else ""
        self.names = driver_names(robot, options)
        self.commander = Commander(robot.limits, 1.0 / options.rate, options.command is CommandMode.VELOCITY)
        self.opening = robot.gripper.max_opening if robot.gripper else 0.0  # [m] commanded
        self.grip_force = 0.0  # [N] commanded; 0: the gripper's own maximum
        self.running = True  # as the arm reports it
        self.listening = True  # whether a controller subscribes to the commands
        self._joints = JointFeed(self.names, robot.limits, finger)
        self._wrench = WrenchFeed(options.wrench, options.silence)
        self._period = period
        self._home = np.array(robot.home)
        self._fault: Fault | None = Fault(Trouble.UNHEARD, "not connected")
        self._bad: tuple[float, Fault] | None = None
        self._wanted: ServoReference | None = None
        self._lost_since: float | None = None
        self._now = -np.inf

    # on the transport's thread -------------------------------------------------------------------------------

    def receive_joints(
        self,
        received: float,
        stamp: float,
        names: Sequence[str],
        position: Sequence[float],
        velocity: Sequence[float] = (),
        effort: Sequence[float] = (),
    ) -> None:
        """Take joint states received at `received` [s] with the driver's own `stamp` [s]."""
        self._note(received, self._joints.receive(received, stamp, names, position, velocity, effort))

    def receive_wrench(self, received: float, stamp: float, frame: str, wrench: Sequence[float]) -> None:
        """Take a wrench (6,) [N], [N m]."""
        self._note(received, self._wrench.receive(received, stamp, frame, wrench))

    def _note(self, received: float, fault: Fault | None) -> None:
        if fault is not None:
            self._bad = received, fault
            self._latch(fault)

    def _latch(self, fault: Fault) -> None:
        if self._fault is None:
            self._fault = fault
            self.commander.end(End.NOW if fault.trouble in AT_ONCE else End.AT_REST)

    # ArmHardware ---------------------------------------------------------------------------------------------

    @property
    def healthy(self) -> str:
        """Empty while the arm follows, else the first trouble since `engage`."""
        return str(self._fault or "")

    @property
    def trouble(self) -> Trouble | None:
        """Cause of the fault; None while the arm follows."""
        return self._fault.trouble if self._fault else None

    @property
    def sample(self) -> JointSample | None:
        """The newest good measurement."""
        return self._joints.latest

    @property
    def position(self) -> FloatArray:
        """Latest measured joint positions (dof,) [rad]; home before the first."""
        return self._home if self.sample is None else self.sample.position

    def open(self, now: float) -> None:
        """Begin at the measured position, if the arm is there."""
        self._now = now
        self.engage()

    def engage(self) -> str:
        """Begin again at the measured position; returns why not, or ""."""
        present = self._present()
        if present is not None:
            self._fault = present
            self.commander.end(End.NOW)
            return str(present)
        self._lost_since = self._wanted = None
        if not self.listen_only:
            self.commander.engage(self.position)
        self._fault = None
        return ""

    def _present(self) -> Fault | None:
        """What stands against commands at present."""
        if self._bad is not None and self._now - self._bad[0] < GOOD_FOR:
            return self._bad[1]
        fault = self._state()
        if fault is not None:
            return fault
        speed = np.abs(self._joints.latest.velocity).max()  # type: ignore[union-attr]
        return Fault(Trouble.MOVING, f"{speed:.2f} rad/s; commands begin at rest") if speed > AT_REST else None

    def _state(self) -> Fault | None:
        options, sample = self.options, self.sample
        where = f"{options.namespace}/{options.joint_states}"
        if sample is None:
            return Fault(Trouble.UNHEARD, f"no joint states on {where}")
        if self._now - sample.time > options.silence:
            return Fault(Trouble.SILENT, f"no new joint states on {where} for {options.silence:g} s")
        if not self.running:
            return Fault(Trouble.NOT_RUNNING, f"{options.running_topic} is false")
        if not self.listening:
            return Fault(Trouble.NO_CONTROLLER, f"nobody subscribes to {options.namespace}/{options.command_to}")
        return None

    def read(self) -> Measured:
        """The latest measurement; its time is minus infinity before the first."""
        sample, wrench = self.sample, self._wrench.at(self._now)
        if sample is None:
            zero = np.zeros(self.robot.dof)
            return Measured(-np.inf, self._home.copy(), zero, zero.copy(), wrench, 0.0)
        opening = self._opening(sample.finger)
        return Measured(
            sample.time, sample.position.copy(), sample.velocity.copy(), sample.effort.copy(), wrench, opening
        )

    def _opening(self, finger: float) -> float:
        gripper, model = self.options.gripper, self.robot.gripper
        if gripper is None or model is None:
            return 0.0
        return (finger - gripper.closed) / (gripper.open - gripper.closed) * model.max_opening

    @property
    def finger(self) -> float:
        """Wanted position of the gripper's joint; NaN without a gripper."""
        gripper, model = self.options.gripper, self.robot.gripper
        if gripper is None or model is None:
            return float("nan")
        return gripper.closed + (gripper.open - gripper.closed) * self.opening / model.max_opening

    def command(self, reference: ServoReference) -> None:
        """Set the reference of the next period."""
        self._wanted = reference

    def step(self, now: float) -> None:
        """Pass the reference on, and look for trouble."""
        self._now = now
        fault = self._state() or self._following(now)
        if fault is not None:
            self._latch(fault)
        wanted = self._wanted
        if self._fault is None and wanted is not None:
            start = now - self._period  # the reference is the state at the period's start
            self.commander.follow(Setpoint(0, start, wanted.position, wanted.velocity, wanted.acceleration))
            self.opening, self.grip_force = wanted.gripper, wanted.gripper_force

    def _following(self, now: float) -> Fault | None:
        """The fault of a chain that was interrupted, or of an arm that is not where it was sent."""
        if not self.commander.engaged:
            return None
        if self.commander.stalled:
            return Fault(Trouble.STALLED, f"no new reference for {STALL:g} s")
        error = np.abs(self.commander.position - self.position)
        beyond = error - LATENCY * np.abs(self.commander.velocity) - self.options.following_error
        worst = int(beyond.argmax())
        if beyond[worst] <= 0.0:
            self._lost_since = None
        elif self._lost_since is None:
            self._lost_since = now
        elif now - self._lost_since > FOLLOW_TIME:
            return Fault(Trouble.NOT_FOLLOWING, f"{self.names[worst]} is {error[worst]:.3f} rad from its command")
        return None

    def close(self) -> None:
        """Send nothing more; the arm is left holding."""
        self.commander.end(End.NOW)
