"""The robot's plan buffer: executes the plan so that the arm can always come to rest inside what it holds [US5046022].

What belongs here: operations applied to the plan, acknowledgement, what was executed. What must never enter: clocks,
messages, the servo, the motion itself (`motion.py`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.kinematics import Kinematics
from telerobot_nodes.core.parameters import parameter
from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.window import MotionWindow
from telerobot_nodes.errors import InvalidValueError, OutOfReachError, QueueFullError
from telerobot_nodes.plan.admission import Tail, admit
from telerobot_nodes.plan.authority import AuthorityDesk, AuthorityMessage
from telerobot_nodes.plan.control import ControlReport, LoopState
from telerobot_nodes.plan.memory import ExecutorMemory
from telerobot_nodes.plan.motion import MotionConfig, PlanMotion
from telerobot_nodes.plan.operations import ExecutorMode, ExecutorReport, Operation, OperationKind
from telerobot_nodes.plan.path import IntArray
from telerobot_nodes.plan.receiver import Receiver

LEAD_IN = 0.1  # [s] plan time from the arm at rest to the first point, at least
LEAD_SPEED = 0.25  # [m/s] of plan time, from the arm to a first point that is not where the arm is
TIME_SLACK = 0.1  # [s] plan time of the tail may be later than said, where points were nearer than 1 ms


@dataclass(frozen=True)
class ExecutorConfig:
    """Bounds and times of the executor."""

    capacity: int = parameter(100_000, low=10, high=10_000_000, doc="most points held")
    period: float = parameter(0.02, unit="s", low=0.005, high=0.05, doc="between window samples")
    history: float = parameter(0.06, unit="s", low=0.0, high=1.0, doc="a window begins before now")
    margin: float = parameter(0.06, unit="s", low=0.01, high=0.5, doc="from now to the splice")
    horizon: float = parameter(0.25, unit="s", low=0.05, high=2.0, doc="nominal motion after the splice, then braking")
    filter_time: float = parameter(0.08, unit="s", low=0.02, high=0.5, doc="averaging of the rate: bounds jerk")
    seal_delay: float = parameter(0.15, unit="s", low=0.02, high=5.0, doc="without points, before the end is the end")
    control_timeout: float = parameter(0.3, unit="s", low=0.05, high=5.0, doc="silence of the loop that slows the arm")
    reserve: float = parameter(0.95, low=0.1, high=1.0, doc="share of velocity and acceleration limits used")
    max_step: float = parameter(0.1, unit="m", low=0.001, high=1.0, doc="most between neighbouring points")
    max_turn: float = parameter(0.5, unit="rad", low=0.01, high=3.0, doc="most between neighbouring points")
    start_step: float = parameter(0.05, unit="m", low=0.001, high=1.0, doc="most from the arm to a plan's first point")
    start_turn: float = parameter(0.2, unit="rad", low=0.01, high=3.0, doc="most from the arm to a plan's first point")
    supervisors: tuple[str, ...] = parameter(("supervisor",), doc="agents that may take control by force")
    armed: bool = parameter(False, doc="requests for control are granted without the holder's consent")

    journal: str = parameter("", doc="lets a restarted executor go on; empty: the supervisor's, or none")

    def motion(self) -> MotionConfig:
        """The part that concerns the motion."""
        return MotionConfig(
            self.period,
            self.history,
            self.margin,
            self.horizon,
            self.filter_time,
            self.seal_delay,
            self.control_timeout,
            self.reserve,
        )


@dataclass(frozen=True)
class ExecutedRange:
    """Consecutive points the arm has reached."""

    first_seq: int
    last_seq: int
    epoch: int
    plan_time: float  # [s] plan time of the arm when they were found reached


class PlanExecutor:
    """Points in, motion windows out. Times `now` [s] are one monotonic clock, the one windows are stamped with."""

    def __init__(
        self,
        robot: RobotModel,
        config: ExecutorConfig | None = None,
        receiver: Receiver | None = None,
        memory: ExecutorMemory | None = None,
    ) -> None:
        self.config = config or ExecutorConfig()
        self.robot = robot
        self.motion = PlanMotion(robot.limits, self.config.motion())
        self.desk = AuthorityDesk(frozenset(self.config.supervisors), self.config.armed)
        self.receiver = receiver or Receiver(memory.position if memory else None, self.desk.may_open)
        self._kinematics = Kinematics(robot)
        self._highest_seq = 0
        self._executed_seq = 0
        self._executed: list[ExecutedRange] = []
        self._rate_goal = 1.0
        self._paused = False
        self._halt_number = 0
        self._halted = ""
        self._memory = memory
        if memory is not None:
            self._highest_seq, self._executed_seq = memory.highest_seq, memory.executed_seq
            self._halt_number, self._halted = memory.halt_number, memory.halted
            self.motion.start_from(memory.executed_seq, memory.plan_time)

    def receive(self, now: float, operations: Iterable[Operation]) -> None:
        """Apply what the link brought, exactly once and in order; refusals are reported, and change nothing.

        Until a successor knows what its predecessor executed nothing is taken: it is not acknowledged, and comes again.
        """
        if self._memory is not None:
            return
        for delivery in self.receiver.receive(now, operations):
            if delivery.refusal:
                continue
            try:
                self._apply(now, delivery.operation)
            except (InvalidValueError, OutOfReachError, QueueFullError) as error:
                self.receiver.refuse(delivery.operation.number, str(error))

    def halt(self, now: float, number: int, reason: str) -> None:
        """Come to rest on the path, plan kept; a number not above the latest is the same halt again."""
        if number > self._halt_number:
            self._halt_number = number
            self._halted = reason or "halt"

    def on_authority(self, now: float, message: AuthorityMessage) -> None:
        """Take what an agent says about authority; raises AuthorityError or TransitionError when it is refused."""
        self.desk.handle(now, message, self.receiver)

    def on_control(self, now: float, report: ControlReport) -> None:
        """Take in what the control loop says of itself. Raises InvalidValueError on a wrong number of joints."""
        if report.joint_position.size != self.robot.dof:
            allowed = f"allowed: {self.robot.dof} values"
            raise InvalidValueError("control.joint_position (length)", report.joint_position.size, allowed)
        if self._memory is not None and report.resting:
            self._resolve(self._memory, report)
        self.motion.on_control(now, report)
        self._note_executed()

    def tick(self, now: float) -> MotionWindow | None:
        """The next window, every 20 to 40 ms; None when there is nothing new to say."""
        held = self._paused or bool(self._halted)
        return self.motion.tick(now, 0.0 if held else self._rate_goal)

    def drain_executed(self) -> list[ExecutedRange]:
        """Points reached since the last call, each once, in order."""
        executed, self._executed = self._executed, []
        return executed

    def memory(self) -> ExecutorMemory:
        """What a successor needs; to be written down after each tick, before its window is sent on."""
        motion, path = self.motion, self.motion.path
        rows = slice(path.index_of_seq(self._executed_seq) + 1, motion.committed_index + 1)
        committed = zip(path.seqs[rows].tolist(), path.times[rows].tolist(), strict=True)
        return ExecutorMemory(
            self.receiver.position,
            self._executed_seq,
            self._highest_seq,
            self._halt_number,
            self._halted,
            motion.plan_time,
            self._memory.committed if self._memory else tuple(committed),
        )

    @property
    def queue_length(self) -> int:
        """Points held and not executed."""
        path = self.motion.path
        return len(path) - 1 - path.index_of_seq(self._executed_seq)

    def report(self, now: float) -> ExecutorReport:
        """Acknowledgement and state."""
        log = self.receiver.acknowledgement
        motion = self.motion
        seqs = motion.path.seqs
        mode, reason = self._mode(now)
        return ExecutorReport(
            mode=mode,
            reason=reason,
            epoch=log.position.epoch,
            authority=log.position.authority,
            applied_number=log.position.applied_number,
            refused_number=log.refused_number,
            refusal=log.refusal,
            executed_seq=self._executed_seq,
            committed_seq=max(int(seqs[motion.committed_index]), self._executed_seq),
            tail_seq=int(seqs[-1]),
            halt_number=self._halt_number,
            plan_time=max(motion.plan_time, 0.0),  # the lead-in to a first point at 0 lies before it
            committed_time=max(motion.stop_time, 0.0),
            tail_time=max(float(motion.path.times[-1]), 0.0),
            rate=motion.rate(now),
            rate_goal=self._rate_goal,
            queue_length=self.queue_length,
            capacity=self.config.capacity,
            asker=self.desk.asker,
            granted=self.desk.granted,
            forced=self.desk.forced,
            holder_silent=self.desk.silent(now),
            denied_agent=self.desk.denial.agent,
            denied_number=self.desk.denial.number,
            denial=self.desk.denial.reason,
        )

    def _mode(self, now: float) -> tuple[ExecutorMode, str]:
        control = self.motion.control
        if self._halted:
            return ExecutorMode.HALTED, self._halted
        if self.motion.trouble:
            return ExecutorMode.FAULT, self.motion.trouble
        if not self.motion.anchored:
            return ExecutorMode.FAULT, "the arm was not seen at rest yet"
        if control is not None and control.state is LoopState.FAULT:
            return ExecutorMode.FAULT, control.reason or "control loop is FAULT"
        if self._paused:
            return ExecutorMode.PAUSED, "paused by the operator"
        primitive = control is not None and control.primitive > 0
        running = self.queue_length > 0 or self.motion.moving(now) or primitive
        return (ExecutorMode.RUNNING if running else ExecutorMode.IDLE), ""

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
        elif kind is OperationKind.PAUSE:
            self._paused = True
        elif kind is OperationKind.RESUME:
            self._resume()

    def _append(self, now: float, operation: Operation) -> None:
        path = self.motion.path
        if not self.motion.anchored:
            raise InvalidValueError("operation.points", "APPEND", "allowed: after the arm's first report at rest")
        points = admit(operation, self._tail(), self.robot.dof)
        q = path.joints[-1].copy()
        joints = self._kinematics.solve_path(points.pose, q)
        if path.seqs[-1] == 0:  # the plan's first rest, at the arm, shortly before its first point in plan time
            gap = float(np.linalg.norm(points.pose[0, :3] - self.robot.forward(q).translation))
            self.motion.begin(now, float(points.time[0]) - LEAD_IN - gap / LEAD_SPEED, q, 0)
        seqs = np.arange(points.first_seq, points.last_seq + 1, dtype=np.int64)
        self.motion.append(now, seqs, points.time, joints, points.gripper)
        self._highest_seq = points.last_seq

    def _tail(self) -> Tail:
        path, config = self.motion.path, self.config
        starts = len(path) == 1
        return Tail(
            seq=int(path.seqs[-1]),
            highest_seq=self._highest_seq,
            time=float(path.times[-1]) - TIME_SLACK if path.seqs[-1] else -np.inf,
            pose=np.asarray(pin.SE3ToXYZQUAT(self.robot.forward(path.joints[-1]))),
            room=config.capacity - self.queue_length,
            max_step=config.start_step if starts else config.max_step,
            max_turn=config.start_turn if starts else config.max_turn,
        )

    def _truncate(self, now: float, after_seq: int) -> None:
        """Drop what comes after `after_seq` and is not committed; an arm off its plan may start anew."""
        motion = self.motion
        if motion.off_path and motion.control is not None:
            motion.begin(now, motion.plan_time, motion.control.joint_position, self._executed_seq)
            motion.off_path, motion.trouble = False, ""
            return
        motion.truncate(max(after_seq, self._executed_seq))

    def _resume(self) -> None:
        self._paused, self._halted = False, ""
        if not self.motion.off_path:
            self.motion.trouble = ""

    def _resolve(self, memory: ExecutorMemory, report: ControlReport) -> None:
        """The arm rests: tell which points it reached while this executor's predecessor was dead."""
        seq, plan_time = memory.reached(report)
        self._memory = None
        self.motion.start_from(seq, plan_time)
        passed = np.array([entry for entry, _ in memory.committed if entry <= seq], dtype=np.int64)
        if passed.size:
            self._tell_executed(passed)

    def _note_executed(self) -> None:
        reached = self.motion.executed_seq()
        if reached <= self._executed_seq:
            return
        path = self.motion.path
        seqs = path.seqs[path.index_of_seq(self._executed_seq) + 1 : path.index_of_seq(reached) + 1]
        self._tell_executed(seqs)

    def _tell_executed(self, seqs: IntArray) -> None:
        epoch = self.receiver.position.epoch
        for run in np.split(seqs, np.flatnonzero(np.diff(seqs) != 1) + 1):
            self._executed.append(ExecutedRange(int(run[0]), int(run[-1]), epoch, self.motion.plan_time))
        self._executed_seq = int(seqs[-1])
