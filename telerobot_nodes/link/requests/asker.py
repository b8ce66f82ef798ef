"""The operator's side of requests: numbered, begun again only when the robot does not know them, ended once.

What belongs here: what is sent when, and when a request is over. What must never enter: sockets, clocks, what a request
means. A request is bound to the life of the robot's side that it was sent to; another life never begins it.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import NamedTuple

from telerobot_nodes.graph import Topic
from telerobot_nodes.link.requests.channels import CHECKS, MOST_REQUEST, MOST_STOP, REQUESTS, STOPS
from telerobot_nodes.link.requests.messages import (
    MOST_HEAD,
    Answer,
    Begin,
    Check,
    Ended,
    Feedback,
    RequestEnd,
    States,
    unpack_answer,
)

CHECK_PERIOD = 0.5  # [s] while requests are open
IDLE_PERIOD = 1.0  # [s] while none is: so that the robot's life and the link are known before the next one
DOWN_AFTER = 5.0  # [s] without an answer, unless the link itself is known to live
UNANSWERED_AFTER = 30.0  # [s] without an answer in any case
SLOWEST = 20_000.0  # [B/s] at which a request is taken to cross, before it is sent again
LONGEST_PAUSE = 30.0  # [s] between two of the same
MOST_OPEN = 32
MOST_STOPS = 8  # more
FORMER_LIVES = 16  # of the robot's side, whose late answers are ignored


class Begun(NamedTuple):
    """The robot has received a request and begins it."""

    number: int


class Progress(NamedTuple):
    """Progress of a request."""

    number: int
    body: bytes


class Over(NamedTuple):
    """The end of a request: exactly one for each."""

    number: int
    end: RequestEnd
    reason: str
    body: bytes = b""
    begun: bool = False  # it had begun, as far as is known here


Event = Begun | Progress | Over


@dataclass
class _Open:
    name: str
    body: bytes  # empty once it has begun
    stops: bool
    pause: float  # [s] until it may be sent again
    runner: int = 0  # life that it was sent to; 0: not sent yet
    sent: float = -math.inf  # [s] last
    begun: bool = False
    order: int = 0  # of its latest progress
    withdrawn: bool = False
    told: bool = False  # its end was reported; the robot must still be told to end it


class Asker:
    """Requests of one operator's side; its callers take what is to be sent and what has happened."""

    def __init__(self, life: int, now: float) -> None:
        """`life`: random, not 0."""
        self._life = life
        self._runner = 0  # life of the robot's side; 0: not known
        self._former: deque[int] = deque(maxlen=FORMER_LIVES)
        self._heard = now
        self._link_heard = -math.inf  # [s] until then both hosts received from each other
        self._number = 0
        self._open: dict[int, _Open] = {}
        self._check_due = -math.inf
        self._out: list[tuple[Topic, bytes]] = []
        self._events: list[Event] = []

    def __len__(self) -> int:
        return len(self._open)

    def ask(self, now: float, name: str, body: bytes, stops: bool = False) -> int:
        """Take a request; its number. One that cannot be taken is over at once. `stops`: it leaves before others."""
        self._number += 1
        why = self._refusal(now, len(body), stops)
        if why is not None:
            self._events.append(Over(self._number, *why))
            return self._number
        self._open[self._number] = _Open(name, body, stops, CHECK_PERIOD + len(body) / SLOWEST)
        if self._runner:
            self._begin(now, self._number)
        self._check_due = min(self._check_due, now + CHECK_PERIOD)
        return self._number

    def withdraw(self, now: float, number: int) -> None:
        """End a request at the robot; it is over when the robot has answered."""
        one = self._open.get(number)
        if one is not None and not one.runner:
            self._end(number, RequestEnd.CANCELLED, "withdrawn before it was sent")
        elif one is not None and not one.withdrawn:
            one.withdrawn = True
            self._send_withdrawn((number,))

    def poll(self, now: float) -> None:
        """Do what is due; call it at least every CHECK_PERIOD."""
        if silent := self._silent(now):
            self._give_up(silent)
        if now < self._check_due:
            return
        self._check_due = now + (CHECK_PERIOD if self._open else IDLE_PERIOD)
        sent = tuple(number for number, one in self._open.items() if one.runner)
        self._out.append((CHECKS, Check(self._life, self._runner, self._number, sent).pack()))
        self._send_withdrawn(tuple(number for number in sent if self._open[number].withdrawn))

    def receive(self, now: float, data: bytes) -> None:
        """Take an answer; those to others and those of a former life of the robot's side change nothing."""
        answer = unpack_answer(data)
        if answer is None or answer.asker != self._life or answer.runner in self._former:
            return
        self._heard = now
        if answer.runner != self._runner:
            self._meet(now, answer.runner)
        self._take(now, answer)

    def note_link(self, now: float, silence: float) -> None:
        """For how long one of the two hosts has received nothing from the other, by the link's heartbeats [s].

        When the delay grows, these come long before the next answer, which takes both ways.
        """
        self._link_heard = max(self._link_heard, now - silence)

    def is_down(self, now: float) -> bool:
        """Whether the robot's side has not answered for long."""
        return bool(self._silent(now))

    def _silent(self, now: float) -> str:
        """For how long the robot's side is silent, in words; empty when it is not down."""
        if now - max(self._heard, self._link_heard) > DOWN_AFTER:
            limit = DOWN_AFTER
        elif now - self._heard > UNANSWERED_AFTER:
            limit = UNANSWERED_AFTER
        else:
            return ""
        return f"the robot's host has not answered for {limit:g} s"

    def take_out(self) -> list[tuple[Topic, bytes]]:
        """Channels and messages to send now."""
        out, self._out = self._out, []
        return out

    def take_events(self) -> list[Event]:
        """What has happened since the last call, in order."""
        events, self._events = self._events, []
        return events

    def _refusal(self, now: float, size: int, stops: bool) -> tuple[RequestEnd, str] | None:
        if silent := self._silent(now):
            return RequestEnd.LINK_DOWN, f"{silent}: not sent"
        if len(self._open) >= MOST_OPEN + (MOST_STOPS if stops else 0):
            return RequestEnd.REFUSED, f"{len(self._open)} requests are open; allowed: {MOST_OPEN}"
        room = (MOST_STOP if stops else MOST_REQUEST) - MOST_HEAD
        if size > room:
            return RequestEnd.REFUSED, f"the request has {size} B; allowed over the link: {room} B"
        return None

    def _begin(self, now: float, number: int) -> None:
        one = self._open[number]
        one.runner, one.sent = self._runner, now
        data = Begin(self._life, self._runner, number, one.name, one.body).pack()
        self._out.append((STOPS if one.stops else REQUESTS, data))

    def _send_withdrawn(self, numbers: tuple[int, ...]) -> None:
        if numbers:
            self._out.append((STOPS, Check(self._life, self._runner, self._number, numbers, True).pack()))

    def _meet(self, now: float, runner: int) -> None:
        """The robot's side has another life: it knows nothing of what the former one was sent."""
        if self._runner:
            self._former.append(self._runner)
        self._runner = runner
        for number, one in list(self._open.items()):
            if one.runner:
                why = "its end is not reported here" if one.begun else "unknown there, not started again"
                self._end(number, RequestEnd.UNKNOWN, f"the link was restarted at the robot's host: {why}")
            else:
                self._begin(now, number)

    def _give_up(self, silent: str) -> None:
        """End for its asker what the robot has not confirmed; it must not begin behind the asker's back."""
        for number, one in list(self._open.items()):
            if one.begun or one.told:
                continue
            if one.runner:
                one.told = one.withdrawn = True
                why = f"{silent}: not known whether it has begun; it is ended there when the link is back"
                self._events.append(Over(number, RequestEnd.LINK_DOWN, why))
            else:
                self._end(number, RequestEnd.LINK_DOWN, f"{silent}: not sent")

    def _take(self, now: float, answer: Answer) -> None:
        if isinstance(answer, States):
            for number, begun in answer.rows:
                if number in self._open:
                    self._take_state(now, number, begun)
        elif answer.number not in self._open:
            return
        elif isinstance(answer, Feedback):
            one = self._open[answer.number]
            self._take_state(now, answer.number, True)
            if answer.order > one.order and not one.told:
                one.order = answer.order
                self._events.append(Progress(answer.number, answer.body))
        elif isinstance(answer, Ended):
            self._end(answer.number, answer.end, answer.reason, answer.body)

    def _take_state(self, now: float, number: int, begun: bool) -> None:
        one = self._open[number]
        if one.begun:
            return
        if begun:
            one.begun, one.body = True, b""
            if not one.told:
                self._events.append(Begun(number))
        elif not one.withdrawn and now - one.sent >= one.pause:
            one.pause = min(2.0 * one.pause, LONGEST_PAUSE)
            self._begin(now, number)

    def _end(self, number: int, end: RequestEnd, reason: str, body: bytes = b"") -> None:
        one = self._open.pop(number)
        if not one.told:
            self._events.append(Over(number, end, reason, body, one.begun))
