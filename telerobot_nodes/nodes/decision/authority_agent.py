"""The decision unit as an agent for the plan of one arm: requests, consents, claims and releases [JPL-RTC section 2].

Programs are agents like people: the executor's arbiter decides for both [US5046022 claim 28]. While the program has
authority it records no plan, and the operators' points are rejected. It keeps nobody waiting for nothing: a place in
the line that no primitive wants is given back, and so is the plan when a claim was granted after its primitive ended.
"""

from __future__ import annotations

from dataclasses import dataclass

from telerobot_nodes.core.protocol import AuthorityKind, OperationKind
from telerobot_nodes.plan.authority import AuthorityClient, AuthorityMessage
from telerobot_nodes.plan.log import ExecutorReport, Operation

AGENT = "program"
REPEAT = 0.25  # [s] between claims
FRESH = 1.0  # [s] without a report after which the executor counts as gone


@dataclass
class HandOver:
    """A change of authority asked for: to the program, or away from it."""

    primitive: int
    to_program: bool
    asked: bool = False  # the executor has shown our request


class AuthorityAgent:
    """Follows the executor's reports; `due` returns what to publish. One thread."""

    def __init__(self, agent: str = AGENT) -> None:
        self.agent = agent
        self.report: ExecutorReport | None = None
        self.wish: HandOver | None = None
        self._given_up = False  # the latest wish for the plan: a claim of it may still be on the link
        self._heard = -FRESH
        self._authority_client = AuthorityClient(agent)
        self._next_claim = 0.0

    @property
    def holds(self) -> bool:
        """True while the program has authority over the arm's plan."""
        return self.report is not None and self.report.authority == self.agent

    def begin(self, now: float, wish: HandOver) -> str:
        """Ask for a change; returns why it cannot be, or an empty text."""
        if now - self._heard > FRESH:
            return "no plan executor reports"
        self.wish = wish
        self._given_up = self._given_up and not wish.to_program
        if wish.to_program and not self.holds:
            self._say(now, AuthorityKind.REQUEST)  # of a free plan too: another one may be before it
        elif not wish.to_program and self.holds:
            self._say(now, AuthorityKind.RELEASE)
        return ""

    def give_up(self, now: float) -> None:
        """Withdraw the request for a change."""
        if self.wish is not None and self.wish.to_program and not self.holds:
            self._say(now, AuthorityKind.RELEASE)
            self._given_up = True
        self.wish = None

    def on_report(self, now: float, report: ExecutorReport) -> tuple[int, str] | None:
        """Take a report; (primitive, outcome) when a change is over."""
        denied = any(answer.reason for answer in self._authority_client.on_report(report))
        self.report, self._heard = self._authority_client.report, now  # it may have overtaken this one
        return self._follow(now, self.report or report, denied)

    def _follow(self, now: float, report: ExecutorReport, denied: bool) -> tuple[int, str] | None:
        wish = self.wish
        if wish is None:
            self._answer_unasked(now, report)
            return None
        outcome = "denied" if denied else self._outcome(wish, report)
        if outcome:
            self.wish = None
            return wish.primitive, outcome
        return None

    def _answer_unasked(self, now: float, report: ExecutorReport) -> None:
        """Keep the plan that a program has, but neither a place in the line nor a plan that no program asked for."""
        if self._waits or (self.holds and self._given_up):
            if self._authority_client.open_kind is not AuthorityKind.RELEASE:
                self._say(now, AuthorityKind.RELEASE)
        elif self.holds and report.asker and report.asker != self.agent and not report.granted:
            self._say(now, AuthorityKind.REFUSE, report.asker)  # trade is the word for it

    def _outcome(self, wish: HandOver, report: ExecutorReport) -> str:
        if not wish.to_program:
            return "granted" if report.authority != self.agent else ""
        if report.authority == self.agent:
            return "granted"
        if self.agent in report.requests:
            wish.asked = True
        elif wish.asked and report.authority:
            return "denied"
        return ""

    def due(self, now: float) -> tuple[AuthorityMessage | None, Operation | None]:
        """The message and the claim to publish now."""
        report, wish = self.report, self.wish
        epoch = report.epoch if report is not None and self.holds else 0
        message = self._authority_client.due(now, epoch) if self.holds or wish is not None or self._waits else None
        claim = None
        if wish is not None and wish.to_program and report is not None and now >= self._next_claim and self._may_claim:
            self._next_claim = now + REPEAT
            claim = Operation(report.epoch + 1, 1, OperationKind.AUTHORITY, self.agent)
        return message, claim

    @property
    def _may_claim(self) -> bool:
        report = self.report
        return report is not None and (not report.authority or (report.granted and report.asker == self.agent))

    @property
    def _waits(self) -> bool:
        return self.report is not None and self.agent in self.report.requests

    def _say(self, now: float, kind: AuthorityKind, peer: str = "") -> None:
        epoch = self.report.epoch if self.report else 0
        self._authority_client.request(now, AuthorityMessage(kind, self.agent, peer, epoch))
