"""The robot's side of requests: each is begun once, in the order of arrival, and its end is kept until it is known.

What belongs here: what was begun and how it ended, by asker and number. What must never enter: sockets, clocks, what a
request means. It sends only answers; whoever asks asks again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import NamedTuple

from telerobot_nodes.link.requests.channels import MOST_ANSWER
from telerobot_nodes.link.requests.messages import (
    MOST_HEAD,
    MOST_TEXT,
    Begin,
    Check,
    Ended,
    Feedback,
    Request,
    RequestEnd,
    States,
    unpack_request,
)

MOST_ASKERS = 16
SILENT = 60.0  # [s] after which an asker without an open request makes room; no request is that late
MOST_ENTRIES = 64  # requests of an asker, open or with an end that it does not know yet
WINDOW = 4096  # numbers behind the latest that are remembered as begun or over
MOST_GONE = 1000  # lives of askers that have made room
MOST_RESULT = MOST_ANSWER - MOST_TEXT - MOST_HEAD  # [B] of an answer


class Ticket(NamedTuple):
    """A request at the robot."""

    asker: int
    number: int


class Start(NamedTuple):
    """A request to be begun now; `body` as its asker serialized it."""

    ticket: Ticket
    name: str
    body: bytes


class Stop(NamedTuple):
    """A begun request that its asker has withdrawn: once for each."""

    ticket: Ticket


Act = Start | Stop


@dataclass
class _Entry:
    ended: Ended | None = None
    stopped: bool = False
    order: int = 0  # of the latest progress


@dataclass
class _Book:
    """What one asker has sent."""

    heard: float  # [s]
    entries: dict[int, _Entry] = field(default_factory=dict)
    seen: set[int] = field(default_factory=set)  # begun or refused, above `floor`
    floor: int = 0

    def is_new(self, number: int) -> bool:
        return number > self.floor and number not in self.seen

    def note(self, number: int) -> None:
        self.seen.add(number)
        if number - WINDOW > self.floor:
            self.floor = number - WINDOW
            self.seen = {one for one in self.seen if one > self.floor}

    def forget(self, check: Check) -> None:
        """Drop the ends that the asker knows."""
        known = [
            number
            for number, entry in self.entries.items()
            if entry.ended and number <= check.latest and number not in check.numbers
        ]
        for number in known:
            del self.entries[number]

    @property
    def is_open(self) -> bool:
        return any(entry.ended is None for entry in self.entries.values())


class Runner:
    """Requests of every asker; `names` of those that may be begun. `life`: random, not 0."""

    def __init__(self, life: int, names: Collection[str]) -> None:
        self._life, self._names = life, frozenset(names)
        self._books: dict[int, _Book] = {}
        self._gone: deque[int] = deque(maxlen=MOST_GONE)
        self._out: list[bytes] = []

    def receive(self, now: float, data: bytes) -> list[Act]:
        """Take a message of an asker; what to do now."""
        request = unpack_request(data)
        book = None if request is None else self._book_for(now, request)
        if request is None or book is None:
            return []
        if isinstance(request, Begin):
            return self._begin(book, request)
        if request.withdraw:
            return [act for number in request.numbers for act in self._withdraw(book, Ticket(request.asker, number))]
        book.forget(request)
        self._answer(book, request.asker, request.numbers)
        return []

    def feedback(self, ticket: Ticket, body: bytes) -> None:
        """Report progress of a request that was begun."""
        entry = self._entry(ticket)
        if entry is not None and entry.ended is None and len(body) <= MOST_RESULT:
            entry.order += 1
            self._out.append(Feedback(ticket.asker, self._life, ticket.number, entry.order, body).pack())

    def end(self, ticket: Ticket, end: RequestEnd, reason: str = "", body: bytes = b"") -> None:
        """Report the end of a request that was begun; a second end has no effect."""
        entry = self._entry(ticket)
        if entry is None or entry.ended is not None:
            return
        if len(body) > MOST_RESULT:
            end, body = RequestEnd.ABORTED, b""
            reason = f"it ended, but its answer is larger than {MOST_RESULT} B"
        self._out.append(self._close(ticket, end, reason, body).pack())

    def take_out(self) -> list[bytes]:
        """Answers to send now."""
        out, self._out = self._out, []
        return out

    def _begin(self, book: _Book, request: Begin) -> list[Act]:
        ticket = Ticket(request.asker, request.number)
        acts: list[Act] = []
        if book.is_new(request.number):
            book.note(request.number)
            if len(book.entries) < MOST_ENTRIES:
                if request.name in self._names:
                    book.entries[request.number] = _Entry()
                    acts.append(Start(ticket, request.name, request.body))
                else:
                    allowed = f"{request.name}: allowed: {', '.join(sorted(self._names))}"
                    self._close(ticket, RequestEnd.REFUSED, allowed)
        self._answer(book, request.asker, (request.number,))
        return acts

    def _withdraw(self, book: _Book, ticket: Ticket) -> list[Act]:
        if book.is_new(ticket.number) and len(book.entries) < MOST_ENTRIES:
            book.note(ticket.number)
            self._close(ticket, RequestEnd.CANCELLED, "withdrawn before it began")
        entry = book.entries.get(ticket.number)
        self._answer(book, ticket.asker, (ticket.number,))
        if entry is None or entry.ended is not None or entry.stopped:
            return []
        entry.stopped = True
        return [Stop(ticket)]

    def _close(self, ticket: Ticket, end: RequestEnd, reason: str, body: bytes = b"") -> Ended:
        ended = Ended(ticket.asker, self._life, ticket.number, end, reason, body)
        self._books[ticket.asker].entries[ticket.number] = _Entry(ended)
        return ended

    def _disown(self, request: Request) -> None:
        numbers = (request.number,) if isinstance(request, Begin) else request.numbers
        for number in numbers:
            why = "no longer known at the robot's host, not started again"
            self._out.append(Ended(request.asker, self._life, number, RequestEnd.UNKNOWN, why).pack())

    def _answer(self, book: _Book, asker: int, numbers: Collection[int]) -> None:
        """Report what is known of requests."""
        rows = []
        for number in numbers:
            entry = book.entries.get(number)
            if entry is not None and entry.ended is not None:
                self._out.append(entry.ended.pack())
            elif entry is not None or book.is_new(number):
                rows.append((number, entry is not None))
            else:
                why = f"more than {MOST_ENTRIES} requests are open at the robot's host: not begun"
                self._out.append(Ended(asker, self._life, number, RequestEnd.REFUSED, why).pack())
        if rows or not numbers:
            self._out.append(States(asker, self._life, tuple(rows)).pack())

    def _book_for(self, now: float, request: Request) -> _Book | None:
        """The book of its asker; None: nothing of it may begin, or there is no room for one more asker."""
        if request.runner != self._life:  # meant for a former life, or sent before this one was known
            self._out.append(States(request.asker, self._life).pack())
            return None
        if request.asker in self._gone:
            self._disown(request)
            return None
        return self._book(now, request.asker)

    def _book(self, now: float, asker: int) -> _Book | None:
        book = self._books.get(asker)
        if book is None:
            if len(self._books) >= MOST_ASKERS:
                idle = {life: one for life, one in self._books.items() if now - one.heard > SILENT and not one.is_open}
                if not idle:
                    return None
                self._gone.append(min(idle, key=lambda life: idle[life].heard))
                del self._books[self._gone[-1]]
            book = self._books[asker] = _Book(now)
        book.heard = now
        return book

    def _entry(self, ticket: Ticket) -> _Entry | None:
        book = self._books.get(ticket.asker)
        return book.entries.get(ticket.number) if book is not None else None
