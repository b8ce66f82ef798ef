"""One agent's requests for authority over a lossy link [US5046022 claim 28].

What belongs here: repeating a request until the robot's reports answer it, and deriving from the reports what other
agents requested. What must never enter: decisions (`arbiter.py`), plans (`standby.py`).
"""

from __future__ import annotations

from dataclasses import replace

from telerobot_nodes.core.protocol import AuthorityKind
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.plan.authority.arbiter import AuthorityMessage
from telerobot_nodes.plan.log import ExecutorReport

REPEAT = 0.25  # [s]


class AuthorityClient:
    """Repeats one request until a report shows its success or its refusal; sends heartbeats otherwise."""

    def __init__(self, agent: str) -> None:
        self._agent = agent
        self._open: AuthorityMessage | None = None  # request that is not answered
        self._report: ExecutorReport | None = None
        self._next = 0.0
        self._number = 0  # of the latest request

    def check(self, kind: AuthorityKind) -> None:
        """Raise InvalidValueError when the latest report shows that the message has no object."""
        if self._report is None:
            return
        holder, asker = self._report.authority, self._report.asker
        decides = kind in (AuthorityKind.CONSENT, AuthorityKind.REFUSE)
        if decides and holder != self._agent:
            raise InvalidValueError("control", f"{holder or 'nobody'} has it", "allowed: for the agent in control")
        if decides and not asker:
            raise InvalidValueError("control", "no request", "allowed: when another agent requests control")
        if kind is AuthorityKind.REQUEST and holder == self._agent:
            raise InvalidValueError("control", "this agent has it", "allowed: when another agent has control")

    def request(self, now: float, message: AuthorityMessage) -> None:
        """Send `message` now and repeat it until a report answers it; it replaces an open request.

        An answer without `peer` is to the agent that the latest report shows.
        """
        if message.kind in (AuthorityKind.CONSENT, AuthorityKind.REFUSE) and not message.peer and self._report:
            message = replace(message, peer=self._report.asker)
        self._number = max(self._number + 1, int(1000.0 * now))  # a different one after each restart
        self._open, self._next = replace(message, number=self._number), now

    def due(self, now: float, epoch: int) -> AuthorityMessage | None:
        """Message to send now, None if none; `epoch`: of this agent's authority, 0 if it has none."""
        if now < self._next:
            return None
        self._next = now + REPEAT
        message = self._open or AuthorityMessage(AuthorityKind.HEARTBEAT, self._agent)
        return replace(message, epoch=epoch)

    def on_report(self, report: ExecutorReport) -> list[AuthorityMessage]:
        """Take a report; returns the messages that other agents must have sent since the last one."""
        before, self._report = self._report, report
        if self._open is not None and self._succeeded(self._open, report):
            self._open = None
        elif self._open is not None and self._denied(self._open, report):
            self._open = None
            return [AuthorityMessage(AuthorityKind.REFUSE, "robot", self._agent, report.epoch, reason=report.denial)]
        return [] if before is None else list(self._received(before, report))

    def _denied(self, message: AuthorityMessage, report: ExecutorReport) -> bool:
        return (report.denied_agent, report.denied_number) == (self._agent, message.number)

    def _succeeded(self, message: AuthorityMessage, report: ExecutorReport) -> bool:
        me, peer = self._agent, message.peer
        holds = report.authority == me
        return {
            AuthorityKind.REQUEST: holds or me in report.requests,
            AuthorityKind.CONSENT: not holds or report.granted or not report.asker,
            AuthorityKind.REFUSE: not holds or (peer or report.asker) not in report.requests,
            AuthorityKind.TAKE: report.authority == (peer or me) or (report.granted and report.asker == (peer or me)),
            AuthorityKind.RELEASE: not holds and me not in report.requests,
            AuthorityKind.HEARTBEAT: True,
        }[message.kind]

    def _received(self, before: ExecutorReport, report: ExecutorReport) -> list[AuthorityMessage]:
        me, holder = self._agent, report.authority or "robot"
        mine, was_mine = report.asker == me, before.asker == me
        refused = me in before.requests and me not in report.requests and report.authority not in ("", me)
        if report.asker and report.asker != before.asker and report.authority == me:
            return [AuthorityMessage(AuthorityKind.REQUEST, report.asker, me, report.epoch)]
        if mine and report.granted and not (was_mine and before.granted):
            kind = AuthorityKind.TAKE if report.forced else AuthorityKind.CONSENT
            return [AuthorityMessage(kind, "supervisor" if report.forced else holder, me, report.epoch)]
        if refused:
            return [AuthorityMessage(AuthorityKind.REFUSE, holder, me, report.epoch)]
        return []
