"""One agent's part in a change of authority [US5046022 claims 28, 29].

What belongs here: what this agent asked for and was told. What must never enter: decisions (`authority.py`, at the
robot), plans (`standby.py`).
"""

from __future__ import annotations

from enum import Enum

from telerobot_nodes.plan.authority import AuthorityKind, AuthorityMessage


class Wish(Enum):
    """What this agent, without authority, is waiting for."""

    NONE = "asks for nothing"
    CONSENT = "waits for consent"
    MEETING = "waits until its tool meets the active plan"
    NOTHING = "may claim at once"  # a supervisor decided


class Handoff:
    """Follows the talk about authority from one agent's point of view."""

    def __init__(self, agent: str) -> None:
        self.agent = agent
        self.wish = Wish.NONE
        self.claimed = False  # a claim was made on what was consented
        self.asker = ""  # another agent that asks this one, in control, for authority

    def say(self, kind: AuthorityKind, peer: str, epoch: int) -> AuthorityMessage:
        """The message to send; raises InvalidValueError naming the field."""
        message = AuthorityMessage(kind, self.agent, peer, epoch)
        if kind is AuthorityKind.REQUEST:
            self.wish = Wish.CONSENT
        elif kind is AuthorityKind.TAKE and peer in ("", self.agent):
            self.wish = Wish.NOTHING
        elif kind is AuthorityKind.RELEASE:
            self.wish = Wish.NONE
        elif kind in (AuthorityKind.CONSENT, AuthorityKind.REFUSE):
            self.asker = ""
        return message

    def hear(self, message: AuthorityMessage) -> str:
        """Take what another agent or the robot's desk says; returns what the operator should know."""
        if message.agent == self.agent:
            return ""
        waiting = self.wish is not Wish.NONE or self.claimed
        about_me = message.peer == self.agent or (not message.peer and waiting)
        if message.kind is AuthorityKind.CONSENT and about_me and self.wish is Wish.CONSENT:
            self.wish = Wish.MEETING
            return f"{message.agent} consents: control passes when your tool meets the plan"
        if message.kind is AuthorityKind.REFUSE and about_me:
            self.wish, self.claimed = Wish.NONE, False
            return f"refused: {message.reason}" if message.reason else f"{message.agent} refuses to hand over"
        if message.kind is AuthorityKind.TAKE and message.peer == self.agent:
            self.wish = Wish.NOTHING
            return f"{message.agent} gives you control"
        if message.kind is AuthorityKind.REQUEST and message.peer in ("", self.agent):
            self.asker = message.agent
            return f"{message.agent} asks for control"
        return ""

    def settled(self) -> None:
        """Authority was claimed."""
        self.wish, self.claimed = Wish.NONE, True
        self.asker = ""
