"""The robot's plan buffer: executes the plan so that the arm can always stop on the points that it holds [US5046022].

What belongs here: operations applied to the plan, acknowledgement, executed points. What must never enter: clocks,
messages, the servo, the motion itself (`motion.py`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.config import parameter
from telerobot_nodes.core.protocol import ControlState, ExecutorMode, MotionWindow, OperationKind
from telerobot_nodes.core.robot import Kinematics, Posture, RobotModel
from telerobot_nodes.core.values import FloatArray, IntArray, pose_from_se3
from telerobot_nodes.errors import AuthorityError, InvalidValueError, OutOfReachError, QueueFullError
from telerobot_nodes.plan.authority import AuthorityArbiter, AuthorityMessage
from telerobot_nodes.plan.executor.admission import Tail, admit, begins_plan, check_begin, check_straight
from telerobot_nodes.plan.executor.early_reset import EarlyReset, EndPolicy, anyone_ends, check_request, check_resume
from telerobot_nodes.plan.executor.execution_limit import ExecutionLimit
from telerobot_nodes.plan.executor.memory import ExecutorMemory
from telerobot_nodes.plan.executor.motion import MotionConfig, PlanMotion
from telerobot_nodes.plan.executor.overtaking import stop_overtakes
from telerobot_nodes.plan.executor.path import JointPath
from telerobot_nodes.plan.executor.request_answers import RequestAnswers
from telerobot_nodes.plan.log import ControlReport, ExecutorReport, Operation, PlanPoints, Receiver, UnreadableOperation

LEAD_IN = 0.1  # [s] plan time from the arm at rest to the first point, at least
SETTLING = 0.5  # [s] after the setpoint's rest in which the arm should have arrived
LEAD_SPEED = 0.25  # [m/s] of plan time, from the arm to a first point that is not where the arm is
JOURNAL_DIGITS = 5  # of a joint [rad] in the journal
TIME_SLACK = 0.1  # [s] the tail may be later than its plan time, because points nearer than 1 ms are moved apart


@dataclass(frozen=True)
class ExecutorConfig(MotionConfig):
    """Parameters of the executor."""

    capacity: int = parameter(100_000, low=10, high=10_000_000, doc="largest number of points")
    max_step: float = parameter(0.1, unit="m", low=0.001, high=1.0, doc="largest distance of neighbouring points")
    max_turn: float = parameter(0.5, unit="rad", low=0.01, high=3.0, doc="largest rotation between neighbouring points")
    start_step: float = parameter(
        0.05, unit="m", low=0.001, high=1.0, doc="largest distance from the arm to the first point of a plan"
    )
    start_turn: float = parameter(
        0.2, unit="rad", low=0.01, high=3.0, doc="largest rotation from the arm to the first point of a plan"
    )
    max_deviation: float = parameter(
        0.003,
        unit="m",
        low=1e-5,
        high=1.0,
        doc="largest distance of the tool from the line between neighbouring points",
    )
    max_turn_deviation: float = parameter(
        0.03, unit="rad", low=1e-4, high=3.0, doc="largest rotation of the tool from the even turn between them"
    )
    supervisors: tuple[str, ...] = parameter(("supervisor",), doc="agents that may take control without consent")
    armed: bool = parameter(False, doc="requests for control are granted without the holder's consent")

    journal: str = parameter(
        "", doc="journal file, for a restarted executor to continue; empty: the supervisor's, or none"
    )


@dataclass(frozen=True)
class ExecutedRange:
    """Consecutive points that the arm has reached."""

    first_seq: int
    last_seq: int
    epoch: int
    plan_time: float  # [s] plan time that the arm had reached when this was detected


class PlanExecutor:
    """Points in, motion windows out. Times `now` [s] are of the monotonic clock that stamps the windows."""

    def __init__(
        self,
        robot: RobotModel,
        config: ExecutorConfig | None = None,
        receiver: Receiver | None = None,
        memory: ExecutorMemory | None = None,
        may_end: EndPolicy = anyone_ends,
    ) -> None:
        self.config = config or ExecutorConfig()
        self.robot = robot
        self.motion = PlanMotion(robot.limits, self.config)
        self.arbiter = AuthorityArbiter(frozenset(self.config.supervisors), self.config.armed)
        self.receiver = receiver or Receiver(memory.position if memory else None, self.arbiter.may_open)
        self._kinematics = _compiled_kinematics(robot)
        self.measured: FloatArray | None = None  # (dof,) [rad] of the arm, set by the owner; None: as the loop reports
        self._highest_seq = 0
        self._executed_seq = 0
        self._executed: list[ExecutedRange] = []
        self._rate_goal = 1.0
        self._paused = False
        self._limit = ExecutionLimit()
        self._resuming: int | None = None  # count of the halt whose end the control loop has to confirm
        self._requests: list[Operation] = []  # RESET and TARE
        self._answers = RequestAnswers()
        self._may_end, self._early_reset = may_end, EarlyReset(may_end)
        self._memory = memory
        if memory is not None:
            self._highest_seq, self._executed_seq = memory.highest_seq, memory.executed_seq
            self._paused, self._rate_goal = memory.held, memory.rate_goal
            self.motion.start_from(memory.executed_seq, memory.plan_time)

    def receive(self, now: float, operations: Iterable[Operation | UnreadableOperation]) -> None:
        """Apply received operations exactly once and in order; a refused operation changes nothing and is reported.

        An executor that was restarted takes nothing until it knows which points its predecessor executed; operations
        are not acknowledged then and will be retransmitted. A latched e-stop keeps it from knowing, so a RESET acts
        before its turn then.
        """
        if self._memory is not None:
            self._requests += self._early_reset.take(operations, self.receiver.position, self.motion.control)
            return
        for delivery in self.receiver.deliver(now, operations):
            operation = delivery.operation
            if delivery.refusal:
                self._answers.note(operation, delivery.refusal)
                continue
            try:
                self._apply(now, operation)
            except Exception as error:  # noqa: BLE001 an operation is applied or refused, whatever happens
                reason = _refusal(operation, error)
                self.receiver.refuse(operation.number, reason, alone=operation.points is None)
                self._answers.note(operation, reason)

    def on_authority(self, now: float, message: AuthorityMessage) -> None:
        """Take a message about authority. Raises AuthorityError or TransitionError when it is refused."""
        self.arbiter.handle(now, message, self.receiver)

    def on_control(self, now: float, report: ControlReport) -> None:
        """Take a report of the control loop. Raises InvalidValueError on a wrong number of joints."""
        if report.joint_position.size != self.robot.dof:
            allowed = f"allowed: {self.robot.dof} values"
            raise InvalidValueError("control.joint_position (length)", report.joint_position.size, allowed)
        if self._memory is not None and report.resting and not report.waiting:
            self._resolve(self._memory, report)
        self.motion.on_control(now, report)
        if not report.halted or report.halt_count != self._resuming or report.estop:
            self._resuming = None  # given before the e-stop, it must not act after the reset
        self._note_executed()

    def tick(self, now: float) -> MotionWindow | None:
        """Next window; None if nothing changed. Call it every 20 to 40 ms."""
        held = self._paused or self.halted or stop_overtakes(self.receiver.overtaking, self.motion)
        return self.motion.tick(now, 0.0 if held else self._rate_goal, self._limit.plan_time(self.motion.path))

    @property
    def halted(self) -> bool:
        """True while the control loop obeys a halt: it counts halts, and only the RESUME of its count ends one."""
        return self.motion.control is not None and self.motion.control.halted

    @property
    def resuming(self) -> int | None:
        """Count of the halt that the control loop shall end now; None: none. Sent until its report shows the end."""
        return self._resuming

    def drain_requests(self) -> list[Operation]:
        """RESET and TARE operations since the last call, for the nodes that serve them."""
        requests, self._requests = self._requests, []
        return requests

    def answer_request(self, operation: Operation, refusal: str = "") -> None:
        """Report that a request was done, or why it was refused."""
        if refusal and operation.epoch == self.receiver.position.epoch:
            self.receiver.refuse(operation.number, refusal, alone=True)
        self._answers.note(operation, refusal)

    def drain_executed(self) -> list[ExecutedRange]:
        """Points reached since the last call, each once and in order."""
        executed, self._executed = self._executed, []
        return executed

    def memory(self) -> ExecutorMemory:
        """State for a successor; to be stored after each tick, before its window is sent."""
        motion, path, before = self.motion, self.motion.path, self._memory
        last, end = path.index_of_seq(self._executed_seq), motion.committed_index + 1
        committed = zip(path.seqs[last + 1 : end].tolist(), path.times[last + 1 : end].tolist(), strict=True)
        joints = path.joints[max(last, 0) : end].round(JOURNAL_DIGITS).tolist()
        return ExecutorMemory(
            self.receiver.position,
            self._executed_seq,
            self._highest_seq,
            self._paused or self.halted,
            self._rate_goal,
            motion.arrived_time,
            before.committed if before else tuple(committed),
            before.joints if before else tuple(map(tuple, joints)),
        )

    @property
    def queue_length(self) -> int:
        """Number of points held and not executed."""
        return len(self.motion.path) - 1 - self.motion.path.index_of_seq(self._executed_seq)

    def mode(self, now: float) -> tuple[ExecutorMode, str]:
        """What the arm does, and why it does not move."""
        return _mode(self.motion, self._paused, self._limit, self.queue_length, now)

    def report(self, now: float) -> ExecutorReport:
        """Acknowledgement and state."""
        log, motion, seqs = self.receiver.acknowledgement, self.motion, self.motion.path.seqs
        mode, reason = self.mode(now)
        return ExecutorReport(
            mode=mode,
            reason=reason,
            epoch=log.position.epoch,
            authority=log.position.authority,
            applied_number=log.position.applied_number,
            applied_copy=log.applied_copy,
            applied_age=max(now - log.applied_received, 0.0) if log.applied_received >= 0.0 else 0.0,
            refused_number=log.refused_number,
            refusal=log.refusal,
            executed_seq=self._executed_seq,
            committed_seq=max(int(seqs[motion.committed_index]), self._executed_seq),
            tail_seq=int(seqs[-1]),
            halt_count=motion.control.halt_count if motion.control else 0,
            plan_time=max(motion.plan_time, 0.0),  # the lead-in to a first point at 0 begins before 0
            committed_time=max(motion.stop_time, 0.0),
            tail_time=max(float(motion.path.times[-1]), 0.0),
            rate=motion.rate(now),
            rate_goal=self._rate_goal,
            limit_seq=self._limit.seq,
            stopping_time=motion.stopping_time(now),
            queue_length=self.queue_length,
            capacity=self.config.capacity,
            **self._answers.report_fields(log.position.epoch),
            **self.arbiter.report_fields(now),
        )

    def _apply(self, now: float, operation: Operation) -> None:
        kind = operation.kind
        if kind is OperationKind.APPEND:
            self._append(now, operation)
        elif kind is OperationKind.TRUNCATE:
            self._truncate(now, operation.after_seq)
        elif kind is OperationKind.CLEAR:
            self._truncate(now, 0)
        elif kind is OperationKind.RATE:
            self._rate_goal = operation.rate
        elif kind is OperationKind.LIMIT:
            self._limit.seq = operation.after_seq
        elif kind is OperationKind.PAUSE:
            self._paused = True
        elif kind is OperationKind.RESUME:
            self._resume(operation)
        elif kind in (OperationKind.RESET, OperationKind.TARE) and not self._early_reset.took(operation):
            check_request(operation, self.motion.control, self._may_end)
            self._requests.append(operation)

    def _append(self, now: float, operation: Operation) -> None:
        path = self.motion.path
        if not self.motion.anchored:
            raise InvalidValueError("operation.points", "APPEND", "allowed: after the arm's first report at rest")
        tail = _tail(self, path, self._highest_seq)
        points = admit(operation, tail, self.robot.dof)
        if begins_plan(points, int(path.seqs[-1]), self._executed_seq):
            self._begin_plan(now, points)
            return
        q = path.joints[-1].copy()
        joints = _joints(path, points, self._kinematics)
        away = self._kinematics.deviations(np.vstack([q, joints]), np.vstack([tail.pose, points.pose]))
        check_straight(points, tail, *away, self.config.max_deviation, self.config.max_turn_deviation)
        if path.seqs[-1] == 0:  # the plan begins at rest at the arm, shortly before its first point
            gap = float(np.linalg.norm(points.pose[0, :3] - self.robot.forward(q).translation))
            self.motion.begin(now, float(points.time[0]) - LEAD_IN - gap / LEAD_SPEED, q, 0)
        self.motion.append(now, points.seqs, points.time, joints, points.gripper)
        self._highest_seq = points.last_seq

    def _begin_plan(self, now: float, points: PlanPoints) -> None:
        """Take the first point of another plan: the arm rests there, so it is executed, and nothing moves."""
        q = check_begin(points, self.motion.control, self.measured, self.robot)
        self.motion.begin(now, float(points.time[0]), q, points.first_seq)
        self._highest_seq = points.first_seq
        self._report_executed(np.array([points.first_seq], dtype=np.int64))

    def _truncate(self, now: float, after_seq: int) -> None:
        """Delete the points above `after_seq` that are not committed; an arm off its plan may start anew."""
        motion = self.motion
        self._limit.truncated(after_seq)
        if motion.off_path and motion.control is not None:
            motion.begin(now, motion.plan_time, motion.control.joint_position, self._executed_seq)
            motion.off_path, motion.trouble = False, ""
            return
        motion.truncate(max(after_seq, self._executed_seq))

    def _resume(self, operation: Operation) -> None:
        """End a pause, and the halt that the operation names. Raises InvalidValueError for any other count."""
        control = self.motion.control
        if control is not None:
            check_resume(operation, control, self._may_end)
        self._paused = False
        self._resuming = operation.halt_count if self.halted else None
        if not self.motion.off_path:
            self.motion.trouble = ""

    def _resolve(self, memory: ExecutorMemory, report: ControlReport) -> None:
        """Report, with the arm at rest, the points that it reached after the predecessor had died."""
        seq, plan_time = memory.reached(report)
        self._memory = None
        self.motion.start_from(seq, plan_time)
        passed = np.array([entry for entry, _ in memory.committed if entry <= seq], dtype=np.int64)
        if passed.size:
            self._report_executed(passed)

    def _note_executed(self) -> None:
        reached = self.motion.executed_seq()
        if reached <= self._executed_seq:
            return
        path = self.motion.path
        seqs = path.seqs[path.index_of_seq(self._executed_seq) + 1 : path.index_of_seq(reached) + 1]
        self._report_executed(seqs)

    def _report_executed(self, seqs: IntArray) -> None:
        epoch = self.receiver.position.epoch
        for run in np.split(seqs, np.flatnonzero(np.diff(seqs) != 1) + 1):
            self._executed.append(ExecutedRange(int(run[0]), int(run[-1]), epoch, self.motion.arrived_time))
        self._executed_seq = int(seqs[-1])


def _tail(executor: PlanExecutor, path: JointPath, highest_seq: int) -> Tail:
    """End of the plan that new points must continue."""
    config, starts = executor.config, len(path) == 1
    return Tail(
        seq=int(path.seqs[-1]),
        highest_seq=highest_seq,
        time=float(path.times[-1]) - TIME_SLACK if path.seqs[-1] else -np.inf,
        pose=np.asarray(pin.SE3ToXYZQUAT(executor.robot.forward(path.joints[-1]))),
        room=config.capacity - executor.queue_length,
        max_step=config.start_step if starts else config.max_step,
        max_turn=config.start_turn if starts else config.max_turn,
    )


def _compiled_kinematics(robot: RobotModel) -> Kinematics:
    """What solves and checks points, compiled before the first of them."""
    kinematics, home = Kinematics(robot), np.array(robot.home)
    twice = np.repeat(pose_from_se3(robot.forward(home))[None], 2, axis=0)
    kinematics.deviations(kinematics.solve_path(twice, home, posture=Posture(home)), twice)
    return kinematics


def _joints(path: JointPath, points: PlanPoints, kinematics: Kinematics) -> FloatArray:
    """Joints (n, dof) [rad] of points that continue the path. Raises OutOfReachError."""
    before = float(path.times[-1]) if path.seqs[-1] else None
    posture = Posture.of(path.begun_at, points.posture, points.time, before)
    return kinematics.solve_path(points.pose, path.joints[-1], posture=posture)


def _mode(
    motion: PlanMotion, paused: bool, limit: ExecutionLimit, queue_length: int, now: float
) -> tuple[ExecutorMode, str]:
    """What the arm does, and why it does not move."""
    control = motion.control
    if control is not None and control.halted:
        return ExecutorMode.HALTED, f"halt {control.halt_count} by {control.halt_reason}"
    if motion.trouble:
        return ExecutorMode.FAULT, motion.trouble
    if not motion.anchored:
        return ExecutorMode.STARTING, "the arm has not been at rest yet" + _waiting(": ", control)
    if control is not None and control.state is ControlState.FAULT:
        return ExecutorMode.FAULT, control.reason or "control loop is FAULT"
    limited = "" if motion.moving(now) else limit.reason(motion.path)
    if paused or limited:
        return ExecutorMode.PAUSED, "paused by the operator" if paused else limited
    primitive = control is not None and control.primitive > 0
    running = queue_length > 0 or motion.moving(now) or primitive
    reason = _waiting("not executed: ", control) if running and motion.rested(now) > SETTLING else ""
    return (ExecutorMode.RUNNING if running else ExecutorMode.IDLE), reason


def _refusal(operation: Operation, error: Exception) -> str:
    """Why an operation is refused; an unforeseen error is named as such."""
    foreseen = isinstance(error, (AuthorityError, InvalidValueError, OutOfReachError, QueueFullError))
    return str(error) if foreseen else f"{operation.kind.name} failed: {error!r}"


def _waiting(before: str, control: ControlReport | None) -> str:
    """For what the arm's latest setpoints wait, after `before`; "" when for nothing."""
    return f"{before}{control.waiting}" if control is not None and control.waiting else ""
