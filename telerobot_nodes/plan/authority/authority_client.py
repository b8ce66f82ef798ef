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
MAX_PAST_REPORTS = 20  # reports older than the latest, in a row, after which the robot counts as restarted


class AuthorityClient:
    """Repeats one request until a report shows its success or its refusal; sends heartbeats otherwise.

    Reports get lost and overtake each other. What they show is compared with what this agent was told last, not with
    the report before, so that nothing is told twice or in vain.
    """

    def __init__(self, agent: str) -> None:
        self._agent = agent
        self._open: AuthorityMessage | None = None  # request that is not answered
        self.report: ExecutorReport | None = None  # the latest
        self._past_reports = 0
        self._in_line = False  # this agent's request stands, as far as it was told
        self._grant: AuthorityMessage | None = None  # why it may claim, as far as it was told
        self._next = 0.0
        self._number = 0  # of the latest request

    @property
    def open_kind(self) -> AuthorityKind | None:
        """Kind of the request that is not answered; None: there is none."""
        return self._open.kind if self._open is not None else None

    def check(self, kind: AuthorityKind) -> None:
        """Raise InvalidValueError when the latest report shows that the message has no object."""
        if self.report is None:
            return
        holder, asker = self.report.authority, self.report.asker
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
        if message.kind in (AuthorityKind.CONSENT, AuthorityKind.REFUSE) and not message.peer and self.report:
            message = replace(message, peer=self.report.asker)
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
        """Take a report; returns the messages that other agents must have sent since the last one.

        A report that is not newer than the latest (overtaken on the link) is ignored.
        """
        if self._is_past(report):
            return []
        before, self.report = self.report, report
        if self._open is not None and self._succeeded(self._open, report):
            if self._open.kind is AuthorityKind.RELEASE:
                self._in_line, self._grant = False, None  # by its own wish
            self._open = None
        elif self._open is not None and self._denied(self._open, report):
            self._open, self._in_line = None, self._agent in report.requests
            self._grant = self._grant if self._in_line else None
            return [AuthorityMessage(AuthorityKind.REFUSE, "robot", self._agent, report.epoch, reason=report.denial)]
        return self._received(before, report)

    def _is_past(self, report: ExecutorReport) -> bool:
        """True for a copy, or a report that a later one has overtaken; a restarted robot counts from 1 again."""
        if self.report is None or not report.number or report.number > self.report.number:
            self._past_reports = 0
            return False
        self._past_reports += 1
        if self._past_reports < MAX_PAST_REPORTS:
            return True
        self._past_reports = 0
        self.report = replace(self.report, asker="", waiting=(), granted=False, forced=False)  # its line is lost
        return False

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

    def _received(self, before: ExecutorReport | None, report: ExecutorReport) -> list[AuthorityMessage]:
        me, in_line, grant = self._agent, self._agent in report.requests, self._grant_in(report)
        if before is None:
            self._in_line, self._grant = in_line, grant
            return []
        if report.authority == me:
            self._in_line, self._grant = False, None
            asked = bool(report.asker) and report.asker != before.asker
            return [AuthorityMessage(AuthorityKind.REQUEST, report.asker, me, report.epoch)] if asked else []
        if self._in_line and not in_line and (report.authority or report.forced):
            self._in_line, self._grant = False, None
            return [self._refusal(before, report)]
        told = []
        lost = self._grant is not None and (grant is None or grant.epoch != self._grant.epoch)
        if lost and in_line and report.authority:
            self._grant = None
            told.append(AuthorityMessage(AuthorityKind.REQUEST, me, report.authority, report.epoch))
        if grant is not None and grant != self._grant:
            self._grant = grant
            told.append(grant)
        self._in_line = self._in_line or in_line  # a plan that is free it may claim, in line or not
        return told

    def _grant_in(self, report: ExecutorReport) -> AuthorityMessage | None:
        """What allows this agent to claim; None: nothing."""
        if report.asker != self._agent or not report.granted:
            return None
        if report.forced:
            return AuthorityMessage(AuthorityKind.TAKE, "supervisor", self._agent, report.epoch)
        return AuthorityMessage(AuthorityKind.CONSENT, report.authority or "robot", self._agent, report.epoch)

    def _refusal(self, before: ExecutorReport, report: ExecutorReport) -> AuthorityMessage:
        """The holder refuses whose turn it is, and nobody else; the reason is given when it was not the holder."""
        by_holder = before.asker == self._agent and before.authority == report.authority
        reason = "" if by_holder else "no longer in line"
        if report.forced:
            reason = f"a supervisor gives control to {report.asker}"
        holder = report.authority or "robot"
        return AuthorityMessage(AuthorityKind.REFUSE, holder, self._agent, report.epoch, reason=reason)
