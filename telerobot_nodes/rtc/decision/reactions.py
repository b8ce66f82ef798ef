"""What follows a reflex that has stopped a motion: `retreat`, `comply`, `release` or `ask operator`, as a skill.

The skill `react` is elaborated, bound and analysed like any other, so that what is reported as done was confirmed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from telerobot_nodes.rtc.elaboration import PlannedStep, Request, Rule, Script
from telerobot_nodes.rtc.language import Task
from telerobot_nodes.rtc.world import WORLD

SKILL = "react"
REACTING = frozenset(("retreat", "comply", "release", "ask"))
RETREAT = 0.03  # [m] when the command gives no distance


@dataclass(frozen=True)
class Reaction:
    """A reflex being acted out, and the command as it was."""

    rule: Rule
    request: Request
    script: Script
    planned: PlannedStep
    results: Mapping[str, Mapping[str, object]]

    @property
    def reason(self) -> str:
        """The reflex as written."""
        return f"reflex: {self.rule.text}"

    @property
    def asks(self) -> bool:
        """Whether the command goes on when the reaction has succeeded."""
        return self.rule.action.kind == "ask"

    @property
    def reaction_request(self) -> Request:
        """The request of the reaction: the arm that was stopped, none of the command's clauses."""
        action = self.rule.action
        slots = {name: value for name, value in self.planned.frame.slots.items() if name in ("arm", "arms", "gripper")}
        amount = action.quantity.si if action.quantity is not None else RETREAT
        slots |= {"option": action.kind, "amount": amount, "has_amount": True, "reason": self.rule.text}
        slots["frame_name"] = WORLD
        return Request(
            Task(SKILL),
            self.request.text,
            SKILL,
            slots,
            {},
            resources=self.request.resources,
            timeout=self.request.timeout,
            label=self.request.label,
            notes=self.request.notes,
        )

    def goes_on(self) -> tuple[str, str]:
        """(prefix, step) where the command continues."""
        return (self.planned.frame.prefix, self.planned.step.name)
