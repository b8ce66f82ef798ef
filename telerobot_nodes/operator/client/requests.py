"""Requests until their answer or time limit, and what the robot confirms: halts, and operations of the plan queue."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from enum import Enum

from telerobot_nodes.core.protocol import ExecutorMode, next_state
from telerobot_nodes.operator.client.commands import Command, Reset, Resume, Tare
from telerobot_nodes.operator.client.status import QueueStatus, RobotStatus

REPEATED = 0.05  # [s] between two copies of a stop that is not confirmed
LEAST_WAIT = 5.0  # [s] for the robot's answer to an operation, and three round trips more
SETTLING = 2.0  # [s] from the acknowledgement of a RESUME to the robot's new mode
STATES = 2  # of the queue until one certainly counts the operation
Guard = AbstractContextManager[object]
UNGUARDED: Guard = nullcontext()
STOPPED = frozenset(ExecutorMode) - {ExecutorMode.IDLE, ExecutorMode.RUNNING}
_SENT: dict[type, Callable[[QueueStatus], int]] = {  # number of the latest one sent
    Reset: lambda queue: queue.reset_number,
    Tare: lambda queue: queue.tare_number,
    Resume: lambda queue: queue.resume_number,
}
_ANSWERED: dict[type, Callable[[RobotStatus], tuple[int, str]]] = {  # number of the latest one, and its refusal
    Reset: lambda robot: (robot.reset_number, robot.reset_refusal),
    Tare: lambda robot: (robot.tare_number, robot.tare_refusal),
}


class Result(Enum):
    """What became of a command."""

    DONE = "done"
    REFUSED = "refused"  # by the node that serves it, or here
    NO_ANSWER = "no answer"  # whether it was done is not known
    NOT_SERVED = "not served"  # no node serves it now


@dataclass(frozen=True)
class Outcome:
    """Result of a command, and its reason in the words of the node that executed or rejected it."""

    result: Result
    text: str = ""

    @property
    def done(self) -> bool:
        """True when a node has executed the command."""
        return self.result is Result.DONE


@dataclass(frozen=True)
class OpenRequest:
    """A command without an answer yet, sent at `since` [s]."""

    ticket: int
    command: Command
    since: float


class Requests:
    """Open requests; each ends exactly once, by an answer or by its time limit."""

    def __init__(self, limit: float) -> None:
        self.limit = limit  # [s] until a request counts as unanswered
        self._open: dict[int, OpenRequest] = {}
        self._extra: dict[int, float] = {}  # [s] of those with more time
        self._last = 0

    def open(self, command: Command, now: float) -> int:
        """Add a request; returns its ticket."""
        self._last += 1
        self._open[self._last] = OpenRequest(self._last, command, now)
        return self._last

    def close(self, ticket: int) -> OpenRequest | None:
        """End a request; None when it has ended before (an answer after its time limit)."""
        self._extra.pop(ticket, None)
        return self._open.pop(ticket, None)

    def extend(self, ticket: int, seconds: float) -> bool:
        """Give a request `seconds` more; False when it has ended."""
        if ticket not in self._open:
            return False
        self._extra[ticket] = seconds
        return True

    def expired(self, now: float) -> tuple[OpenRequest, ...]:
        """End and return the requests unanswered for longer than the limit."""
        late = tuple(
            request
            for request in self._open.values()
            if now - request.since > self.limit + self._extra.get(request.ticket, 0.0)
        )
        for request in late:
            self.close(request.ticket)
        return late

    @property
    def pending(self) -> tuple[OpenRequest, ...]:
        """Open requests, oldest first."""
        return tuple(self._open.values())


class Confirmation:
    """What the robot makes of a RESET, TARE or RESUME that the plan queue has sent: the queue's answer says only that.

    The queue's state tells the number of the operation, the robot's report what was acknowledged and answered.
    """

    def __init__(self, command: Command) -> None:
        """Made when the queue has answered."""
        self._kind = type(command)
        self._states = 0  # of the queue since then
        self._operation: tuple[int, int] | None = None  # epoch and number
        self._acknowledged = math.inf  # [s] when the first report was received that acknowledges a RESUME

    @staticmethod
    def concerns(command: Command) -> bool:
        """True for a command that the robot itself must confirm."""
        return type(command) in _SENT

    @staticmethod
    def limit(queue: QueueStatus) -> float:
        """Longest wait for the robot's answer [s]."""
        return LEAST_WAIT + SETTLING + 3.0 * max(queue.round_trip, 0.0)

    def receive_queue(self, queue: QueueStatus) -> None:
        """Take a state of the queue; the first may have been under way when the queue answered."""
        self._states += 1
        if self._states == STATES:
            self._operation = queue.epoch, _SENT[self._kind](queue)

    def outcome(self, queue: QueueStatus, robot: RobotStatus, received: float) -> Outcome | None:
        """The robot's answer, None until it is known; `received` [s]: when its report came."""
        if self._operation is None:
            return None
        epoch, number = self._operation
        if number == 0 or queue.epoch != epoch:
            return Outcome(Result.NO_ANSWER, "sent; another epoch of authority began before the robot confirmed it")
        if robot.epoch != epoch:
            return None
        if self._kind is Resume:
            return self._resume_outcome(number, robot, received)
        answered, refusal = _ANSWERED[self._kind](robot)
        if answered < number:
            return None
        return _refused(refusal) if refusal else Outcome(Result.DONE, "confirmed by the robot")

    def _resume_outcome(self, number: int, robot: RobotStatus, received: float) -> Outcome | None:
        if robot.applied_number < number:
            return None
        if robot.refused_number == number:
            return _refused(robot.refusal)
        if not (robot.estop or robot.mode in STOPPED):
            return Outcome(Result.DONE, f"confirmed by the robot; it is {robot.mode.name.lower()}")
        self._acknowledged = min(self._acknowledged, received)
        if received - self._acknowledged < SETTLING:
            return None
        if robot.estop:
            return Outcome(Result.REFUSED, "the e-stop is latched; allowed: after reset")
        return Outcome(Result.REFUSED, f"the robot is still {robot.mode.name.lower()}: {robot.reason}")


def _refused(reason: str) -> Outcome:
    return Outcome(Result.REFUSED, f"the robot refused it: {reason}")


class HaltStage(Enum):
    """Stage of a halt or an e-stop as the operator sees it."""

    NONE = "none"
    ASKED = "asked"
    CONFIRMED = "confirmed"


class _Event(Enum):
    ASK = "ask"
    ROBOT_HALTED = "robot halted"
    ROBOT_FREE = "robot free"
    ROBOT_OBEYED = "robot obeyed, and was resumed"


_N, _A, _C = HaltStage.NONE, HaltStage.ASKED, HaltStage.CONFIRMED
HALT_TABLE: dict[tuple[HaltStage, _Event], HaltStage] = {
    **{(stage, _Event.ASK): _A for stage in HaltStage},
    (_N, _Event.ROBOT_HALTED): _C,  # requested by another operator
    (_A, _Event.ROBOT_HALTED): _C,
    (_C, _Event.ROBOT_HALTED): _C,
    (_N, _Event.ROBOT_FREE): _N,
    (_C, _Event.ROBOT_FREE): _N,
    (_A, _Event.ROBOT_OBEYED): _N,
}


class RepeatedStop:
    """Sends halts or e-stops, each at once and again every REPEATED until it is confirmed: nobody else repeats one.

    `send(number, reason)` sends a copy. The number is that of the latest stop, the same in all its copies.
    """

    def __init__(self, send: Callable[[int, str], None]) -> None:
        self.number, self.reason = 0, ""
        self.since = 0.0  # [s] when it was requested
        self._send = send
        self._due = math.inf  # [s] of the next copy

    def begin(self, reason: str, now: float) -> None:
        """Send a new stop."""
        self.number, self.reason, self.since = self.number + 1, reason, now
        self.again(now)

    def again(self, now: float) -> None:
        """Send a copy at once."""
        self._due = now
        self.step(now)

    def step(self, now: float) -> None:
        """Send a copy if one is due."""
        if now >= self._due:
            self._due = now + REPEATED
            self._send(self.number, self.reason)

    def confirmed(self) -> None:
        """Send no more copies."""
        self._due = math.inf


class HaltWatch:
    """Stage of the latest halt, or of the latest e-stop. It stays asked until the robot shows the receipt of it.

    `in_force(status)`: whether the robot is stopped by one of this kind, whoever sent it. `at_once`: the status that
    shows the receipt shows this, too; else the hardware may report it later. `guard`: entered by every method; a lock
    where more than one thread may ask.
    """

    def __init__(
        self,
        agent: str,
        send: Callable[[int, str], None],
        in_force: Callable[[RobotStatus], bool],
        at_once: bool = True,
        guard: Guard = UNGUARDED,
    ) -> None:
        self.stage = HaltStage.NONE
        self._guard = guard
        self._stop = RepeatedStop(send)
        self._agent, self._in_force, self._at_once = agent, in_force, at_once

    @property
    def since(self) -> float:
        """When the stop was requested [s]."""
        return self._stop.since

    def ask(self, reason: str, now: float) -> None:
        """Send a stop; before its receipt, another request is the same stop."""
        with self._guard:
            if self.stage is HaltStage.ASKED:
                self._stop.again(now)
            else:
                self._stop.begin(reason, now)
            self._step(_Event.ASK)

    def step(self, now: float) -> None:
        """Send the stop again until its receipt."""
        with self._guard:
            self._stop.step(now)

    def report(self, robot: RobotStatus) -> None:
        """Take in the latest status of the robot."""
        with self._guard:
            self._report(robot)

    def _report(self, robot: RobotStatus) -> None:
        halted = self._in_force(robot)
        if self.stage is HaltStage.ASKED:
            received = (self._agent, self._stop.number) in robot.halts_received
            if received and (halted or self._at_once):
                self._stop.confirmed()
                self._step(_Event.ROBOT_HALTED if halted else _Event.ROBOT_OBEYED)
            return
        self._step(_Event.ROBOT_HALTED if halted else _Event.ROBOT_FREE)

    def _step(self, event: _Event) -> None:
        self.stage = next_state("halt watch", HALT_TABLE, self.stage, event)
