"""One agent's talk about authority over a link that loses messages [US5046022 claim 28].

What belongs here: repeating what this agent says until the robot's reports show it, and reading from the reports what
others said. What must never enter: decisions (`authority.py`), plans (`standby.py`).
"""

from __future__ import annotations

from dataclasses import replace

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.plan.authority import AuthorityKind, AuthorityMessage
from telerobot_nodes.plan.operations import ExecutorReport

REPEAT = 0.25  # [s]


class AuthorityTalk:
    """Says each thing until it is seen to have worked, or to be refused; a heartbeat otherwise."""

    def __init__(self, agent: str) -> None:
        self._agent = agent
        self._said: AuthorityMessage | None = None  # not yet seen to have worked
        self._report: ExecutorReport | None = None
        self._next = 0.0
        self._number = 0  # of the latest saying

    def check(self, kind: AuthorityKind) -> None:
        """Raises InvalidValueError when the latest report shows that there is nothing to say it about."""
        if self._report is None:
            return
        holder, asker = self._report.authority, self._report.asker
        decides = kind in (AuthorityKind.CONSENT, AuthorityKind.REFUSE)
        if decides and holder != self._agent:
            raise InvalidValueError("control", f"{holder or 'nobody'} has it", "allowed: to who has control")
        if decides and not asker:
            raise InvalidValueError("control", "nobody asks", "allowed: when another agent asks for control")
        if kind is AuthorityKind.REQUEST and holder == self._agent:
            raise InvalidValueError("control", "it is here already", "allowed: when another agent has control")

    def say(self, now: float, message: AuthorityMessage) -> None:
        """Say `message` now, and again until the reports answer it; it replaces what was said before."""
        self._number = max(self._number + 1, int(1000.0 * now))  # another one in each life of this agent
        self._said, self._next = replace(message, number=self._number), now

    def due(self, now: float) -> AuthorityMessage | None:
        """What to send now, if anything."""
        if now < self._next:
            return None
        self._next = now + REPEAT
        epoch = self._report.epoch if self._report else 0
        return self._said or AuthorityMessage(AuthorityKind.HEARTBEAT, self._agent, epoch=epoch)

    def on_report(self, report: ExecutorReport) -> list[AuthorityMessage]:
        """Take a report; returns what others must have said since the one before."""
        before, self._report = self._report, report
        if self._said is not None and self._worked(self._said, report):
            self._said = None
        elif self._said is not None and self._denied(self._said, report):
            self._said = None
            return [AuthorityMessage(AuthorityKind.REFUSE, "robot", self._agent, report.epoch, reason=report.denial)]
        return [] if before is None else list(self._heard(before, report))

    def _denied(self, said: AuthorityMessage, report: ExecutorReport) -> bool:
        return (report.denied_agent, report.denied_number) == (self._agent, said.number)

    def _worked(self, said: AuthorityMessage, report: ExecutorReport) -> bool:
        me, peer = self._agent, said.peer
        holds = report.authority == me
        return {
            AuthorityKind.REQUEST: holds or report.asker == me,
            AuthorityKind.CONSENT: not holds or report.granted or not report.asker,
            AuthorityKind.REFUSE: not holds or not report.asker,
            AuthorityKind.TAKE: report.authority == (peer or me) or (report.granted and report.asker == (peer or me)),
            AuthorityKind.RELEASE: not holds and report.asker != me,
            AuthorityKind.HEARTBEAT: True,
        }[said.kind]

    def _heard(self, before: ExecutorReport, report: ExecutorReport) -> list[AuthorityMessage]:
        me, holder = self._agent, report.authority or "robot"
        mine, was_mine = report.asker == me, before.asker == me
        if report.asker and report.asker != before.asker and report.authority == me:
            return [AuthorityMessage(AuthorityKind.REQUEST, report.asker, me, report.epoch)]
        if mine and report.granted and not (was_mine and before.granted):
            kind = AuthorityKind.TAKE if report.forced else AuthorityKind.CONSENT
            return [AuthorityMessage(kind, "supervisor" if report.forced else holder, me, report.epoch)]
        if was_mine and not mine and report.authority != me:
            return [AuthorityMessage(AuthorityKind.REFUSE, holder, me, report.epoch)]
        return []
