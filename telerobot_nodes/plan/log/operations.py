"""Operations of the log between the operator's queue and the robot's: values only [US5046022 claims 7, 13, 20].

What belongs here: the values that both ends share. What must never enter: clocks, retransmission, buffers
(`sender.py`, `receiver.py`).

Rules of the log:
- Operations of one epoch are numbered from 1 without gaps and applied once, in that order.
- APPEND names in `after_seq` the point that it follows. A robot whose tail is another point (because a TRUNCATE or
  CLEAR could not delete the committed stretch) refuses it, so that the plan never has an unnoticed gap. The operator's
  side then continues from the robot's tail.
- AUTHORITY with number 1 and a higher epoch claims that epoch for `agent`: first claim, restart of the operator's
  side, consent of the holder, or a supervisor. The robot decides. An epoch is a fencing token: older operations are
  refused. AUTHORITY inside an epoch is refused.
- Two lives of one agent never claim the same epoch (`next_epoch`); otherwise operations of the dead one that are
  still on the link would count as the other's.
- No number of a message may leave no room for the next: an epoch is at most EPOCHS above the present one.
- A stop never waits for points: a PAUSE, CLEAR or TRUNCATE that overtakes earlier operations holds the arm until its
  turn has come.
- An operation that cannot be read takes its turn and is refused, so that those after it are not kept waiting.
- LIMIT names the last point that may be executed. The arm waits there, and the points after it are kept, until another
  LIMIT, or until they are deleted. It outlasts an epoch: whoever takes over knows of no collision yet.
- RESET acts before its turn at an executor that was restarted while the e-stop is latched (`plan.executor.early_reset`).
- RESUME names the robot's count of halts that it ends; a robot that was halted again meanwhile rejects it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from telerobot_nodes.core.protocol import ExecutorMode, OperationKind
from telerobot_nodes.core.values import in_range
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.plan.log.points import PlanPoints

RATE_RANGE = (0.1, 10.0)  # [-] allowed time ratios and execution rates
MAX_WINDOW = 3600.0  # [s] longest execution window
EPOCHS = 1 << 20  # the next epoch is one of so many after the present one
MAX_POINTS = 4096  # of one operation
MOST_COPIES = 255  # that are told apart
MAX_NAME = 255  # characters of an agent's name
_KINDS = frozenset(OperationKind)


def next_epoch(epoch: int, now: float) -> int:
    """Epoch to claim after `epoch`, from the claimant's clock `now` [s]: a different one after each restart."""
    return epoch + 1 + int(1000.0 * now) % EPOCHS


def agent_name(name: str, field: str) -> str:
    """`name`; raises InvalidValueError when it is empty or too long."""
    if not 0 < len(name) <= MAX_NAME:
        shown = name if len(name) <= MAX_NAME else f"{name[:16]}... ({len(name)} characters)"
        raise InvalidValueError(field, shown, f"allowed: a name of 1 to {MAX_NAME} characters")
    return name


@dataclass(frozen=True)
class UnreadableOperation:
    """A received operation with bad values: refused with `reason` when its turn comes."""

    epoch: int
    number: int
    agent: str
    reason: str
    copy: int = 0


@dataclass(slots=True)  # not frozen, which would make up half of the time of a brake's step; nobody changes one
class Operation:
    """One numbered operation of an epoch; validated when made. Raises InvalidValueError naming the field."""

    epoch: int
    number: int
    kind: OperationKind
    agent: str
    points: PlanPoints | None = None  # APPEND
    after_seq: int = 0  # TRUNCATE: last point that stays; APPEND: point before, 0: none; LIMIT: last to execute, 0: all
    rate: float = 1.0  # RATE [-]
    window: float = 0.0  # [s] expires this long after receipt; 0: never
    halt_count: int = 0  # RESUME: the robot's count of halts
    copy: int = 0  # how often it was sent before, at most MOST_COPIES

    def __post_init__(self) -> None:
        if self.number < 1:
            raise InvalidValueError("operation.number", self.number, "allowed: 1 or more")
        if self.kind not in _KINDS:
            raise InvalidValueError("operation.kind", self.kind, f"allowed: 0 .. {max(OperationKind)}")
        agent_name(self.agent, "operation.agent")
        if self.kind is OperationKind.APPEND and (self.points is None or not len(self.points)):
            raise InvalidValueError("operation.points", self.points, "allowed: at least one point")
        if self.points is not None and len(self.points) > MAX_POINTS:
            raise InvalidValueError("operation.points (length)", len(self.points), f"allowed: 1 .. {MAX_POINTS}")
        if self.points is not None and not 0 <= self.after_seq < self.points.first_seq:
            raise InvalidValueError("operation.after_seq", self.after_seq, "allowed: 0 .. points.first_seq - 1")
        if self.kind is OperationKind.RATE:
            in_range(self.rate, "operation.rate", *RATE_RANGE)
        if self.window:
            in_range(self.window, "operation.window", 0.0, MAX_WINDOW, "s")


@dataclass(frozen=True)
class ExecutorReport:
    """Acknowledgement and state of the robot's buffer (`ExecutorState.msg`)."""

    mode: ExecutorMode
    reason: str
    epoch: int
    authority: str
    applied_number: int
    refused_number: int
    refusal: str
    executed_seq: int
    committed_seq: int
    tail_seq: int
    halt_count: int
    plan_time: float  # [s]
    committed_time: float  # [s]
    tail_time: float  # [s]
    rate: float  # [-]
    rate_goal: float  # [-]
    queue_length: int
    capacity: int
    applied_copy: int = 0  # of the operation `applied_number`, as it was received first
    applied_age: float = 0.0  # [s] since that receipt
    limit_seq: int = 0  # last point that may be executed; 0: no limit
    stopping_time: float = 0.0  # [s] until the arm would rest if it were stopped now
    asker: str = ""  # agent whose request is to be answered
    waiting: tuple[str, ...] = ()  # agents that requested after it
    granted: bool = False
    forced: bool = False
    holder_silent: bool = False
    denied_agent: str = ""
    denied_number: int = 0
    denial: str = ""
    reset_number: int = 0  # latest RESET of the epoch that was answered by the node that serves it
    reset_refusal: str = ""  # why it was refused; empty: it was done
    tare_number: int = 0
    tare_refusal: str = ""
    number: int = 0  # of the report, as the robot counts them; 0: not counted

    @property
    def requests(self) -> tuple[str, ...]:
        """Agents that request authority, in the order of their turns."""
        return (self.asker, *self.waiting) if self.asker else tuple(self.waiting)
