"""One step of the control loop: from windows, primitives, halts and measurements to a setpoint inside every limit.

What belongs here: the order of a step, and what stops the arm. What must never enter: clocks, threads, messages.
All times are `now` [s] of one monotonic clock. Results go into records made once; a step still makes small temporary
arrays, so the loop's process disables the garbage collector instead of relying on none.
"""

from __future__ import annotations

import math

import numpy as np

from telerobot_nodes.core.memory import Record
from telerobot_nodes.core.protocol import GRIPPER_UNCHANGED, ControlState, HardwareState, MotionWindow, StopCause
from telerobot_nodes.core.robot import JointLimits, RobotModel, SetpointLimiter
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.motion.law import Termination, ToolMotion
from telerobot_nodes.motion.loop.arm_monitor import ArmMonitor, ControlConfig
from telerobot_nodes.motion.loop.control_records import ControlOutput, encoded
from telerobot_nodes.motion.loop.control_state import ControlEvent, ControlMachine, ControlPhase, HaltLatch
from telerobot_nodes.motion.loop.primitive_runner import PrimitiveRunner
from telerobot_nodes.motion.primitives import Prepared, PreparedChange, StreamMotion
from telerobot_nodes.motion.tracking import NUMBER_STEP, Arrival, WindowFollower

_STILL = 1e-6  # [rad/s], [rad] setpoint speed or distance that counts as zero


class ControlStep:
    """The control law of one arm, stepped every `period` [s]: windows of the plan, or one primitive at a time.

    Set the inputs (`measure`, `set_wrench`, `set_hardware`, `arrival.hardware`, `halt`, `offer`, `begin`), then call
    `step(now)`. One thread.
    """

    def __init__(
        self,
        robot: RobotModel,
        period: float,
        config: ControlConfig | None = None,
        tool_motion: ToolMotion | None = None,
        latch: HaltLatch | None = None,
    ) -> None:
        self.robot = robot
        self.period = period
        self.config = ControlConfig() if config is None else config
        self.output = ControlOutput(robot.dof)
        self.output.record["gripper"] = GRIPPER_UNCHANGED
        self.stream = StreamMotion(robot, period, tool_motion)
        self.primitives = PrimitiveRunner(robot, period)
        self._machine = ControlMachine(latch)
        self._latch = self._machine.latch
        self._monitor = ArmMonitor(self.config)
        self.arrival = Arrival(robot.dof, self.config.arrive_error, max_opening=_max_opening(robot))
        self._limiter = SetpointLimiter(robot.limits, period)
        self._goal = self._limiter.q.copy()  # [rad] wanted setpoint
        self._limiter.apply(self._goal)  # compiles
        self._last = -np.inf  # [s] of the last step

    @property
    def state(self) -> ControlState:
        """The state as published."""
        return self._machine.state

    def measure(self, at: float, q: FloatArray, qd: FloatArray) -> None:
        """Set measured joints (dof,) [rad], [rad/s] received at `at` [s]; values that are not finite are ignored."""
        if np.isfinite(q).all() and np.isfinite(qd).all():
            self.output.measured_q[:] = q
            self.output.measured_qd[:] = qd
            self._monitor.measured_at = at
            self.stream.tool.measure(q)
            self.primitives.executive.measure(q)
            self.arrival.measure(q)

    def set_wrench(self, at: float, wrench: FloatArray) -> None:
        """Set the wrench (6,) [N], [N m] of the tool on the environment, SENSOR, received at `at` [s]."""
        self.stream.tool.set_wrench(at, wrench)
        self.primitives.executive.set_wrench(at, wrench)

    def teleoperate(self, increment: FloatArray) -> None:
        """Add a motion of the operator's device (6,) [m], [rad] to the running primitive, if any."""
        if self.primitives.running and not self._latch.halted:
            self.primitives.executive.teleoperate(increment)

    def add_field_twist(self, twist: FloatArray) -> None:
        """Add the velocity (6,) [m/s], [rad/s] of NOM from a force field to the next sample."""
        if self._latch.halted or not np.isfinite(twist).all():
            return
        target = self.primitives.executive if self.primitives.running else self.stream.tool
        target.add_displacement(twist * self.period)

    def tare(self) -> None:
        """Take the latest wrench as no contact."""
        self.stream.tool.tare()
        self.primitives.executive.tare()

    def set_hardware(self, state: int, reason: str = "", at: float = 0.0, gripper: float = math.nan) -> None:
        """Set the hardware's state (HardwareState.msg) and opening [m]; all but READY and HOLDING are faults."""
        self._monitor.hardware, self._monitor.hardware_reason = state, reason
        self.primitives.executive.measure_gripper(at, gripper)
        if state == HardwareState.ESTOP and not self.output.record["estop"]:
            self.halt(self._latch.distinct, self._monitor.hardware_text)  # its reset alone lets nothing move
        self.output.record["estop"] = state == HardwareState.ESTOP

    def halt(self, distinct: int, reason: str) -> None:
        """Come to rest on the path, and let nothing move the arm until `resume`; `distinct` as in `HaltLatch.halt`."""
        self._machine.halt(distinct, reason)

    def resume(self, count: int) -> None:
        """End the halt of this count; without effect for any other count, and while the e-stop is latched."""
        if not self.output.record["estop"]:
            self._latch.resume(count)

    def stop(self, reason: str) -> None:
        """Come to rest on the path, for a reason of the host."""
        self._machine.stop(StopCause.REQUEST, reason)

    def begin(self, now: float, number: int, prepared: Prepared) -> str:
        """Begin a primitive (order `number`) with the arm at rest; returns "" or the reason of the rejection."""
        refusal = self._busy(now, "primitive")
        if not refusal and (self.state is ControlState.TRACKING or not _still(self._limiter)):
            refusal = "primitive: the arm is not at rest"
        if not refusal and not self.arrival.finish(now, self.output.measured_q):
            refusal = "primitive: arm or fingers have not come to where the plan ended"
        if not refusal:
            refusal = self.primitives.begin(now, self._limiter.q, prepared)
        self.output.record["begun"], self.output.record["begin_refusal"] = number, encoded(refusal)
        if not refusal:
            self.arrival.forget_fingers()
            self._machine.handle(ControlEvent.FOLLOW)
        return refusal

    def change(self, now: float, number: int, prepared: PreparedChange) -> str:
        """Change the running primitive's parameters (order `number`); returns "" or the reason of the rejection."""
        refusal = self.primitives.change(now, prepared)
        self.output.record["changed"], self.output.record["change_refusal"] = number, encoded(refusal)
        return refusal

    def stop_primitive(self, number: int, reason: str) -> None:
        """Stop the primitive of this id; 0: any."""
        if self.primitives.running and number in (0, self.primitives.id):
            self.stop(reason)

    def offer(self, now: float, window: MotionWindow) -> str:
        """Follow `window` if it joins the motion; returns "" or the reason of the rejection."""
        refusal = self._busy(now, "window") or self.stream.follower.offer(now, window)
        if refusal:
            _note_refusal(self.output.record, self.stream.follower, window.number, refusal)
            return refusal
        if self.state is not ControlState.TRACKING:
            self.stream.run(now)
        self._machine.handle(ControlEvent.FOLLOW)
        return ""

    def step(self, now: float) -> ControlOutput:
        """Compute the setpoint of `now` [s]; it keeps position, velocity and acceleration limits for any input."""
        gap, self._last = now - self._last, now
        record = self.output.record
        if not record["commanding"] and not self._start(now):
            return self._write_output(now)
        self._check_faults(now, gap)
        path_ends = False
        if self.primitives.running:
            path_ends = self._run_primitive(now)
        elif self._machine.phase in (ControlPhase.FAULT_SEEKING, ControlPhase.FAULT_WAITING):
            self._approach_arm(now)
        else:
            path_ends = self._follow_path(now)
        if self._limiter.apply(self._goal):
            record["saturated"] += 1
        record["number"] += 1
        if self._machine.on_path and not self.primitives.running:
            commanded = _commanded(self.stream.follower, self._goal, self._limiter)
            self.arrival.command(now, record["number"].item(), *commanded, path_ends)
        if path_ends and _still(self._limiter):
            self._rest(now)
        self.arrival.step(now, record["number"].item())
        if self.primitives.confirming:
            _confirm(now, self.primitives, self.arrival, self.output, self._machine)
        return self._write_output(now)

    def _start(self, now: float) -> bool:
        """Start at the measured joints, once they are fresh and the hardware is ready."""
        if self._monitor.is_stale(now):
            return False
        if not self._monitor.hardware_ready:
            self._machine.explain(self._monitor.hardware_cause, self._monitor.hardware_text)
            return False
        self._settle(_inside(self.robot.limits, self.output.measured_q))
        self.output.record["commanding"] = 1
        self._machine.handle(ControlEvent.SEEN)
        return True

    def _check_faults(self, now: float, gap: float) -> None:
        """Stop the arm for the most severe of all present causes, or clear a fault."""
        if gap > self.config.stale_time and gap != np.inf:
            # the hardware's watchdog has held the arm meanwhile, so the setpoint restarts at rest
            self._settle(self._limiter.q.copy())
            self._machine.fault(StopCause.LOOP_STALL, f"the loop did not run for {gap:.3f} s")
            return
        fault = self._monitor.fault(now, self._limiter.q, self.output.measured_q)
        if fault is not None:
            self._machine.fault(*fault)
        elif self._monitor.is_stale(now):
            if self._machine.free:
                self._machine.stop(StopCause.STALE_JOINTS, f"measured joints are {self._monitor.age(now):.3f} s old")
        elif self._machine.phase is ControlPhase.FAULT_WAITING:
            self._try_clear()

    def _follow_path(self, now: float) -> bool:
        """One sample of the windows' motion; True when it has come to rest."""
        braking = self._machine.braking
        ended = self.stream.step(now, braking, braking or self._machine.phase is ControlPhase.STOPPED, self._goal)
        if self.stream.tool.monitor and self._machine.free:
            self._machine.stop(StopCause.MONITOR, f"stream: {Termination(self.stream.tool.monitor).name}")
        return ended

    def _run_primitive(self, now: float) -> bool:
        """One sample of the primitive; True when it has ended."""
        primitives = self.primitives
        if self._machine.braking:
            primitives.stop(self._machine.reason, self._machine.cause)
        going = primitives.step(now)
        self._goal[:] = primitives.executive.setpoint.q
        if going:
            return False
        self.stream.hold_at(now, primitives.executive.setpoint.q)
        if primitives.end and self.state is ControlState.TRACKING:
            self._machine.stop(StopCause.PRIMITIVE, primitives.end)
        return True

    def _rest(self, now: float) -> None:
        """The setpoint has come to rest at the end of the path, or of braking."""
        self.stream.come_to_rest(now, self._limiter.q, self._machine.braking)
        if self._machine.phase is not ControlPhase.HOLDING:
            self._machine.handle(ControlEvent.REST)

    def _approach_arm(self, now: float) -> None:
        """FAULT, at rest: move the setpoint to the arm's position, so that nothing jumps when the fault is over.

        Once the hardware is ready this is done only once: an arm that sags would otherwise sink.
        """
        seeks = self._machine.phase is ControlPhase.FAULT_SEEKING or not self._monitor.hardware_ready
        if seeks and not self._monitor.is_stale(now):
            self._goal[:] = _inside(self.robot.limits, self.output.measured_q)
            self._machine.handle(ControlEvent.SOUGHT)

    def _try_clear(self) -> None:
        """Leave FAULT once the setpoint rests at its goal and the arm is near it."""
        q = self._limiter.q
        if not _still(self._limiter) or np.abs(q - self._goal).max() > _STILL:
            return
        if np.abs(q - self.output.measured_q).max() <= self.config.follow_error:
            self._settle(q.copy())
            self._machine.handle(ControlEvent.CLEARED)

    def _busy(self, now: float, what: str) -> str:
        """Why no window and no primitive is accepted now; "" when one is."""
        why = _occupied(self._latch, self.primitives, self._machine)
        why = why or ("measured joints are stale" if self._monitor.is_stale(now) else "")
        return f"{what}: {why}" if why else ""

    def _settle(self, q: FloatArray) -> None:
        """Rest at `q` (dof,) [rad] and follow nothing any more."""
        self._limiter.reset(q)
        self.arrival.clear()
        self.primitives.drop(q)
        self.stream.hold(q)
        self._goal[:] = q

    def _write_output(self, now: float) -> ControlOutput:
        _write_state(self.output.record, self._machine, self.stream.follower, self.arrival, self.primitives.id)
        _write_halt(self.output.record, self._latch)
        _write_motion(self.output, self._limiter, self.stream, self.primitives)
        _write_gripper(self.output.record, self._machine, self.stream.follower, self.primitives)
        self.output.record["now"] = now
        self.output.record["steps"] += 1
        return self.output


def _confirm(
    now: float, primitives: PrimitiveRunner, arrival: Arrival, output: ControlOutput, machine: ControlMachine
) -> None:
    """Report the end of a primitive once the arm has come to it; an arm that does not come is stopped."""
    why = primitives.confirm(now, output.record["number"].item(), arrival, output.measured_q)
    if why:
        machine.stop(StopCause.NOT_FOLLOWING, why)


def _commanded(
    follower: WindowFollower, q: FloatArray, limiter: SetpointLimiter
) -> tuple[int, float, FloatArray, FloatArray, float]:
    """What the present setpoint means for the plan, as `Arrival.command` takes it."""
    return follower.number, follower.plan_time, q, limiter.qd, follower.gripper


def _still(limiter: SetpointLimiter) -> bool:
    return bool(max(limiter.qd.max(), -limiter.qd.min()) <= _STILL)


def _inside(limits: JointLimits, q: FloatArray) -> FloatArray:
    return np.clip(q, limits.lower, limits.upper)


def _max_opening(robot: RobotModel) -> float:
    return robot.gripper.max_opening if robot.gripper else math.inf


def _occupied(latch: HaltLatch, primitives: PrimitiveRunner, machine: ControlMachine) -> str:
    """Why nothing may begin to move the arm; "" when something may."""
    if latch.halted:
        return f"{latch.text}; allowed: after RESUME of halt {latch.count}"
    if primitives.running:
        return f"a primitive runs, {primitives.id}"
    if primitives.confirming:
        return f"the arm is on its way to where primitive {primitives.executive.request.id} ended"
    if machine.state in (ControlState.FAULT, ControlState.STOPPING):
        return f"control is {machine.state.name}: {machine.reason}"
    return ""


def _note_refusal(record: Record, follower: WindowFollower, number: int, refusal: str) -> None:
    """Report a refused window; a number that no window may have is not reported: the executor would count on."""
    record["refusal"] = encoded(refusal)
    if number <= follower.number + NUMBER_STEP:
        record["refused"] = number


def _write_state(
    record: Record, machine: ControlMachine, follower: WindowFollower, arrival: Arrival, primitive: int
) -> None:
    record["state"] = machine.state
    record["cause"], record["reason"] = machine.cause, encoded(machine.reason)
    record["recoverable"] = machine.recoverable
    record["primitive"] = primitive
    record["window"] = follower.number
    record["arrived_window"], record["arrived_time"] = arrival.window, arrival.plan_time
    record["waiting"] = arrival.waiting(record["number"].item())
    record["plan_time"] = follower.plan_time


def _write_halt(record: Record, latch: HaltLatch) -> None:
    if record["halted"] != latch.halted or record["halt_count"] != latch.count:  # else the reason is the same
        record["halt_reason"] = encoded(latch.reason)
    record["halted"], record["halt_count"], record["distinct"] = latch.halted, latch.count, latch.distinct


def _write_motion(
    output: ControlOutput, limiter: SetpointLimiter, stream: StreamMotion, primitives: PrimitiveRunner
) -> None:
    """Write setpoint, path and tool pose."""
    follower, executive = stream.follower, primitives.executive
    output.q[:] = limiter.q
    output.qd[:] = limiter.qd
    output.qdd[:] = limiter.qdd
    if primitives.running:
        output.path_q[:], output.path_qd[:] = limiter.q, limiter.qd
        output.tool_pose[:] = executive.primitive.fusion.pose
    else:
        output.path_q[:], output.path_qd[:] = follower.q, stream.path_velocity
        output.tool_pose[:] = stream.tool.pose


def _write_gripper(
    record: Record, machine: ControlMachine, follower: WindowFollower, primitives: PrimitiveRunner
) -> None:
    """Write the gripper's command: kept after its window or primitive; what stops the arm stops the fingers too."""
    gripper = primitives.executive.gripper
    if not machine.free:
        record["gripper"] = GRIPPER_UNCHANGED
    elif primitives.running and gripper.width >= 0.0:
        record["gripper"], record["gripper_force"] = gripper.width, gripper.force
    elif follower.gripper >= 0.0:
        record["gripper"], record["gripper_force"] = follower.gripper, 0.0
