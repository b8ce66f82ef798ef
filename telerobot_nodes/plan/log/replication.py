"""Replication of the plan: keeps the robot's copy equal to the operator's, over a lossy link [US5046022 claims 7, 13].

What belongs here: authority as this side knows it, which points were sent, which the robot kept. What must never
enter: devices, time parameterization, clocks.

The robot decides what was executed and kept. After a delete-all, after a refusal, or when a report shows an
unexpected tail, nothing is sent until every operation is confirmed (CHECKING). Then the operator's plan is truncated,
or points deleted here but kept by the robot are restored, so that both tails are the same point. Points that a
restarted executor lost are returned in `lost`, to be appended with new numbers. Points that the robot refused are
not: it would refuse them again. If the robot holds points that this side does not know (this side was restarted),
the robot finishes them first (SETTLING), and the plan starts anew where the arm comes to rest.
"""

from __future__ import annotations

from telerobot_nodes.core.protocol import ExecutorMode, OperationKind, next_state
from telerobot_nodes.errors import NotNowError
from telerobot_nodes.plan.log.deleted_points import DeletedPoints
from telerobot_nodes.plan.log.operations import EPOCHS, ExecutorReport, next_epoch
from telerobot_nodes.plan.log.replication_states import TABLE, Event, Phase
from telerobot_nodes.plan.log.sender import Sender, SenderConfig
from telerobot_nodes.plan.log.store import PlanStore, PointBlock, as_points, gapless
from telerobot_nodes.plan.log.tail_tracker import TailTracker

POINTS_PER_OPERATION = 64
FEWEST_POINTS = 24  # of an operation while more wait: on a thin link too it is worth its overhead, and sent once
INSISTS = (Phase.INSISTING, Phase.TAKING_OVER)
MAX_PAST_REPORTS = 20  # reports older than the latest, in a row, after which the robot counts as restarted


class PlanReplication:
    """Sending end of the operation log with its state; `store` is the operator's plan."""

    def __init__(self, agent: str, store: PlanStore, config: SenderConfig, window: float = 0.0) -> None:
        """`window` [s]: points and RESUME that wait longer at the robot expire; 0: never."""
        self.agent = agent
        self.phase = Phase.WAITING
        self.wanted = True  # claim authority when it is free
        self.report: ExecutorReport | None = None
        self.report_time = -1.0  # [s]
        self.notices: list[str] = []
        self.event: Event | None = None  # AT_REST, AGREED or JOINED, when the latest report brought it
        self.kept_seq = 0  # newest point here that the latest agreement left in place
        self.lost: PointBlock | None = None  # points the robot lost, with AGREED or JOINED
        self._store = store
        self._config = config
        self._window = window
        self._sender: Sender | None = None
        self._sent_seq = 0  # last point in an operation
        self._deleted = DeletedPoints(store)
        self._tail = TailTracker()
        self._refused_number = 0
        self._check_number = 0  # operation whose confirmation CHECKING and JOINING wait for
        self._past_reports = 0
        self._denied_number = 0
        self._limit_seq = 0  # last point that the robot may execute, as sent; 0: any

    @property
    def sender(self) -> Sender:
        """Log of the epoch. Raises TransitionError before authority was claimed."""
        if self._sender is None:
            raise NotNowError("an operation on the plan", self.phase.value)
        return self._sender

    @property
    def open(self) -> bool:
        """True when operations may be sent: as far as known, authority is ours."""
        return self.phase in (Phase.SETTLING, Phase.READY, Phase.CHECKING, Phase.JOINING)

    @property
    def unacknowledged(self) -> int:
        """Operations not confirmed."""
        return self._sender.unacknowledged if self._sender else 0

    @property
    def round_trip(self) -> float:
        """Measured round trip [s]; -1 if none."""
        return self._sender.round_trip.value if self._sender else -1.0

    @property
    def rests(self) -> bool:
        """True when the robot has executed the whole plan and rests."""
        report = self.report
        if report is None or self.phase is not Phase.READY or self.unacknowledged:
            return False
        return report.mode is ExecutorMode.IDLE and report.executed_seq == self._store.last_seq

    @property
    def executed_seq(self) -> int:
        """Last point that the robot is known to have reached."""
        return self.report.executed_seq if self.report else 0

    def fire(self, event: Event) -> None:
        """Change phase. Raises TransitionError when the event is not defined in the phase."""
        self.phase = next_state("plan replication", TABLE, self.phase, event)

    def on_report(self, now: float, report: ExecutorReport) -> None:
        """Take a report. A report older than the latest (overtaken on the link) is ignored."""
        self.event, self.lost = None, None
        if self.report is not None and _progress(report) < _progress(self.report):
            self._past_reports += 1
            if self._past_reports < MAX_PAST_REPORTS:
                return
            self.notices.append("robot was restarted: its plan is empty")
        self._past_reports = 0
        self.report, self.report_time = report, now
        if self._follow_authority(report):
            self._follow_log(now, report)

    def send_points(self, now: float) -> None:
        """Put new points into operations, as many as may be sent now."""
        ready = self.phase is Phase.READY
        while ready and self._store.last_seq > self._sent_seq and (room := self.sender.room_for_points(now)) > 0:
            block = gapless(self._store.after(self._sent_seq, POINTS_PER_OPERATION))
            if room < min(len(block), FEWEST_POINTS):
                return
            points = as_points(block.first(room), self.agent)
            operation = self.sender.submit(OperationKind.APPEND, points, self._sent_seq, window=self._window)
            self._tail.expect(operation.number, points.last_seq)
            self._sent_seq = points.last_seq

    def truncate(self, after_seq: int) -> int:
        """Delete the points above `after_seq`, here and at the robot; returns how many were deleted here.

        `after_seq` must be held here. The robot keeps its committed stretch; a later report then shows a different
        tail, and the tails are brought together.
        """
        if after_seq < self._sent_seq:
            operation = self.sender.submit(OperationKind.TRUNCATE, after_seq=after_seq, urgent=True)
            self._tail.expect(operation.number, after_seq)
            self._sent_seq = after_seq
            return self._deleted.delete(operation.number, after_seq)
        return self._store.truncate(after_seq)

    def clear(self) -> int:
        """Delete every point not executed, here and at the robot; returns how many were deleted here."""
        keep = max(self.report.committed_seq if self.report else 0, self._store.first_seq)
        operation = self.sender.submit(OperationKind.CLEAR, urgent=True)
        self._tail.expect(operation.number, 0)
        if self.phase is Phase.SETTLING:
            return 0
        self._doubt()
        return self._deleted.delete(operation.number, keep)

    def limit(self, seq: int) -> None:
        """Let the robot execute no point above `seq`, 0: any. Said again when it has forgotten it."""
        report = self.report if self.phase in (Phase.READY, Phase.SETTLING) else None
        if report is not None and seq != (self._limit_seq if self.unacknowledged else report.limit_seq):
            self.sender.submit(OperationKind.LIMIT, after_seq=seq, urgent=True)
            self._limit_seq = seq

    def insist(self) -> None:
        """Claim authority from its holder (by consent, or by a supervisor); the holder's plan runs out first.

        Raises TransitionError when no other agent holds authority.
        """
        self._open_epoch(Event.INSIST)

    def take_over(self, meeting_seq: int) -> None:
        """Claim authority with the holder's plan, which the store holds, up to a point [claim 28].

        Raises TransitionError when no other agent holds authority.
        """
        self._open_epoch(Event.TAKE_OVER)
        operation = self.sender.submit(OperationKind.TRUNCATE, after_seq=meeting_seq)
        self._deleted.delete(operation.number, meeting_seq)
        self._check_number = operation.number
        self._sent_seq = meeting_seq

    def give_up(self) -> None:
        """Withdraw a claim that the holder refused."""
        if self.phase in INSISTS:
            self.fire(Event.OTHER)
            self._sender = None
            self._deleted.clear()

    def start(self, tail_seq: int) -> None:
        """Start the plan after the robot's tail, which is executed."""
        self._sent_seq = tail_seq
        self._forget_tails()

    def _forget_tails(self) -> None:
        self._deleted.clear()
        self._tail.reset()

    def _doubt(self) -> None:
        self._check_number = self.sender.last_number
        self.fire(Event.DOUBT)

    def _open_epoch(self, event: Event) -> None:
        self.fire(event)
        epoch = self.report.epoch if self.report else 0
        self._sender = Sender(next_epoch(epoch, self.report_time), self.agent, self._config)
        self._sender.submit(OperationKind.AUTHORITY)
        self._forget_tails()
        self._refused_number = 0

    @property
    def denial(self) -> str:
        """Why the robot refuses our claim, from its latest report; empty if it does not."""
        if self.phase is not Phase.CLAIMING or self._sender is None or self.report is None:
            return ""
        ours = (self.report.denied_agent, self.report.denied_number) == (self.agent, self._sender.epoch)
        return self.report.denial if ours else ""

    def _follow_authority(self, report: ExecutorReport) -> bool:
        """Follow who holds authority; True when it is ours in the epoch of our log."""
        if self._sender is not None and report.epoch == self._sender.epoch and report.authority == self.agent:
            if not self.open:
                self.fire(Event.GRANTED)
                self._denied_number = report.denied_number
            if report.denied_agent == self.agent and report.denied_number != self._denied_number:
                self._denied_number = report.denied_number  # another operator may use the name too
                self.notices.append(f"robot denied a request of {self.agent}: {report.denial}")
            return True
        if self.open and report.authority == self.agent and report.epoch > self.sender.epoch:
            self.notices.append(f"another operator named {self.agent} has taken control; allowed: a name of its own")
            self._lose(report)
            return False
        free = report.authority in ("", self.agent)
        claims = self.phase in INSISTS or (free and self.phase is Phase.CLAIMING)
        if claims and report.epoch < self.sender.epoch <= report.epoch + EPOCHS:
            return False  # the robot has not received the claim yet
        if free and self.wanted:
            self._open_epoch(Event.FREE)
        else:
            self._lose(report)
        return False

    def _lose(self, report: ExecutorReport) -> None:
        if self.phase is not Phase.OBSERVING:
            self.notices.append(f"{report.authority or 'nobody'} holds authority")
            self.wanted = self.wanted and not self.open  # authority that was taken away is not claimed back
        self.fire(Event.OTHER)
        self._sender = None
        self._forget_tails()

    def _follow_log(self, now: float, report: ExecutorReport) -> None:
        self.sender.acknowledge(now, report.applied_number, report.applied_copy, report.applied_age)
        refused = report.refused_number > self._refused_number
        self._tail.follow(report, refused)
        if refused:
            self._refused_number = report.refused_number
            self.notices.append(f"robot refused operation {report.refused_number}: {report.refusal}")
        if self.phase is Phase.READY and (refused or self._tail.lost or self._differs(report)):
            self._doubt()
        unknown = report.mode in (ExecutorMode.FAULT, ExecutorMode.STARTING)
        counting = self._tail.lost and unknown  # what it has executed is not known yet
        if self.phase in (Phase.CHECKING, Phase.JOINING):
            if report.applied_number >= self._check_number and not counting:
                self._agree(report)
        elif self.phase is Phase.SETTLING and not self.unacknowledged and _at_rest(report):
            self.event = Event.AT_REST
            self.fire(self.event)
        if self.phase is Phase.READY:
            self._deleted.confirm(report.applied_number)

    def _differs(self, report: ExecutorReport) -> bool:
        """True when the robot's tail is not ours: it kept a deleted point, or anything else."""
        if self.unacknowledged == 0:
            return report.tail_seq != self._sent_seq
        return self._deleted.holds(report.tail_seq, report.applied_number)

    def _agree(self, report: ExecutorReport) -> None:
        follow = self._store.contains(report.tail_seq)  # else they follow the point that a deletion should have left
        lost = self._store.after(report.tail_seq).copy() if self._tail.lost and follow else None
        kept_seq = self._deleted.restore(report.tail_seq)
        if kept_seq is None:
            self.notices.append("robot holds points that are unknown here: it finishes them first")
            self.fire(Event.UNKNOWN_TAIL)
            return
        self._sent_seq, self.kept_seq, self.lost = report.tail_seq, kept_seq, lost
        self._forget_tails()
        if lost is not None:
            self.notices.append(f"robot lost {len(lost)} points that it had not executed: they are sent again")
        if not follow:
            self.notices.append(f"robot was committed to point {report.tail_seq}: the plan continues there")
        self.event = Event.JOINED if self.phase is Phase.JOINING else Event.AGREED
        self.fire(self.event)


def _progress(report: ExecutorReport) -> tuple[int, int, int]:
    return report.epoch, report.applied_number, report.executed_seq


def _at_rest(report: ExecutorReport) -> bool:
    return report.queue_length == 0 and report.mode in (ExecutorMode.IDLE, ExecutorMode.PAUSED, ExecutorMode.HALTED)
