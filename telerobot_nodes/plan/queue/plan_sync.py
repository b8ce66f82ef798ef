"""Keeps what is recorded in step with the robot: starts, truncates, hands over and restores the plan [US5046022].

What belongs here: what follows from the robot's reports, and from authority, for plan and trial path. What must never
enter: sampling, the operation log itself (`plan.log`), clocks.
"""

from __future__ import annotations

from telerobot_nodes.core.protocol import AuthorityKind, ExecutorMode, OperationKind
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.plan.authority import FORCED, AuthorityMessage, StandBy
from telerobot_nodes.plan.log import Event, ExecutorReport, Operation, Phase, PlanReplication
from telerobot_nodes.plan.queue.brake import committed_on_arrival
from telerobot_nodes.plan.queue.collision_stop import CollisionStop
from telerobot_nodes.plan.queue.joins import JoinOutcome
from telerobot_nodes.plan.queue.moved_while_idle import MovedWhileIdle
from telerobot_nodes.plan.queue.notices import Notices
from telerobot_nodes.plan.queue.queue_values import Join, QueueConfig
from telerobot_nodes.plan.queue.recorder import Recorder

JOIN_TIME = 0.5  # [s] plan time from the end of a plan to the first point of the next


class PlanSync:
    """Recorder, replication and stand-by of one agent, brought together."""

    def __init__(
        self, config: QueueConfig, recorder: Recorder, notices: Notices, start_pose: FloatArray | None
    ) -> None:
        plan = recorder.plan.store
        self.replication = PlanReplication(config.agent, plan, config.sender, config.execution_window)
        self.standby = StandBy(config.agent, config.capacity, config.meeting_distance, config.meeting_angle)
        self.collision_stop = CollisionStop(config.stop_before_collision)
        self._config = config
        self._recorder = recorder
        self._notices = notices
        self._pose = start_pose  # (7,) of the tool, as last reported
        self._first_seq = 0  # point with which this agent began its plan
        self._idle = MovedWhileIdle()
        self._next_send = 0.0
        self._sent: dict[OperationKind, tuple[int, int]] = {}  # epoch and number

    @property
    def phase(self) -> Phase:
        """Phase of the replication."""
        return self.replication.phase

    @property
    def length(self) -> int:
        """Points of the plan not executed."""
        return self._recorder.plan.store.count_after(self.replication.executed_seq)

    @property
    def capacity(self) -> int:
        """Most points of the plan, here or at the robot."""
        report = self.replication.report
        own = self._config.capacity
        return min(own, report.capacity) if report and report.capacity else own

    def hold_reason(self) -> str:
        """Why the operator's input must wait; empty if it need not."""
        recorder = self._recorder
        if recorder.brake.engaged:
            return "time brake"
        if recorder.position_clutch and self.phase is not Phase.READY:
            return self.replication.denial or str(self.phase.value)
        held, most = self._fill
        name = "plan" if recorder.position_clutch else "trial path"
        return f"{name} is full: {held} of {most} points" if recorder.is_full(most - held) else ""

    def record(self, now: float) -> None:
        """Append the points up to `now`, as far as the input need not wait."""
        held, most = self._fill
        self._recorder.sampler.dwells = self.phase is not Phase.OBSERVING  # who stands by may rest for hours
        waits = self._recorder.brake.engaged or (self._recorder.position_clutch and self.phase is not Phase.READY)
        self._recorder.record(now, most - held, waits, self._underrun_imminent())

    def append_gripper(self) -> None:
        """Append a point for an opening that waits for one, unless the input must wait."""
        if not self.hold_reason():
            self._recorder.append_gripper()

    def submit(self, kind: OperationKind, rate: float = 1.0, window: float = 0.0, halt_count: int = 0) -> None:
        """Send an operation without points, however many are unacknowledged. Raises TransitionError."""
        sender = self.replication.sender
        operation = sender.submit(kind, rate=rate, window=window, urgent=True, halt_count=halt_count)
        self._sent[kind] = operation.epoch, operation.number

    def number_sent(self, kind: OperationKind) -> int:
        """Number of the latest operation of this kind that `submit` sent in the present epoch; 0: none."""
        epoch, number = self._sent.get(kind, (0, 0))
        report = self.replication.report
        return number if report and report.epoch == epoch else 0

    def flush(self) -> None:
        """Append what is drawn and has no final plan time yet, unless the plan may not be changed now."""
        recorder = self._recorder
        if not recorder.position_clutch or self.phase is Phase.READY:
            recorder.path.append(recorder.sampler.flush())

    def clear(self) -> int:
        """Delete every point not executed; returns how many were deleted here. Raises TransitionError."""
        if self._recorder.position_clutch:
            self.flush()
        deleted = self.replication.clear()
        self._recorder.plan.feed.truncate(self._recorder.plan.store.last_seq)
        if self._recorder.position_clutch:
            self._recorder.restart_sampler()
        return deleted

    def engage(self, kind: Join) -> JoinOutcome:
        """Engage the position clutch, if the plan may be changed now."""
        if kind is not Join.DISCARD and self.phase is not Phase.READY:
            return JoinOutcome(False, 0, self.phase.value)
        outcome = self._recorder.engage(kind)
        if outcome.engaged:
            self.append_gripper()
        return outcome

    def poll(self, now: float) -> list[Operation]:
        """Brake, take over and send what is due; returns the operations of one message."""
        plan = self._recorder.plan
        plan.store.forget(min(self.replication.executed_seq, plan.store.last_seq, plan.feed.published_seq))
        if now >= self._next_send:
            self._next_send = now + self._config.send_period
            self._delete_by_brake(now)
            self._take_over(now)
            self._limit_execution()
            self.replication.send_points(now)
        return self.replication.sender.poll(now) if self.phase not in (Phase.WAITING, Phase.OBSERVING) else []

    def on_report(self, now: float, report: ExecutorReport, tool_pose: FloatArray | None) -> None:
        """Take the robot's report; `tool_pose` (7,) in WORLD, None if not measured."""
        replication, plan = self.replication, self._recorder.plan
        replication.on_report(now, report)
        self.standby.on_report(now, report)
        if replication.event is Event.AT_REST:
            self._start(now, tool_pose)
        elif replication.event in (Event.AGREED, Event.JOINED):
            self._continue()
        elif len(plan) and self.phase in (Phase.CLAIMING, Phase.INSISTING, Phase.OBSERVING, Phase.SETTLING):
            self._notices.latest = f"{self.length} points deleted: the robot's plan is another"
            plan.clear()
        if self.phase is Phase.OBSERVING and tool_pose is not None:
            self._recorder.stand_by(now, tool_pose)
        never_begun = self._never_begun
        rests = bool(len(plan)) and (replication.rests or never_begun)
        if self._idle.update(plan.head_pose if rests else None, tool_pose):
            replication.fire(Event.MOVED)  # the plan starts anew from there
            if never_begun:
                replication.clear()
        if replication.notices:
            self._notices.latest = "; ".join(replication.notices)
            replication.notices.clear()

    def authority_message(self, now: float, kind: AuthorityKind, peer: str) -> AuthorityMessage:
        """Message about authority to send now."""
        if kind in (AuthorityKind.REQUEST, AuthorityKind.RELEASE):
            self.replication.wanted = kind is AuthorityKind.REQUEST
        if kind is AuthorityKind.REQUEST:
            self.standby.asked(now)
        report = self.replication.report
        return self.standby.handoff.message(kind, peer, report.epoch if report else 0)

    def on_authority(self, message: AuthorityMessage) -> None:
        """Take a message about authority from another agent or from the robot."""
        self._notices.latest = self.standby.handoff.on_message(message) or self._notices.latest
        if self.standby.claims_nothing:
            self.replication.give_up()

    @property
    def _fill(self) -> tuple[int, int]:
        """Points held and most points of the path being recorded."""
        if self._recorder.position_clutch:
            return self.length, self.capacity
        return len(self._recorder.trial), self._config.capacity

    def _underrun_imminent(self) -> bool:
        """True when the robot would run out of points before later geometry arrived."""
        report = self.replication.report
        if report is None:
            return False
        left = self._recorder.plan.store.last_time - report.plan_time
        return left < self._config.underrun_margin + max(self.replication.round_trip, 0.0)

    def _start(self, now: float, tool_pose: FloatArray | None) -> None:
        """Start the plan with one point where the arm rests."""
        report = self.replication.report
        pose = self._pose if tool_pose is None else tool_pose
        if report is None or pose is None:
            raise InvalidValueError("tool_pose", tool_pose, "allowed: the measured tool pose, 7 values")
        self._pose = pose
        self._recorder.plan.skip_numbers(report.tail_seq)
        self._recorder.begin_plan(now, report.tail_time + JOIN_TIME if report.tail_seq else 0.0, pose)
        self._first_seq = self._recorder.plan.store.last_seq
        self.replication.start(report.tail_seq)
        self._notices.latest = "ready"

    @property
    def _never_begun(self) -> bool:
        """True when the robot cannot go to the only point of a plan, where the arm was when the plan was begun.

        On its way there, that point was overtaken by a primitive.
        """
        replication = self.replication
        report = replication.report
        if report is None or replication.phase is not Phase.READY or replication.unacknowledged:
            return False
        return report.mode is ExecutorMode.FAULT and self._recorder.plan.store.last_seq == self._first_seq

    def _continue(self) -> None:
        """Both tails are the same point again: continue from it."""
        replication, recorder = self.replication, self._recorder
        recorder.plan.feed.truncate(replication.kept_seq)
        if replication.lost is not None:
            recorder.plan.append_again(replication.lost)
        if recorder.position_clutch:
            recorder.restart_sampler()
        self._notices.latest = "robot has confirmed; the plan continues from its head"
        if replication.event is Event.JOINED:
            self.engage(Join.CONNECT)

    def _take_over(self, now: float) -> None:
        """Claim authority that was consented to: where the tool meets the plan, or at once if forced."""
        recorder, replication = self._recorder, self.replication
        if self.phase is not Phase.OBSERVING or not len(recorder.trial):
            return
        meeting = self.standby.meeting(recorder.trial.head_pose, self._committed(now))
        if meeting == FORCED:
            replication.insist()
        elif meeting:
            recorder.plan.clear()
            recorder.plan.store.extend(self.standby.active.store.after(0))
            recorder.plan.skip_numbers(recorder.plan.store.last_seq)
            replication.take_over(meeting)

    def _limit_execution(self) -> None:
        """Let the robot wait before a collision.

        Of points that only the robot knows, nothing is known here: their limit stays until the operator turns it off.
        """
        report = self.replication.report
        unknown = self.phase is Phase.SETTLING and self.collision_stop.enabled
        if report is not None and not unknown:
            self.replication.limit(self.collision_stop.limit(self._recorder.plan.store, report.limit_seq))

    def _delete_by_brake(self, now: float) -> None:
        recorder = self._recorder
        on_plan = recorder.position_clutch
        if not recorder.brake.engaged or (on_plan and self.phase is not Phase.READY):
            return
        seq = recorder.brake_target(now, self._committed(now) if on_plan else recorder.path.store.first_time)
        if seq is None:
            return
        if on_plan:
            self.replication.truncate(seq)
        recorder.path.truncate(seq)
        recorder.restart_sampler()

    def _committed(self, now: float) -> float:
        """Plan time [s] below which the brake deletes nothing."""
        report = self.replication.report
        if report is None:
            return 0.0
        age = now - self.replication.report_time
        round_trip = self.replication.round_trip if self.replication.round_trip >= 0.0 else self.standby.round_trip
        return committed_on_arrival(report, age, round_trip, self._config.brake_margin)
