"""What the operator's side knows of the robot's plan, and how the two are brought together again.

What belongs here: whose plan it is, which points were handed over, what the robot kept. What must never enter:
devices, time bases, clocks.

The robot is right about what was executed and kept. After a delete-all, after a refusal, or when the reports tell of
another tail than expected, nothing more is handed over until every operation is confirmed (CHECKING); then the
operator's plan is cut, or what was deleted here and kept there is put back, so that both tails are the same point.
Points the robot had taken and neither executed nor kept (its executor was restarted) are given back in `lost`, to be
laid once more with new numbers; what it refused is not: it would refuse it again. When the robot holds points nobody
here knows (restart of this side), they are left to run out (SETTLING), and the plan goes on from where the arm comes
to rest.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from enum import Enum

from telerobot_nodes.errors import TransitionError
from telerobot_nodes.plan.operations import ExecutorMode, ExecutorReport, OperationKind, next_epoch
from telerobot_nodes.plan.sender import Sender, SenderConfig
from telerobot_nodes.plan.store import PlanStore, Stretch, as_points, gapless

POINTS_PER_OPERATION = 128
REMEMBERED = 8192  # most deleted points kept until the robot has confirmed; it keeps only its committed stretch
DOUBTFUL_REPORTS = 20  # reports of the past in a row before they are believed: the robot was restarted


class Phase(Enum):
    """Where the operator's side stands with the robot."""

    WAITING = "no report yet"
    CLAIMING = "asked for authority"
    SETTLING = "robot finishes what it holds"
    READY = "planning"
    CHECKING = "waiting for the robot's confirmation"
    OBSERVING = "another agent holds authority"


class Event(Enum):
    """What a report, or this side, says."""

    FREE = "authority is free, or ours from before"
    OTHER = "authority is another's"
    GRANTED = "authority is ours"
    INSIST = "consented: claim it from the one who holds it"
    JOINED = "authority is ours, with the other's plan"
    AT_REST = "robot is at rest with nothing left"
    DOUBT = "tails may differ"
    AGREED = "tails are the same"
    UNKNOWN_TAIL = "robot holds points not known here"
    MOVED = "robot rests elsewhere than at the plan's end"


_ANY = {(phase, Event.OTHER): Phase.OBSERVING for phase in Phase}
TABLE: dict[tuple[Phase, Event], Phase] = {
    **_ANY,
    (Phase.WAITING, Event.FREE): Phase.CLAIMING,
    (Phase.OBSERVING, Event.FREE): Phase.CLAIMING,
    (Phase.SETTLING, Event.FREE): Phase.CLAIMING,
    (Phase.READY, Event.FREE): Phase.CLAIMING,
    (Phase.CHECKING, Event.FREE): Phase.CLAIMING,
    (Phase.CLAIMING, Event.GRANTED): Phase.SETTLING,
    (Phase.OBSERVING, Event.INSIST): Phase.CLAIMING,
    (Phase.CLAIMING, Event.JOINED): Phase.CHECKING,
    (Phase.SETTLING, Event.AT_REST): Phase.READY,
    (Phase.READY, Event.DOUBT): Phase.CHECKING,
    (Phase.READY, Event.MOVED): Phase.SETTLING,
    (Phase.CHECKING, Event.DOUBT): Phase.CHECKING,
    (Phase.CHECKING, Event.AGREED): Phase.READY,
    (Phase.CHECKING, Event.UNKNOWN_TAIL): Phase.SETTLING,
}


@dataclass(frozen=True)
class _Removed:
    """Points deleted here that the robot may have kept."""

    number: int  # operation that deletes them
    branch_seq: int  # point they followed
    stretch: Stretch

    def index(self, seq: int) -> int:
        """Place of a point in the stretch; -1: not in it."""
        n = int(self.stretch.seq.searchsorted(seq))
        return n if n < len(self.stretch) and int(self.stretch.seq[n]) == seq else -1


class Uplink:
    """The log's sending end together with what was handed over; `store` is the operator's plan."""

    def __init__(self, agent: str, store: PlanStore, config: SenderConfig, window: float = 0.0) -> None:
        """`window` [s]: points and RESUME that wait longer at the robot expire; what stops or deletes never does."""
        self.agent = agent
        self._window = window
        self.phase = Phase.WAITING
        self.wanted = True  # claim authority when it is free
        self.report: ExecutorReport | None = None
        self.report_time = -1.0
        self.notices: list[str] = []
        self.event: Event | None = None  # AT_REST or AGREED when the latest report brought it
        self.cut_seq = 0  # newest point here that the latest agreement left untouched
        self.lost: Stretch | None = None  # what the robot lost, when `event` is AGREED
        self._store = store
        self._config = config
        self._sender: Sender | None = None
        self._handed_seq = 0  # last point in an operation
        self._removed: list[_Removed] = []
        self._refused_number = 0
        self._check_number = 0  # operation whose confirmation CHECKING waits for
        self._changes: deque[tuple[int, int]] = deque()  # operations on the tail: number, tail they leave
        self._sure_seq = 0  # point up to which the robot must hold the plan, or have executed it
        self._losing = False  # it does not
        self._past_reports = 0
        self._insisting = False  # our claim stands against another's authority, by consent
        self._joined = False  # our claim takes over the other's plan

    @property
    def sender(self) -> Sender:
        """The log of the epoch; raises TransitionError before authority was asked for."""
        if self._sender is None:
            raise TransitionError("uplink", self.phase, "operation")
        return self._sender

    @property
    def open(self) -> bool:
        """True when operations may be made: authority is ours as far as known."""
        return self.phase in (Phase.SETTLING, Phase.READY, Phase.CHECKING)

    @property
    def unacknowledged(self) -> int:
        """Operations not confirmed."""
        return self._sender.unacknowledged if self._sender else 0

    @property
    def round_trip(self) -> float:
        """[s] measured; -1: none yet."""
        return self._sender.round_trip.value if self._sender else -1.0

    @property
    def rests(self) -> bool:
        """True when the robot has executed the whole plan, and rests, ready for more."""
        report = self.report
        if report is None or self.phase is not Phase.READY or self.unacknowledged:
            return False
        return report.mode is ExecutorMode.IDLE and report.executed_seq == self._store.last_seq

    @property
    def executed_seq(self) -> int:
        """Last point the robot reached, as far as known."""
        return self.report.executed_seq if self.report else 0

    def fire(self, event: Event) -> None:
        """Change phase; raises TransitionError when the event is not defined in it."""
        try:
            self.phase = TABLE[self.phase, event]
        except KeyError:
            raise TransitionError("uplink", self.phase, event) from None

    def on_report(self, now: float, report: ExecutorReport) -> None:
        """Take a report. Reports older than the latest (overtaken on the way) are passed over."""
        self.event, self.lost = None, None
        if self._is_past(report):
            self._past_reports += 1
            if self._past_reports < DOUBTFUL_REPORTS:
                return
            self.notices.append("robot was restarted: its plan is empty")
        self._past_reports = 0
        self.report, self.report_time = report, now
        if self._follow_authority(report):
            self._follow_log(now, report)

    def hand_over(self) -> None:
        """Put points not handed over yet into operations, as far as the window has room."""
        if self.phase is not Phase.READY:
            return
        while self._store.last_seq > self._handed_seq and self.sender.room > 0:
            stretch = gapless(self._store.after(self._handed_seq, POINTS_PER_OPERATION))
            points = as_points(stretch, self.agent)
            operation = self.sender.submit(OperationKind.APPEND, points, self._handed_seq, window=self._window)
            self._changes.append((operation.number, points.last_seq))
            self._handed_seq = points.last_seq

    def truncate(self, after_seq: int) -> int:
        """Delete points with numbers above `after_seq` here and at the robot; returns how many were deleted here.

        `after_seq` must be held here. The robot keeps what it is committed to; then the tails differ and are
        brought together as soon as it says so.
        """
        if after_seq < self._handed_seq:
            operation = self.sender.submit(OperationKind.TRUNCATE, after_seq=after_seq, urgent=True)
            self._changes.append((operation.number, after_seq))
            self._remember(operation.number, after_seq)
            self._handed_seq = after_seq
        return self._store.truncate(after_seq)

    def clear(self) -> int:
        """Delete every point not executed, here and at the robot; returns how many were deleted here."""
        keep = max(self.report.committed_seq if self.report else 0, self._store.first_seq)
        operation = self.sender.submit(OperationKind.CLEAR, urgent=True)
        self._changes.append((operation.number, 0))
        if self.phase is Phase.SETTLING:
            return 0
        self._remember(operation.number, keep)
        self._doubt()
        return self._store.truncate(keep)

    def insist(self) -> None:
        """Claim authority another holds (consented, or taken by a supervisor); its plan runs out first.

        Raises TransitionError when authority is not another's.
        """
        self.fire(Event.INSIST)
        self._insisting, self._joined = True, False
        self._open_epoch()

    def take_over(self, meeting_seq: int) -> None:
        """Claim authority with the other's plan up to a point; the store holds that plan [claim 28].

        Raises TransitionError when authority is not another's.
        """
        self.insist()
        self._joined = True
        operation = self.sender.submit(OperationKind.TRUNCATE, after_seq=meeting_seq)
        self._remember(operation.number, meeting_seq)
        self._check_number = operation.number
        self._store.truncate(meeting_seq)
        self._handed_seq = meeting_seq

    def give_up(self) -> None:
        """A claim against another's authority was refused."""
        if self._insisting and self.phase is Phase.CLAIMING:
            self.fire(Event.OTHER)
            self._sender = None
            self._removed.clear()
        self._insisting = False

    def start(self, tail_seq: int) -> None:
        """The plan goes on after the robot's tail, which is executed."""
        self._handed_seq = tail_seq
        self._forget_changes()

    def _forget_changes(self) -> None:
        self._removed.clear()
        self._changes.clear()
        self._sure_seq, self._losing = 0, False

    def _remember(self, number: int, after_seq: int) -> None:
        stretch = self._store.after(after_seq, REMEMBERED)
        if len(stretch):
            self._removed.append(_Removed(number, after_seq, stretch.copy()))

    def _doubt(self) -> None:
        self._check_number = self.sender.last_number
        self.fire(Event.DOUBT)

    def _is_past(self, report: ExecutorReport) -> bool:
        last = self.report
        if last is None:
            return False
        return (report.epoch, report.applied_number, report.executed_seq) < (
            last.epoch,
            last.applied_number,
            last.executed_seq,
        )

    def _follow_authority(self, report: ExecutorReport) -> bool:
        """Follow whose plan it is; True when it is ours in the epoch of our log."""
        ours = self._sender is not None and report.epoch == self._sender.epoch and report.authority == self.agent
        if ours:
            if self.phase is Phase.CLAIMING:
                self.fire(Event.JOINED if self._joined else Event.GRANTED)
                self._insisting = self._joined = False
            return self.open
        if self._insisting and report.epoch < self.sender.epoch:
            return False  # the claim is on its way
        free = report.authority in ("", self.agent)
        if free and self.phase is Phase.CLAIMING and report.epoch < self.sender.epoch:
            return False  # the claim is on its way
        if free and self.wanted:
            self._claim()
        else:
            self._lose(report)
        return False

    def _claim(self) -> None:
        if self.phase is not Phase.CLAIMING:
            self.fire(Event.FREE)
        self._insisting = self._joined = False
        self._open_epoch()

    def _open_epoch(self) -> None:
        epoch = self.report.epoch if self.report else 0
        self._sender = Sender(next_epoch(epoch, self.report_time), self.agent, self._config)
        self._sender.submit(OperationKind.AUTHORITY)
        self._forget_changes()
        self._refused_number = 0

    def _lose(self, report: ExecutorReport) -> None:
        if self.phase is not Phase.OBSERVING:
            self.notices.append(f"{report.authority or 'nobody'} holds authority")
            self.wanted = self.wanted and not self.open  # what was taken away is not snatched back
        self.fire(Event.OTHER)
        self._insisting = self._joined = False
        self._sender = None
        self._forget_changes()

    def _follow_log(self, now: float, report: ExecutorReport) -> None:
        self.sender.acknowledge(now, report.applied_number)
        self._follow_tail(report)
        if report.refused_number > self._refused_number:
            self._refused_number = report.refused_number
            self.notices.append(f"robot refused operation {report.refused_number}: {report.refusal}")
            if self.phase is Phase.READY:
                self._doubt()
        confirmed = self.unacknowledged == 0
        if self.phase is Phase.READY and (self._losing or self._differs(report, confirmed)):
            self._doubt()
        waiting = self._losing and report.mode is ExecutorMode.FAULT  # it does not know yet what it has executed
        if self.phase is Phase.CHECKING and report.applied_number >= self._check_number and not waiting:
            self._agree(report)
        elif self.phase is Phase.SETTLING and confirmed and _at_rest(report):
            self.fire(Event.AT_REST)
            self.event = Event.AT_REST
        if self.phase is Phase.READY:
            self._removed = [entry for entry in self._removed if entry.number > report.applied_number]

    def _follow_tail(self, report: ExecutorReport) -> None:
        """Find out whether the robot has lost points that it had taken."""
        refused = report.refused_number > self._refused_number
        while self._changes and self._changes[0][0] <= report.applied_number:
            tail_seq = self._changes.popleft()[1]
            if not refused or tail_seq < self._sure_seq:
                self._sure_seq = tail_seq
        self._losing = self._losing or report.tail_seq < self._sure_seq
        self._sure_seq = report.tail_seq

    def _differs(self, report: ExecutorReport, confirmed: bool) -> bool:
        """True when the robot's tail is another: it kept what was deleted here, or anything else."""
        if confirmed:
            return report.tail_seq != self._handed_seq
        applied = [entry for entry in self._removed if entry.number <= report.applied_number]
        return any(entry.index(report.tail_seq) >= 0 for entry in applied)

    def _agree(self, report: ExecutorReport) -> None:
        before = self._store.last_seq
        lost = self._store.after(report.tail_seq).copy() if self._losing else None
        if not self._restore(report.tail_seq):
            self.notices.append("robot holds points not known here: it finishes them first")
            self.fire(Event.UNKNOWN_TAIL)
            return
        self._handed_seq = report.tail_seq
        self._forget_changes()
        self.lost = lost
        if lost is not None:
            self.notices.append(f"robot lost {len(lost)} points it had not executed: they are sent again")
        if report.tail_seq > before:
            self.notices.append(f"robot was committed to point {report.tail_seq}: the plan goes on from there")
        self.fire(Event.AGREED)
        self.event = Event.AGREED

    def _restore(self, tail_seq: int) -> bool:
        """Make `tail_seq` the newest point here, putting back what was deleted; False when it is not known."""
        if self._store.contains(tail_seq):
            self._store.truncate(tail_seq)
            self.cut_seq = tail_seq
            return True
        for entry in self._removed:
            n = entry.index(tail_seq)
            if n >= 0 and self._restore(entry.branch_seq):
                self._store.extend(entry.stretch.first(n + 1))
                return True
        return False


def _at_rest(report: ExecutorReport) -> bool:
    return report.queue_length == 0 and report.mode in (ExecutorMode.IDLE, ExecutorMode.PAUSED, ExecutorMode.HALTED)
