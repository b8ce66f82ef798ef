"""Who plans for the arm: one agent at a time, person or program [US5046022 claims 28, 29].

What belongs here: requests, consent, refusal, taking by a supervisor, release, heartbeats, as one table. What must
never enter: plans, poses, links; a halt (accepted from anyone, on its own path).

The desk stands at the robot: it is the receiver's policy for claims (`may_open`). A claim is admitted when the plan
is free, or its own, or when the holder consented (or is armed to consent at once), or a supervisor took it. Losing
heartbeats never gives control away: it is only shown.

Links lose messages, so an agent repeats what it says until a report answers it. A saying has a number of its own, and
is decided once: what is still on the way of one already settled changes nothing.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from enum import Enum, IntEnum

from telerobot_nodes.errors import AuthorityError, InvalidValueError, TransitionError
from telerobot_nodes.plan.operations import Operation
from telerobot_nodes.plan.receiver import LogPosition, Receiver

HEARTBEAT_TIMEOUT = 2.0  # [s] after which an agent counts as silent
REMEMBERED = 8  # sayings of one agent that are known again


class AuthorityKind(IntEnum):
    """Values equal the constants of `Authority.msg`."""

    REQUEST = 0
    CONSENT = 1
    REFUSE = 2
    TAKE = 3
    RELEASE = 4
    HEARTBEAT = 5


@dataclass(frozen=True)
class AuthorityMessage:
    """What an agent says about authority; validated when made."""

    kind: AuthorityKind
    agent: str  # who sends
    peer: str = ""  # whom it concerns; empty: whoever is active, or whoever asks
    epoch: int = 0  # epoch the sender knows
    number: int = 0  # of this saying, the same in its repeats; 0: decided each time it arrives
    reason: str = ""  # why, where the desk answers

    def __post_init__(self) -> None:
        if self.kind not in tuple(AuthorityKind):
            raise InvalidValueError("authority.kind", self.kind, f"allowed: 0 .. {max(AuthorityKind)}")
        if not self.agent:
            raise InvalidValueError("authority.agent", self.agent, "allowed: a name")


@dataclass(frozen=True)
class Denial:
    """A saying that was refused, for the report: whose, which, and why."""

    agent: str = ""
    number: int = 0
    reason: str = ""


class DeskState(Enum):
    """Where authority stands."""

    FREE = "nobody holds it"
    HELD = "one holds it, nobody asks"
    ASKED = "one holds it, one asks"
    GRANTED = "one holds it, another may claim it"


class DeskEvent(Enum):
    """What happens to authority."""

    REQUEST = "asked for"
    CONSENT = "holder agrees"
    REFUSE = "holder declines"
    WITHDRAW = "asker gives up"
    TAKE = "supervisor gives it to someone"
    RELEASE = "holder gives it up"
    CLAIM = "claimed"


_FREE, _HELD, _ASKED, _GRANTED = DeskState
_TAKEN = {(state, DeskEvent.TAKE): _GRANTED for state in DeskState}
_CLAIMED = {(state, DeskEvent.CLAIM): _HELD for state in DeskState}
TABLE: dict[tuple[DeskState, DeskEvent], DeskState] = {
    **_TAKEN,
    **_CLAIMED,
    (_HELD, DeskEvent.REQUEST): _ASKED,
    (_ASKED, DeskEvent.CONSENT): _GRANTED,
    (_ASKED, DeskEvent.REFUSE): _HELD,
    (_ASKED, DeskEvent.WITHDRAW): _HELD,
    (_GRANTED, DeskEvent.REFUSE): _HELD,
    (_GRANTED, DeskEvent.WITHDRAW): _HELD,
    (_HELD, DeskEvent.RELEASE): _FREE,
    (_ASKED, DeskEvent.RELEASE): _FREE,
    (_GRANTED, DeskEvent.RELEASE): _FREE,
}


class AuthorityDesk:
    """Decides claims; `handle` takes what agents say, `may_open` is the receiver's policy."""

    def __init__(self, supervisors: frozenset[str] = frozenset(), armed: bool = False) -> None:
        self.supervisors = supervisors
        self.armed = armed  # requests are granted at once; hand-off still waits for the meeting
        self.state = DeskState.FREE
        self.holder = ""
        self.asker = ""
        self.denial = Denial()  # the latest
        self._forced = False
        self._heard: dict[str, float] = {}
        self._settled: dict[str, deque[Denial]] = {}  # of each agent; one without a reason was taken

    def handle(self, now: float, message: AuthorityMessage, receiver: Receiver) -> None:
        """Take a message. Raises AuthorityError or TransitionError saying why it is refused; nothing changed then."""
        self.follow(receiver.position)
        self._heard[message.agent] = now
        if message.number and self._known(message):
            return
        try:
            self._decide(message)
        except (AuthorityError, TransitionError) as error:
            self._settle(message, str(error))
            raise
        if not (message.kind is AuthorityKind.REQUEST and self.state is DeskState.FREE):  # of nobody: asked again
            self._settle(message, "")
        if self.state is DeskState.FREE and receiver.position.authority:
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
        """True when the saying was decided before; one that was refused is told again."""
        for settled in self._settled.get(message.agent, ()):
            if settled.number == message.number:
                self.denial = settled if settled.reason else self.denial
                return True
        return False

    def _settle(self, message: AuthorityMessage, reason: str) -> None:
        if message.number:
            settled = Denial(message.agent, message.number, reason)
            self._settled.setdefault(message.agent, deque(maxlen=REMEMBERED)).append(settled)
            self.denial = settled if reason else self.denial

    @property
    def granted(self) -> bool:
        """True when the asker may claim authority."""
        return self.state is DeskState.GRANTED

    @property
    def forced(self) -> bool:
        """True when a supervisor decided so."""
        return self._forced

    def silent(self, now: float) -> bool:
        """True when the holder was heard before and is not any more. It keeps authority all the same."""
        return self.holder in self._heard and now - self._heard[self.holder] > HEARTBEAT_TIMEOUT

    def may_open(self, operation: Operation, position: LogPosition) -> str:
        """Policy of the receiver: why a claim is refused; empty: it is admitted."""
        self.follow(position)
        granted = self.state is DeskState.GRANTED and operation.agent == self.asker
        own = operation.agent == self.holder and not (self.state is DeskState.GRANTED and self._forced)
        if own and self.state is not DeskState.FREE:
            return ""  # a restart of the holder; who asks goes on asking
        if self.state is DeskState.FREE or granted:
            self._claimed(operation.agent)
            return ""
        return f"authority: {operation.agent} asked, {self.holder} holds it; allowed: its consent, or a supervisor"

    def follow(self, position: LogPosition) -> None:
        """Take over who holds authority from the log (hand-over inside the log, journal)."""
        if position.authority != self.holder:
            if position.authority:
                self._claimed(position.authority)
            else:
                self.state, self.holder, self.asker = DeskState.FREE, "", ""

    def _claimed(self, agent: str) -> None:
        self._fire(DeskEvent.CLAIM)
        self.holder, self._forced = agent, False
        self.asker = ""

    def _fire(self, event: DeskEvent) -> None:
        try:
            self.state = TABLE[self.state, event]
        except KeyError:
            raise TransitionError("authority", self.state.value, event.value) from None

    def _heartbeat(self, message: AuthorityMessage) -> None:
        """Nothing but that the agent was heard."""

    def _request(self, message: AuthorityMessage) -> None:
        if self.state is DeskState.FREE or message.agent in (self.holder, self.asker):
            return  # may claim at once, has it, or has asked already
        if self.asker:
            raise AuthorityError(f"request of {message.agent}: {self.asker} asked first; allowed: when that is settled")
        self._fire(DeskEvent.REQUEST)
        self.asker = message.agent
        if self.armed:
            self._fire(DeskEvent.CONSENT)

    def _consent(self, message: AuthorityMessage) -> None:
        self._from_holder(message)
        if message.peer and message.peer != self.asker:
            raise AuthorityError(f"consent for {message.peer}: {self.asker or 'nobody'} asks")
        if self.state is DeskState.GRANTED:
            return  # said again, because the answer is on its way
        self._fire(DeskEvent.CONSENT)

    def _refuse(self, message: AuthorityMessage) -> None:
        self._from_holder(message)
        if self._forced:
            raise AuthorityError(f"refusal of {message.agent}: a supervisor decided for {self.asker}")
        self._fire(DeskEvent.REFUSE)
        self.asker = ""

    def _take(self, message: AuthorityMessage) -> None:
        if message.agent not in self.supervisors:
            allowed = ", ".join(sorted(self.supervisors)) or "nobody"
            raise AuthorityError(f"take of {message.agent}: it is no supervisor; allowed: {allowed}")
        target = message.peer or message.agent
        if target == self.holder:
            if self.state is DeskState.GRANTED:  # to another: it is the holder's again
                self._fire(DeskEvent.REFUSE)
                self.asker, self._forced = "", False
            return
        self._fire(DeskEvent.TAKE)
        self.asker, self._forced = target, True

    def _release(self, message: AuthorityMessage) -> None:
        if message.agent == self.asker and message.agent != self.holder:
            self._fire(DeskEvent.WITHDRAW)
            self.asker, self._forced = "", False
            if not self.holder:
                self._fire(DeskEvent.RELEASE)
            return
        self._from_holder(message)
        self._fire(DeskEvent.RELEASE)
        self.holder = self.asker = ""
        self._forced = False

    def _from_holder(self, message: AuthorityMessage) -> None:
        if message.agent != self.holder:
            raise AuthorityError(f"{message.kind.name} of {message.agent}: {self.holder or 'nobody'} holds authority")
