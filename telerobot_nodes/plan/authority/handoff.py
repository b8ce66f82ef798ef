"""One agent's part in a change of authority [US5046022 claims 28, 29].

What belongs here: what this agent requested and which answers it received. What must never enter: decisions
(`arbiter.py`, at the robot), plans (`standby.py`).
"""

from __future__ import annotations

from enum import Enum

from telerobot_nodes.core.protocol import AuthorityKind
from telerobot_nodes.plan.authority.arbiter import AuthorityMessage


class ClaimStage(Enum):
    """How far the claim of this agent, without authority, has come."""

    NONE = "requests nothing"
    CONSENT = "waits for consent"
    MEETING = "waits until its tool meets the active plan"
    ALLOWED = "may claim at once"  # a supervisor decided


class Handoff:
    """Follows the messages about authority from one agent's point of view."""

    def __init__(self, agent: str) -> None:
        self.agent = agent
        self.stage = ClaimStage.NONE
        self.claimed = False  # a claim was made
        self.asker = ""  # agent that requests authority from this one

    def message(self, kind: AuthorityKind, peer: str, epoch: int) -> AuthorityMessage:
        """Message to send; an answer without `peer` is to the agent that requests. Raises InvalidValueError."""
        answers = kind in (AuthorityKind.CONSENT, AuthorityKind.REFUSE)
        message = AuthorityMessage(kind, self.agent, peer or (self.asker if answers else ""), epoch)
        if kind is AuthorityKind.REQUEST:
            self.stage = ClaimStage.CONSENT
        elif kind is AuthorityKind.TAKE and peer in ("", self.agent):
            self.stage = ClaimStage.ALLOWED
        elif kind is AuthorityKind.RELEASE:
            self.stage = ClaimStage.NONE
        elif answers:
            self.asker = ""
        return message

    def on_message(self, message: AuthorityMessage) -> str:
        """Take a message of another agent or of the robot; returns a notice for the operator, empty if none."""
        if message.agent == self.agent:
            return self._await_consent() if message.kind is AuthorityKind.REQUEST else ""
        waiting = self.stage is not ClaimStage.NONE or self.claimed
        about_me = message.peer == self.agent or (not message.peer and waiting)
        if message.kind is AuthorityKind.CONSENT and about_me and self.stage is ClaimStage.CONSENT:
            self.stage = ClaimStage.MEETING
            return f"{message.agent} consents: control passes when your tool meets the plan"
        if message.kind is AuthorityKind.REFUSE and about_me:
            self.stage, self.claimed = ClaimStage.NONE, False
            return f"refused: {message.reason}" if message.reason else f"{message.agent} refuses"
        if message.kind is AuthorityKind.TAKE and message.peer == self.agent:
            self.stage = ClaimStage.ALLOWED
            return f"{message.agent} gives you control"
        if message.kind is AuthorityKind.REQUEST and message.peer in ("", self.agent):
            self.asker = message.agent
            return f"{message.agent} requests control"
        return ""

    def _await_consent(self) -> str:
        """The robot shows our request without the consent that was given: a claim because of it may not stand."""
        if self.stage not in (ClaimStage.MEETING, ClaimStage.ALLOWED) and not self.claimed:
            return ""
        self.stage, self.claimed = ClaimStage.CONSENT, False
        return "the consent is void: you wait for your turn again"

    def settled(self) -> None:
        """Authority was claimed."""
        self.stage, self.claimed = ClaimStage.NONE, True
        self.asker = ""
