"""One step of the control loop: from windows, primitives, halts and measurements to a setpoint inside every limit.

What belongs here: the order of a step, and what stops the arm. What must never enter: clocks, threads, messages.
All times are `now` [s] of one monotonic clock. Nothing here allocates while the arm moves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from telerobot_nodes.core.limits import SetpointLimiter
from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.validation import FloatArray, in_range
from telerobot_nodes.core.window import GRIPPER_UNCHANGED, MotionWindow
from telerobot_nodes.motion.control_records import REASON_BYTES, ControlOutput
from telerobot_nodes.motion.control_state import ControlEvent, ControlState, next_state
from telerobot_nodes.motion.executive import Prepared
from telerobot_nodes.motion.monitors import Termination
from telerobot_nodes.motion.path_clock import PathClock
from telerobot_nodes.motion.preparation import PreparedChange
from telerobot_nodes.motion.primitive_runner import PrimitiveRunner
from telerobot_nodes.motion.tool_motion import NominalTool, ToolMotion
from telerobot_nodes.motion.window_follower import WindowFollower

HARDWARE_READY, HARDWARE_HOLDING, HARDWARE_ESTOP, HARDWARE_FAULT = range(4)  # as in HardwareState.msg

_STILL = 1e-6  # [rad/s] setpoint speed that is rest


@dataclass(frozen=True)
class ControlConfig:
    """What the control step is told once; validated when made. Raises InvalidValueError naming the field."""

    stale_time: float = 0.1  # [s] measured joints older than this stop the arm
    follow_error: float = 0.2  # [rad] the arm farther than this from its setpoint does not follow ...
    follow_time: float = 0.1  # [s] ... when it lasts this long
    halt_guard: float = 0.2  # [s] after a halt no window is adopted: those on their way were made before it

    def __post_init__(self) -> None:
        in_range(self.stale_time, "control.stale_time", 0.005, 10.0, "s")
        in_range(self.follow_error, "control.follow_error", 1e-3, 3.0, "rad")
        in_range(self.follow_time, "control.follow_time", 0.0, 10.0, "s")
        in_range(self.halt_guard, "control.halt_guard", 0.0, 10.0, "s")


class ControlStep:
    """The control law of one arm, stepped every `period` [s]: windows of the plan, or one primitive at a time.

    Feed it what arrives (`measure`, `feel`, `hardware`, `halt`, `offer`, `begin`), then `step(now)`. One thread.
    """

    def __init__(
        self,
        robot: RobotModel,
        period: float,
        config: ControlConfig | None = None,
        tool_motion: ToolMotion | None = None,
    ) -> None:
        self.robot = robot
        self.period = period
        self.config = ControlConfig() if config is None else config
        self.output = ControlOutput(robot.dof)
        self.state = ControlState.FAULT
        self.reason = "no measured joints yet"
        self.follower = WindowFollower(robot.dof, robot.limits)
        self.primitives = PrimitiveRunner(robot, period)
        self._tool = NominalTool(robot) if tool_motion is None else tool_motion
        self._clock = PathClock(robot.limits.acceleration, period)
        self._limiter = SetpointLimiter(robot.limits, period)
        self._goal = np.zeros(robot.dof)  # [rad] wanted setpoint
        self._measured_at = -np.inf
        self._hardware = HARDWARE_READY
        self._hardware_reason = ""
        self._last = -np.inf  # [s] of the last step
        self.output.record["gripper"] = GRIPPER_UNCHANGED
        self._strayed = np.inf  # [s] since when the arm does not follow
        self._deaf_until = -np.inf  # [s] after a halt
        self._path_moves = False  # FAULT: still coming to rest on the path
        self._arm_sought = False  # FAULT: the setpoint has yet to go where the arm is
        self._compile()

    # what arrives ---------------------------------------------------------------------------------------------

    def measure(self, at: float, q: FloatArray, qd: FloatArray) -> None:
        """Measured joints (dof,) [rad], [rad/s] received at `at` [s]; values that are not finite count as silence."""
        if np.isfinite(q).all() and np.isfinite(qd).all():
            self.output.measured_q[:] = q
            self.output.measured_qd[:] = qd
            self._measured_at = at
            self._tool.measure(q)
            self.primitives.executive.measure(q)

    def feel(self, at: float, wrench: FloatArray) -> None:
        """Wrench (6,) [N], [N m] of the tool on the environment, SENSOR, received at `at` [s]."""
        self._tool.feel(at, wrench)
        self.primitives.executive.feel(at, wrench)

    def teleoperate(self, increment: FloatArray) -> None:
        """Motion of the operator's device (6,) [m], [rad], for the primitive that runs."""
        if self.primitives.running:
            self.primitives.executive.teleoperate(increment)

    def push(self, twist: FloatArray) -> None:
        """Velocity (6,) [m/s], [rad/s] of NOM a force field asks for during the next sample."""
        if not np.isfinite(twist).all():
            return
        if self.primitives.running:
            self.primitives.executive.push(twist * self.period)
        else:
            self._tool.push(twist * self.period)

    def tare(self) -> None:
        """Take the wrench felt last as no contact."""
        self._tool.tare()
        self.primitives.executive.tare()

    def hardware(self, state: int, reason: str = "", at: float = 0.0, gripper: float = math.nan) -> None:
        """State of the arm's face (HardwareState.msg); anything but READY and HOLDING is trouble. `gripper` [m]."""
        self._hardware = state
        self.primitives.executive.measure_gripper(at, gripper)
        self._hardware_reason = reason
        self.output.record["estop"] = state == HARDWARE_ESTOP

    def halt(self, now: float, number: int, reason: str) -> None:
        """Come to rest on the path. The same number again is the same halt; lower numbers are old."""
        if number <= self.output.halt:
            return
        self.output.record["halt"] = number
        self._deaf_until = now + self.config.halt_guard
        self._stop(f"halt {number}: {reason}" if reason else f"halt {number}")

    def stop(self, reason: str) -> None:
        """Come to rest on the path, for a reason of the host's own (a monitor, its end)."""
        self._stop(reason)

    def begin(self, now: float, number: int, prepared: Prepared) -> str:
        """Begin a primitive (order `number`) if the arm rests and nothing forbids it; returns "" or the refusal."""
        refusal = self._closed(now, "primitive")
        if not refusal and (self.state is ControlState.TRACKING or not self._still()):
            refusal = "primitive: the arm is not at rest"
        if not refusal:
            refusal = self.primitives.begin(now, self._limiter.q, prepared)
        self.output.record["begun"], self.output.record["begin_refusal"] = number, _bytes(refusal)
        if not refusal:
            self._event(ControlEvent.FOLLOW, "")
        return refusal

    def change(self, now: float, number: int, prepared: PreparedChange) -> str:
        """Change the running primitive's parameters (order `number`); returns "" or the refusal."""
        refusal = self.primitives.change(now, prepared)
        self.output.record["changed"], self.output.record["change_refusal"] = number, _bytes(refusal)
        return refusal

    def stop_primitive(self, number: int, reason: str) -> None:
        """Stop the primitive of this id, 0: whichever runs."""
        if self.primitives.running and number in (0, self.primitives.id):
            self._stop(reason)

    def offer(self, now: float, window: MotionWindow) -> str:
        """Follow `window` if it joins the motion and nothing forbids it; returns "" or the refusal."""
        refusal = self._closed(now, "window")
        if not refusal:
            refusal = self.follower.offer(now, window)
        if refusal:
            self.output.record["refused"] = window.number
            self.output.record["refusal"] = _bytes(refusal)
            return refusal
        if self.state is not ControlState.TRACKING:
            self._clock.run(now)
        self._event(ControlEvent.FOLLOW, "")
        return ""

    # the step -------------------------------------------------------------------------------------------------

    def step(self, now: float) -> ControlOutput:
        """The setpoint of `now`: inside position, velocity and acceleration limits, whatever arrived."""
        gap = now - self._last
        self._last = now
        record = self.output.record
        if not record["commanding"] and not self._start(now):
            return self._finish(now)
        self._look(now, gap)
        path_ends = False
        if self.primitives.running:
            path_ends = self._run_primitive(now)
        elif self.state is ControlState.FAULT and not self._path_moves:
            self._approach_arm(now)
        else:
            path_ends = self._follow_path(now)
        if self._limiter.apply(self._goal):
            record["saturated"] += 1
        if path_ends and self._still():
            self._rest(now)
        record["number"] += 1
        return self._finish(now)

    def _start(self, now: float) -> bool:
        """Take the arm where it is, once its joints are known and its face is ready."""
        if now - self._measured_at > self.config.stale_time:
            return False
        if self._hardware > HARDWARE_HOLDING:
            self.reason = self._hardware_text()
            return False
        limits = self.robot.limits
        self._settle(np.clip(self.output.measured_q, limits.lower, limits.upper))
        self.output.record["commanding"] = 1
        self._event(ControlEvent.SEEN, "")
        return True

    def _look(self, now: float, gap: float) -> None:
        """Whatever stops the arm, most severe first."""
        age = now - self._measured_at
        if gap > self.config.stale_time and gap != np.inf:
            # the hardware's watchdog has held the arm meanwhile: the setpoint stood still as well
            self._settle(self._limiter.q.copy())
            self._trouble(f"the loop did not run for {gap:.3f} s", recoverable=True)
        elif self._hardware > HARDWARE_HOLDING:
            self._trouble(self._hardware_text())
        elif age <= self.config.stale_time and self._strays(now):
            error = np.abs(self._limiter.q - self.output.measured_q)
            joint = int(error.argmax())
            self._trouble(f"joint {joint} is {error[joint]:.3f} rad from its setpoint")
        elif age > self.config.stale_time and self.state is not ControlState.FAULT:
            if self.state not in (ControlState.STOPPING, ControlState.STOPPED):
                self._stop(f"measured joints are {age:.3f} s old", recoverable=True)
        elif self.state is ControlState.FAULT and age <= self.config.stale_time:
            self._try_clear()

    def _follow_path(self, now: float) -> bool:
        """The nominal motion, on its own time; sensor motion on top of it. True when it goes nowhere any more."""
        follower, clock = self.follower, self._clock
        braking = self._brakes()
        if braking:
            clock.brake(follower.v, follower.a)
        else:
            clock.run(now)
        at_rest = follower.sample(clock.time)
        self._tool.step(now, follower.q, self._goal, braking or self.state is ControlState.STOPPED)
        if self._tool.monitor and self.state in (ControlState.TRACKING, ControlState.HOLDING):
            self._stop(f"stream: {Termination(self._tool.monitor).name}")
        return at_rest or clock.rate == 0.0

    def _run_primitive(self, now: float) -> bool:
        """One sample of the primitive; True when it is over, and its setpoint at rest."""
        primitives = self.primitives
        if self._brakes():
            primitives.stop(self.reason)
        going = primitives.step(now)
        q = primitives.executive.setpoint.q
        self._goal[:] = q
        if going:
            return False
        self.follower.hold(q, self.follower.plan_time)
        self.follower.sample(now)
        self._tool.reset(q)
        if primitives.end and self.state is ControlState.TRACKING:
            self._stop(primitives.end)
        return True

    def _rest(self, now: float) -> None:
        """The setpoint has come to rest at the end of the path, or of braking."""
        if self._tool.monitor:  # what sensors added is part of the path from now on
            self.follower.hold(self._limiter.q, self.follower.plan_time)
            self.follower.sample(now)
            self._tool.reset(self._limiter.q)
        elif self._brakes():
            self.follower.hold(self.follower.q, self.follower.plan_time)
        if self._brakes():
            self._clock.run(now)
            self._path_moves = False
        if self.state is not ControlState.HOLDING:
            self._event(ControlEvent.REST, self.reason)

    def _brakes(self) -> bool:
        return self.state is ControlState.STOPPING or self._path_moves

    def _still(self) -> bool:
        qd = self._limiter.qd
        return bool(max(qd.max(), -qd.min()) <= _STILL)

    def _approach_arm(self, now: float) -> None:
        """FAULT, at rest: the setpoint goes where the arm is, so that nothing jumps when the trouble is over.

        Once the hardware is ready it goes there only once: chasing an arm that sags would let it sink.
        """
        seeks = self._arm_sought or self._hardware > HARDWARE_HOLDING
        if seeks and now - self._measured_at <= self.config.stale_time:
            limits = self.robot.limits
            np.clip(self.output.measured_q, limits.lower, limits.upper, out=self._goal)
            self._arm_sought = False

    def _try_clear(self) -> None:
        if self._path_moves or self._arm_sought or not self._still():
            return
        if np.abs(self._limiter.q - self._goal).max() > _STILL:
            return
        if np.abs(self._limiter.q - self.output.measured_q).max() > self.config.follow_error:
            return
        reason = self.reason
        self._settle(self._limiter.q.copy())
        self._event(ControlEvent.CLEARED, reason)

    # helpers --------------------------------------------------------------------------------------------------

    def _closed(self, now: float, what: str) -> str:
        """Why no window and no primitive is taken now; "" when the door is open."""
        if self.primitives.running:
            return f"{what}: a primitive runs, {self.primitives.id}"
        if self.state in (ControlState.FAULT, ControlState.STOPPING):
            return f"{what}: control is {self.state.name}: {self.reason}"
        if now < self._deaf_until:
            return f"{what}: refused for {self.config.halt_guard:g} s after halt {self.output.halt}"
        if now - self._measured_at > self.config.stale_time:
            return f"{what}: measured joints are stale"
        return ""

    def _strays(self, now: float) -> bool:
        """True when the arm has been too far from its setpoint for too long."""
        error = self._limiter.q - self.output.measured_q
        if max(error.max(), -error.min()) <= self.config.follow_error:
            self._strayed = np.inf
            return False
        self._strayed = min(self._strayed, now)
        return now - self._strayed >= self.config.follow_time

    def _hardware_text(self) -> str:
        name = "e-stop" if self._hardware == HARDWARE_ESTOP else "hardware fault"
        return f"{name}: {self._hardware_reason}" if self._hardware_reason else name

    def _blame(self, recoverable: bool) -> None:
        """Remember whether everything that stopped the arm since it last was free passes by itself."""
        free = self.state in (ControlState.HOLDING, ControlState.TRACKING)
        self.output.record["recoverable"] = recoverable and (free or bool(self.output.record["recoverable"]))

    def _stop(self, reason: str, recoverable: bool = False) -> None:
        self._blame(recoverable)
        if self.state is ControlState.FAULT:
            return
        self._event(ControlEvent.STOP, reason)

    def _trouble(self, reason: str, recoverable: bool = False) -> None:
        self._blame(recoverable)
        if self.state is not ControlState.FAULT:
            self._path_moves = self.state in (ControlState.TRACKING, ControlState.STOPPING)
            self._arm_sought = True
        self._event(ControlEvent.TROUBLE, reason)

    def _settle(self, q: FloatArray) -> None:
        """Be at rest at `q` [rad]: nothing is followed any more."""
        self._limiter.reset(q)
        self.primitives.drop(q)
        self.follower.hold(q, self.follower.plan_time)
        self._tool.reset(q)
        self._goal[:] = q

    def _event(self, event: ControlEvent, reason: str) -> None:
        self.state = next_state(self.state, event)
        self.reason = "" if self.state in (ControlState.TRACKING, ControlState.HOLDING) else reason

    def _finish(self, now: float) -> ControlOutput:
        output, limiter, follower = self.output, self._limiter, self.follower
        record = output.record
        output.q[:] = limiter.q
        output.qd[:] = limiter.qd
        output.qdd[:] = limiter.qdd
        running = self.primitives.running
        output.path_q[:] = limiter.q if running else follower.q
        output.path_qd[:] = limiter.qd if running else self._clock.rate * follower.v
        output.tool_pose[:] = self.primitives.executive.primitive.fusion.pose if running else self._tool.pose
        self._grip(running)
        record["primitive"] = self.primitives.id
        record["now"] = now
        record["state"] = self.state
        record["reason"] = _bytes(self.reason)
        record["window"] = follower.number
        record["plan_time"] = follower.plan_time
        record["steps"] += 1
        return output

    def _grip(self, primitive: bool) -> None:
        """What the fingers are told: by the window or the primitive that moves the arm, and after it the same."""
        gripper, record = self.primitives.executive.gripper, self.output.record
        if primitive and gripper.width >= 0.0:
            record["gripper"], record["gripper_force"] = gripper.width, gripper.force
        elif self.follower.gripper >= 0.0:
            record["gripper"], record["gripper_force"] = self.follower.gripper, 0.0

    def _compile(self) -> None:
        """Run every compiled function once, so that none is compiled while the arm moves."""
        middle = 0.5 * (self.robot.limits.lower + self.robot.limits.upper)
        position = np.stack((middle, middle))
        still = np.zeros_like(position)
        window = MotionWindow(1, 0.0, 0.0, self.period, position, still, still, np.zeros(2), np.zeros(0))
        WindowFollower(self.robot.dof, self.robot.limits).offer(0.0, window)
        self._tool.reset(middle)
        self._tool.step(0.0, middle, self._goal, False)
        self._limiter.apply(self._goal)
        self._limiter.reset(middle)


def _bytes(reason: str) -> bytes:
    return reason.encode()[:REASON_BYTES] if reason else b""
