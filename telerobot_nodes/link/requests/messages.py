"""What crosses for a request, as bytes and back. Unpacking returns None for bytes that are no such message.

Up: `Begin`, `Check`. Down: `States`, `Feedback`, `Ended`. Both sides have a life, random at each start; a number counts
the requests of one asker's life from 1. Integers are big-endian.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum

MOST_TEXT = 500  # [B] of a reason
MOST_HEAD = 300  # [B] of a message before its body, but for a reason
_HEAD = struct.Struct(">BQQ")  # kind, asker, runner
_NUMBER = struct.Struct(">Q")
_BEGIN = struct.Struct(">QB")
_FEEDBACK = struct.Struct(">QI")
_ENDED = struct.Struct(">QBH")
_ROW = struct.Struct(">QB")
_BEGIN_KIND, _CHECK_KIND, _WITHDRAW_KIND, _STATES_KIND, _FEEDBACK_KIND, _ENDED_KIND = range(1, 7)


class RequestEnd(IntEnum):
    """How a request ended."""

    DONE = 1  # answered; a goal has succeeded
    ABORTED = 2  # a goal that the robot has ended
    CANCELLED = 3  # by its asker
    REFUSED = 4  # by the robot, or by its link, which says why: not begun
    LINK_DOWN = 5  # the robot is not heard; what it may have begun, it is told to end as soon as it is heard
    UNKNOWN = 6  # the robot's link was restarted and does not know the request: not begun again


@dataclass(frozen=True)
class Begin:
    """A request to be begun, once."""

    asker: int  # life
    runner: int  # life that it is meant for: another one does not begin it
    number: int
    name: str  # service or action of the graph
    body: bytes

    def pack(self) -> bytes:
        """Its bytes."""
        name = self.name.encode()
        return _HEAD.pack(_BEGIN_KIND, self.asker, self.runner) + _BEGIN.pack(self.number, len(name)) + name + self.body


@dataclass(frozen=True)
class Check:
    """Which requests of an asker are open; the robot answers with what it knows of each."""

    asker: int
    runner: int  # 0: not known
    latest: int  # number of the latest request: those up to it that are not named are over for the asker
    numbers: tuple[int, ...]
    withdraw: bool = False  # end those named, or never begin them; says nothing of others

    def pack(self) -> bytes:
        """Its bytes."""
        kind = _WITHDRAW_KIND if self.withdraw else _CHECK_KIND
        numbers = b"".join(_NUMBER.pack(number) for number in (self.latest, *self.numbers))
        return _HEAD.pack(kind, self.asker, self.runner) + numbers


@dataclass(frozen=True)
class States:
    """What the robot knows of open requests: number, and whether it has begun."""

    asker: int
    runner: int
    rows: tuple[tuple[int, bool], ...] = ()

    def pack(self) -> bytes:
        """Its bytes."""
        return _HEAD.pack(_STATES_KIND, self.asker, self.runner) + b"".join(_ROW.pack(*row) for row in self.rows)


@dataclass(frozen=True)
class Feedback:
    """Progress of a request; not repeated when it is lost."""

    asker: int
    runner: int
    number: int
    order: int  # counts the request's progress from 1
    body: bytes

    def pack(self) -> bytes:
        """Its bytes."""
        head = _HEAD.pack(_FEEDBACK_KIND, self.asker, self.runner)
        return head + _FEEDBACK.pack(self.number, self.order) + self.body


@dataclass(frozen=True)
class Ended:
    """The end of a request, sent again for every check that asks."""

    asker: int
    runner: int
    number: int
    end: RequestEnd
    reason: str = ""
    body: bytes = b""

    def pack(self) -> bytes:
        """Its bytes."""
        reason = self.reason.encode()[:MOST_TEXT]
        head = _HEAD.pack(_ENDED_KIND, self.asker, self.runner)
        return head + _ENDED.pack(self.number, self.end, len(reason)) + reason + self.body


Request = Begin | Check
Answer = States | Feedback | Ended


def unpack_request(data: bytes) -> Request | None:
    """The message of an asker in these bytes."""
    try:
        kind, asker, runner = _HEAD.unpack_from(data)
        if kind == _BEGIN_KIND:
            number, length = _BEGIN.unpack_from(data, _HEAD.size)
            at = _HEAD.size + _BEGIN.size
            return Begin(asker, runner, number, _text(data, at, length), data[at + length :])
        if kind in (_CHECK_KIND, _WITHDRAW_KIND):
            latest, *numbers = (number for (number,) in _NUMBER.iter_unpack(data[_HEAD.size :]))
            return Check(asker, runner, latest, tuple(numbers), kind == _WITHDRAW_KIND)
    except (struct.error, ValueError):
        pass
    return None


def unpack_answer(data: bytes) -> Answer | None:
    """The message of a runner in these bytes."""
    try:
        kind, asker, runner = _HEAD.unpack_from(data)
        if kind == _STATES_KIND:
            rows = tuple((number, bool(begun)) for number, begun in _ROW.iter_unpack(data[_HEAD.size :]))
            return States(asker, runner, rows)
        if kind == _FEEDBACK_KIND:
            number, order = _FEEDBACK.unpack_from(data, _HEAD.size)
            return Feedback(asker, runner, number, order, data[_HEAD.size + _FEEDBACK.size :])
        if kind == _ENDED_KIND:
            number, end, length = _ENDED.unpack_from(data, _HEAD.size)
            at = _HEAD.size + _ENDED.size
            return Ended(asker, runner, number, RequestEnd(end), _text(data, at, length), data[at + length :])
    except (struct.error, ValueError):
        pass
    return None


def _text(data: bytes, at: int, length: int) -> str:
    if at + length > len(data):
        raise ValueError("cut off")
    return data[at : at + length].decode("utf-8", "replace")
