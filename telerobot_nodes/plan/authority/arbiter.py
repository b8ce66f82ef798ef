"""Grants authority over the plan to one agent at a time, person or program [US5046022 claims 28, 29].

What belongs here: requests, consent, refusal, taking by a supervisor, release, heartbeats, as one table. What must
never enter: plans, poses; a halt (accepted from anyone, on a topic of its own).

The arbiter runs at the robot: it is the receiver's policy for claims (`may_open`). A claim is accepted if the plan is
free or the agent's own, if the holder consented (or is armed to consent at once), or if a supervisor took it. Missing
heartbeats never transfer control to another name; they are only reported.

A name belongs to one process at a time. While the holder sends heartbeats of its epoch, another process of its name
is denied; without them its claim counts as that of the restarted holder.

Agents who request while another one's request is open wait in the order of their requests; each has its turn when the
one before has claimed, was refused or has given up. When the holder releases the plan, it is kept for the first of them
who is heard.

The link loses messages, so an agent repeats each request until a report answers it. A request has a number of its own
and is decided once; copies that arrive later change nothing.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from enum import Enum
from typing import Any

from telerobot_nodes.core.protocol import AuthorityKind, next_state
from telerobot_nodes.errors import AuthorityError, InvalidValueError, TransitionError
from telerobot_nodes.plan.log import LogPosition, Operation, Receiver, agent_name

HEARTBEAT_TIMEOUT = 2.0  # [s] after which an agent counts as silent
REMEMBERED = 8  # decided requests of one agent, for recognising copies
MOST_WAITING = 8  # agents behind the one whose turn it is
AGENTS = 64  # agents whose requests are remembered; the one decided longest ago is forgotten


@dataclass(frozen=True)
class AuthorityMessage:
    """Message of an agent about authority; validated when made."""

    kind: AuthorityKind
    agent: str  # who sends
    peer: str = ""  # agent that it concerns; empty: the holder, or the agent that requests
    epoch: int = 0  # epoch of the sender's authority; 0: it has none
    number: int = 0  # of the request, the same in its copies; 0: decided each time it arrives
    reason: str = ""  # of a refusal

    def __post_init__(self) -> None:
        if self.kind not in tuple(AuthorityKind):
            raise InvalidValueError("authority.kind", self.kind, f"allowed: 0 .. {max(AuthorityKind)}")
        agent_name(self.agent, "authority.agent")
        if self.peer:
            agent_name(self.peer, "authority.peer")


@dataclass(frozen=True)
class Denial:
    """A refused request, for the report: its agent, its number and the reason."""

    agent: str = ""
    number: int = 0
    reason: str = ""


class ArbiterState(Enum):
    """State of authority."""

    FREE = "nobody holds it"
    HELD = "one agent holds it"
    ASKED = "one agent holds it, another requests it"
    GRANTED = "one agent holds it, another may claim it"


class ArbiterEvent(Enum):
    """Events of authority."""

    REQUEST = "requested"
    CONSENT = "holder agrees"
    REFUSE = "holder declines"
    WITHDRAW = "request withdrawn"
    TAKE = "supervisor gives it to an agent"
    RELEASE = "holder gives it up"
    CLAIM = "claimed"


_FREE, _HELD, _ASKED, _GRANTED = ArbiterState
_TAKEN = {(state, ArbiterEvent.TAKE): _GRANTED for state in ArbiterState}
_CLAIMED = {(state, ArbiterEvent.CLAIM): _HELD for state in ArbiterState}
TABLE: dict[tuple[ArbiterState, ArbiterEvent], ArbiterState] = {
    **_TAKEN,
    **_CLAIMED,
    (_HELD, ArbiterEvent.REQUEST): _ASKED,
    (_ASKED, ArbiterEvent.CONSENT): _GRANTED,
    (_ASKED, ArbiterEvent.REFUSE): _HELD,
    (_ASKED, ArbiterEvent.WITHDRAW): _HELD,
    (_GRANTED, ArbiterEvent.REFUSE): _HELD,
    (_GRANTED, ArbiterEvent.WITHDRAW): _HELD,
    (_HELD, ArbiterEvent.RELEASE): _FREE,
    (_ASKED, ArbiterEvent.RELEASE): _FREE,
    (_GRANTED, ArbiterEvent.RELEASE): _FREE,
}


class AuthorityArbiter:
    """Decides claims; `handle` takes messages of agents, `may_open` is the receiver's policy."""

    def __init__(self, supervisors: frozenset[str] = frozenset(), armed: bool = False) -> None:
        self.supervisors = supervisors
        self.armed = armed  # requests are granted at once; the hand-off still waits for the meeting
        self.state = ArbiterState.FREE
        self.holder = ""
        self.asker = ""  # whose turn it is
        self.waiting: list[str] = []  # in the order of their requests, behind the asker
        self.denial = Denial()  # the latest
        self._forced = False
        self._alive = -HEARTBEAT_TIMEOUT  # [s] last message from the epoch in force
        self._received: dict[str, float] = {}  # [s] last message of the holder, and of agents who wait
        self._settled: dict[str, deque[Denial]] = {}  # of each agent; accepted ones have no reason

    def handle(self, now: float, message: AuthorityMessage, receiver: Receiver) -> None:
        """Take a message. When refused, raises AuthorityError or TransitionError and changes nothing."""
        self.follow(receiver.position)
        self._note_alive(now, message, receiver.position.epoch)
        if message.number and self._known(message):
            return
        try:
            self._decide(message)
        except (AuthorityError, TransitionError) as error:
            self._settle(message, str(error))
            raise
        if not (message.kind is AuthorityKind.REQUEST and self.state is ArbiterState.FREE):  # it is repeated
            self._settle(message, "")
        if self.state is ArbiterState.FREE and receiver.position.authority:
            receiver.open("")

    def _decide(self, message: AuthorityMessage) -> None:
        {
            AuthorityKind.REQUEST: self._request,
            AuthorityKind.CONSENT: self._consent,
            AuthorityKind.REFUSE: self._refuse,
            AuthorityKind.TAKE: self._take,
            AuthorityKind.RELEASE: self._release,
            AuthorityKind.HEARTBEAT: self._heartbeat,
        }[message.kind](message)

    def _known(self, message: AuthorityMessage) -> bool:
        """True when the request was decided before; a refusal is reported again."""
        for settled in self._settled.get(message.agent, ()):
            if settled.number == message.number:
                self.denial = settled if settled.reason else self.denial
                return True
        return False

    def _settle(self, message: AuthorityMessage, reason: str) -> None:
        if message.number:
            settled = Denial(message.agent, message.number, reason)
            latest = self._settled.pop(message.agent, deque(maxlen=REMEMBERED))
            self._settled[message.agent] = latest
            latest.append(settled)
            if len(self._settled) > AGENTS:
                del self._settled[next(iter(self._settled))]
            self.denial = settled if reason else self.denial

    def report_fields(self, now: float) -> dict[str, Any]:
        """Fields of an ExecutorReport: who requests, what was decided. A holder that is silent keeps authority."""
        heard = self._received.get(self.holder, now)
        return {
            "asker": self.asker,
            "waiting": tuple(self.waiting),
            "granted": self.state is ArbiterState.GRANTED,
            "forced": self._forced,
            "holder_silent": now - heard > HEARTBEAT_TIMEOUT,
            "denied_agent": self.denial.agent,
            "denied_number": self.denial.number,
            "denial": self.denial.reason,
        }

    def _note_alive(self, now: float, message: AuthorityMessage, epoch: int) -> None:
        concerned = (self.holder, self.asker, *self.waiting)
        self._received = {agent: time for agent, time in self._received.items() if agent in concerned}
        if message.agent in concerned or message.kind in (AuthorityKind.REQUEST, AuthorityKind.TAKE):
            self._received[message.agent] = now
        if message.agent == self.holder and message.epoch == epoch:
            self._alive = now

    def may_open(self, now: float, operation: Operation, position: LogPosition) -> str:
        """Policy of the receiver: why a claim is refused; empty if it is accepted."""
        self.follow(position)
        granted = self.state is ArbiterState.GRANTED and operation.agent == self.asker
        own = operation.agent == self.holder and not (self.state is ArbiterState.GRANTED and self._forced)
        if own and self.state is not ArbiterState.FREE:
            return self._against_namesake(now, operation)  # a restart of the holder; a request stays open
        if self.state is ArbiterState.FREE:
            turn = self._turn(now)
            if turn not in ("", operation.agent):
                return f"authority: {operation.agent} claims it, {turn} requested it first; allowed: after {turn}"
        if self.state is ArbiterState.FREE or granted:
            self._claimed(operation.agent)
            return ""
        return f"authority: {operation.agent} claims it, {self.holder} holds it; allowed: its consent, or a supervisor"

    def _turn(self, now: float) -> str:
        """The first who waits and was heard lately; empty: nobody."""
        heard = (agent for agent in self.waiting if now - self._received.get(agent, -math.inf) < HEARTBEAT_TIMEOUT)
        return next(heard, "")

    def _against_namesake(self, now: float, operation: Operation) -> str:
        """Why a claim in the holder's name is refused; empty when the holder itself has fallen silent."""
        if now - self._alive >= HEARTBEAT_TIMEOUT:
            return ""
        reason = f"agent: another operator is named {operation.agent} and has control; allowed: a name of its own"
        self.denial = Denial(operation.agent, operation.epoch, reason)
        return reason

    def follow(self, position: LogPosition) -> None:
        """Take the holder of authority from the log (journal)."""
        if position.authority != self.holder:
            if position.authority:
                self._claimed(position.authority)
            else:
                self._freed()

    def _claimed(self, agent: str) -> None:
        self._fire(ArbiterEvent.CLAIM)
        self._alive = -HEARTBEAT_TIMEOUT
        self.holder, self._forced = agent, False
        self._leave(agent)
        self._next_turn()

    def _freed(self) -> None:
        """Nobody holds authority; who had the turn comes first among those who wait."""
        self.waiting = [self.asker, *self.waiting] if self.asker else self.waiting
        self.state, self.holder, self.asker, self._forced = ArbiterState.FREE, "", "", False

    def _leave(self, agent: str) -> None:
        if agent in self.waiting:
            self.waiting.remove(agent)

    def _next_turn(self) -> None:
        """The asker is gone: the next who waits has its turn."""
        self.asker, self._forced = "", False
        if self.waiting:
            self._ask(self.waiting.pop(0))

    def _ask(self, agent: str) -> None:
        self._fire(ArbiterEvent.REQUEST)
        self.asker = agent
        if self.armed:
            self._fire(ArbiterEvent.CONSENT)

    def _fire(self, event: ArbiterEvent) -> None:
        self.state = next_state("authority", TABLE, self.state, event)

    def _heartbeat(self, message: AuthorityMessage) -> None:
        """The time of receipt is all that counts."""

    def _request(self, message: AuthorityMessage) -> None:
        if self.state is ArbiterState.FREE or message.agent in (self.holder, self.asker, *self.waiting):
            return  # may claim at once, holds it, or has requested it already
        if not self.asker:
            self._ask(message.agent)
        elif len(self.waiting) < MOST_WAITING:
            self.waiting.append(message.agent)
        else:
            raise AuthorityError(f"request of {message.agent}: {len(self.waiting)} wait; allowed: {MOST_WAITING}")

    def _consent(self, message: AuthorityMessage) -> None:
        self._from_holder(message)
        self._about_asker(message)
        if self.state is ArbiterState.GRANTED:
            return  # a copy: the answer is on the link
        self._fire(ArbiterEvent.CONSENT)

    def _refuse(self, message: AuthorityMessage) -> None:
        self._from_holder(message)
        self._about_asker(message)
        if self._forced:
            raise AuthorityError(f"refusal of {message.agent}: a supervisor decided for {self.asker}")
        self._fire(ArbiterEvent.REFUSE)
        self._next_turn()

    def _take(self, message: AuthorityMessage) -> None:
        if message.agent not in self.supervisors:
            allowed = ", ".join(sorted(self.supervisors)) or "nobody"
            raise AuthorityError(f"take of {message.agent}: not a supervisor; allowed: {allowed}")
        target = message.peer or message.agent
        if target == self.holder:
            if self.state is ArbiterState.GRANTED:  # it was granted to another agent: the holder keeps it
                self._fire(ArbiterEvent.REFUSE)
                self._next_turn()
            return
        self._fire(ArbiterEvent.TAKE)
        self._leave(target)
        self.asker, self._forced = target, True

    def _release(self, message: AuthorityMessage) -> None:
        if message.agent in self.waiting:
            self._leave(message.agent)
            return
        if message.agent == self.asker and message.agent != self.holder:
            self._withdraw()
            return
        self._from_holder(message)
        self._fire(ArbiterEvent.RELEASE)
        self._freed()

    def _withdraw(self) -> None:
        self._fire(ArbiterEvent.WITHDRAW)
        if self.holder:
            self._next_turn()
            return
        self._fire(ArbiterEvent.RELEASE)
        self.asker = ""
        self._freed()

    def _about_asker(self, message: AuthorityMessage) -> None:
        """An answer names whom it answers: another agent may have requested control since it was given."""
        if message.peer != self.asker:
            answered = message.peer or "nobody by name"
            raise AuthorityError(f"{message.kind.name} for {answered}: {self.asker or 'nobody'} requests control")

    def _from_holder(self, message: AuthorityMessage) -> None:
        if message.agent != self.holder:
            raise AuthorityError(f"{message.kind.name} of {message.agent}: {self.holder or 'nobody'} holds authority")
