"""Grants authority over the plan to one agent at a time, person or program [US5046022 claims 28, 29].

What belongs here: requests, consent, refusal, taking by a supervisor, release, heartbeats, as one table. What must
never enter: plans, poses; a halt (accepted from anyone, on a topic of its own).

The arbiter runs at the robot: it is the receiver's policy for claims (`may_open`). A claim is accepted if the plan is
free or the agent's own, if the holder consented (or is armed to consent at once), or if a supervisor took it. Missing
heartbeats never transfer control to another name; they are only reported.

A name belongs to one process at a time. While the holder sends heartbeats of its epoch, another process of its name
is denied; without them its claim counts as that of the restarted holder.

Agents who request while another one's request is open wait in the order of their requests; each has its turn when the
one before has claimed, was refused or has given up. Who is silent is passed over and keeps its place, so that nobody
waits for the dead. When the holder releases the plan, it is kept for the first of them who is heard, for as long as a
claim takes; who has not claimed by then does not want it and has lost its place.

The link loses messages, so an agent repeats each request until a report answers it. A request has a number of its own
and is decided once; copies that arrive later change nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from telerobot_nodes.core.protocol import AuthorityKind, next_state
from telerobot_nodes.errors import AuthorityError, InvalidValueError, TransitionError
from telerobot_nodes.plan.authority.decided_requests import DecidedRequests, Decision
from telerobot_nodes.plan.authority.request_line import HEARTBEAT_TIMEOUT, TURN, RequestLine
from telerobot_nodes.plan.log import LogPosition, Operation, Receiver, agent_name


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
        self.denial = Decision()  # the latest request or claim that was refused
        self._forced = False
        self._alive = -HEARTBEAT_TIMEOUT  # [s] last message from the epoch in force
        self._line = RequestLine()  # behind the asker
        self._numbers: dict[str, int] = {}  # of the requests with which agents who wait came into the line
        self._decided = DecidedRequests()

    @property
    def waiting(self) -> list[str]:
        """Agents who requested control after the asker, in the order of their requests."""
        return self._line.agents

    def handle(self, now: float, message: AuthorityMessage, receiver: Receiver) -> None:
        """Take a message. When it is refused, raises AuthorityError or TransitionError, and it changes nothing."""
        self._line.now = now
        self.follow(receiver.position)
        self._note_alive(message, receiver.position.epoch)
        self._pass_over_silent()
        if message.number and self._known(message):
            return
        try:
            self._decide(message)
        except (AuthorityError, TransitionError) as error:
            self._deny(message.agent, message.number, str(error))
            raise
        self._decided.note(Decision(message.agent, message.number))
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
        decision = self._decided.of(message.agent, message.number)
        if decision is not None and decision.reason:
            self.denial = decision
        return decision is not None

    def _deny(self, agent: str, number: int, reason: str) -> None:
        if number:
            self.denial = Decision(agent, number, reason)
            self._decided.note(self.denial)

    def report_fields(self, now: float) -> dict[str, Any]:
        """Fields of an ExecutorReport: who requests, what was decided. A holder that is silent keeps authority."""
        self._line.now = now
        return {
            "asker": self.asker,
            "waiting": tuple(self.waiting),
            "granted": self.state is ArbiterState.GRANTED,
            "forced": self._forced,
            "holder_silent": self._line.silence(self.holder, 0.0) > HEARTBEAT_TIMEOUT,
            "denied_agent": self.denial.agent,
            "denied_number": self.denial.number,
            "denial": self.denial.reason,
        }

    def _note_alive(self, message: AuthorityMessage, epoch: int) -> None:
        concerned = (self.holder, self.asker, *self.waiting)
        self._line.forget_all_but(concerned)
        self._numbers = {agent: number for agent, number in self._numbers.items() if agent in concerned}
        if message.agent in concerned or message.kind in (AuthorityKind.REQUEST, AuthorityKind.TAKE):
            self._line.hear(message.agent)
        if message.agent == self.holder and message.epoch == epoch:
            self._alive = self._line.now

    def may_open(self, now: float, operation: Operation, position: LogPosition) -> str:
        """Policy of the receiver: why a claim is refused; empty if it is accepted."""
        self._line.now = now
        self.follow(position)
        granted = self.state is ArbiterState.GRANTED and operation.agent == self.asker
        own = operation.agent == self.holder and not (self.state is ArbiterState.GRANTED and self._forced)
        if own and self.state is not ArbiterState.FREE:
            return self._against_namesake(operation)  # a restart of the holder; a request stays open
        if self.state is ArbiterState.FREE:
            turn = self._turn()
            if turn not in ("", operation.agent):
                first = f"{turn} requested it first; allowed: after {turn}"
                return self._deny_claim(operation, f"authority: {operation.agent} claims it, {first}")
        if self.state is ArbiterState.FREE or granted:
            self._claimed(operation.agent)
            return ""
        holder = self.holder or "nobody"
        return f"authority: {operation.agent} claims it, {holder} holds it; allowed: its consent, or a supervisor"

    def _pass_over_silent(self) -> None:
        """Who is silent holds up nobody who is heard; only what a supervisor decided stands."""
        if self.state is ArbiterState.FREE:
            self._turn()  # its time runs from here on
        elif self.asker and not self._forced and not self._line.is_heard(self.asker) and self._line.first_heard():
            silent = self.asker
            self._fire(ArbiterEvent.WITHDRAW)
            self._next_turn()
            self.waiting.insert(0, silent)

    def _turn(self) -> str:
        """For whom the free plan is kept; empty: nobody."""
        while agent := self._line.overdue():
            self._lose_place(agent, f"the plan was free for {TURN:g} s and {agent} has not claimed it")
        return self._line.first_heard()

    def _lose_place(self, agent: str, reason: str) -> None:
        """A request is over by no wish of its agent's; copies of it that still arrive are answered with the reason."""
        self._line.leave(agent)
        self._deny(agent, self._numbers.pop(agent, 0), reason)

    def _against_namesake(self, operation: Operation) -> str:
        """Why a claim in the holder's name is refused; empty when the holder itself has fallen silent."""
        if self._line.now - self._alive >= HEARTBEAT_TIMEOUT:
            return ""
        taken = f"another operator is named {operation.agent} and has control"
        return self._deny_claim(operation, f"agent: {taken}; allowed: a name of its own")

    def _deny_claim(self, operation: Operation, reason: str) -> str:
        self.denial = Decision(operation.agent, operation.epoch, reason)
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
        self._line.leave(agent)
        self._next_turn()

    def _freed(self) -> None:
        """Nobody holds authority; who had the turn comes first among those who wait."""
        if self.asker:
            self.waiting.insert(0, self.asker)
        self.state, self.holder, self.asker, self._forced = ArbiterState.FREE, "", "", False
        self._line.plan_freed()

    def _next_turn(self) -> None:
        """The asker is gone: the next who waits has its turn."""
        self.asker, self._forced = "", False
        if agent := self._line.pop():
            self._ask(agent)

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
        if message.agent not in (self.holder, self.asker, *self.waiting):
            self._line_up(message.agent)
        self._numbers[message.agent] = message.number

    def _line_up(self, agent: str) -> None:
        """A free plan is kept for the first in the line until it claims; otherwise the first is the asker."""
        if self.state is not ArbiterState.FREE and not self.asker:
            self._ask(agent)
        else:
            self._line.append(agent)

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
        self._lose_place(self.asker, f"{self.holder} refuses")
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
        self._line.leave(target)
        if self._forced and self.asker != target:
            self._lose_place(self.asker, f"a supervisor gives control to {target}")
        elif self.asker not in ("", target):
            self.waiting.insert(0, self.asker)  # nobody has refused it
        self.asker, self._forced = target, True

    def _release(self, message: AuthorityMessage) -> None:
        if message.agent in self.waiting:
            self._line.leave(message.agent)
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
