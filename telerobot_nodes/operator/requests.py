"""What became of what was asked: open requests, their answers and time limits, and the halt that must be confirmed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from telerobot_nodes.errors import TransitionError
from telerobot_nodes.operator.commands import Command
from telerobot_nodes.operator.status import RobotMode, RobotStatus


@dataclass(frozen=True)
class Outcome:
    """What really happened, in the words of whoever did or refused it."""

    done: bool
    text: str = ""


@dataclass(frozen=True)
class OpenRequest:
    """A command on its way, asked at `since` [s]."""

    ticket: int
    command: Command
    since: float


class Requests:
    """Open requests; each ends exactly once, by an answer or by its time limit."""

    def __init__(self, limit: float) -> None:
        self.limit = limit  # [s] until a request counts as unanswered
        self._open: dict[int, OpenRequest] = {}
        self._last = 0

    def open(self, command: Command, now: float) -> int:
        """Enter a request; its ticket."""
        self._last += 1
        self._open[self._last] = OpenRequest(self._last, command, now)
        return self._last

    def close(self, ticket: int) -> OpenRequest | None:
        """End a request; None when it has ended before (an answer after its time limit)."""
        return self._open.pop(ticket, None)

    def expired(self, now: float) -> tuple[OpenRequest, ...]:
        """End and return the requests unanswered for longer than the limit."""
        late = tuple(request for request in self._open.values() if now - request.since > self.limit)
        for request in late:
            del self._open[request.ticket]
        return late

    @property
    def pending(self) -> tuple[OpenRequest, ...]:
        """Open requests, oldest first."""
        return tuple(self._open.values())


class HaltStage(Enum):
    """How far a halt has come."""

    NONE = "none"
    ASKED = "asked"
    CONFIRMED = "confirmed"


class _Event(Enum):
    ASK = "ask"
    ROBOT_HALTED = "robot halted"
    ROBOT_FREE = "robot free"
    RESUMED = "resumed"


_N, _A, _C = HaltStage.NONE, HaltStage.ASKED, HaltStage.CONFIRMED
HALT_TABLE: dict[tuple[HaltStage, _Event], HaltStage] = {
    (_N, _Event.ASK): _A,
    (_A, _Event.ASK): _A,
    (_C, _Event.ASK): _C,
    (_N, _Event.ROBOT_HALTED): _C,  # asked by somebody else
    (_A, _Event.ROBOT_HALTED): _C,
    (_C, _Event.ROBOT_HALTED): _C,
    (_N, _Event.ROBOT_FREE): _N,
    (_A, _Event.ROBOT_FREE): _A,  # old news: the report left before the halt arrived
    (_C, _Event.ROBOT_FREE): _N,
    (_N, _Event.RESUMED): _N,
    (_A, _Event.RESUMED): _N,
    (_C, _Event.RESUMED): _C,  # only the robot says that it is free
}


class HaltWatch:
    """A halt is shown as stopped only when the robot has confirmed it."""

    def __init__(self) -> None:
        self.stage = HaltStage.NONE
        self.since = 0.0  # [s] when it was asked
        self.reason = ""
        self._number = 0  # the robot's counter of halts must reach this

    def asked(self, reason: str, robot: RobotStatus, now: float) -> None:
        """The operator asks for a halt."""
        if self.stage is not HaltStage.ASKED:
            self.since, self.reason, self._number = now, reason, robot.halt_number + 1
        self._step(_Event.ASK)

    def resumed(self) -> None:
        """A resume was accepted."""
        self._step(_Event.RESUMED)

    def report(self, robot: RobotStatus) -> None:
        """The robot's latest word."""
        faulty = robot.mode is RobotMode.FAULT and self.stage is not HaltStage.NONE
        stopped = robot.mode is RobotMode.HALTED or (faulty and robot.halt_number >= self._number)
        self._step(_Event.ROBOT_HALTED if stopped else _Event.ROBOT_FREE)

    def _step(self, event: _Event) -> None:
        try:
            self.stage = HALT_TABLE[self.stage, event]
        except KeyError:
            raise TransitionError("halt watch", self.stage, event) from None
