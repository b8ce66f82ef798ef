"""Modes of control of one arm: what the operator's device moves, and what a change of the mode asks for [US5231693].

What belongs here: the rules. What must never enter: the device's motion, messages.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from telerobot_nodes.core.protocol import ControlMode


class Moves(Enum):
    """What the device moves."""

    PLAN = "the device lays the plan"
    PRIMITIVE = "the device moves the running primitive"
    NOTHING = "the device moves nothing"


class Wish(Enum):
    """What a mode wants of authority over the plan, once, when it is selected."""

    NOTHING = "leave it"
    REQUEST = "request it"
    RELEASE = "release it"


@dataclass(frozen=True)
class _Rule:
    moves: Moves  # with the plan in this operator's hands
    without: Moves  # without
    wish: Wish


_RULES = {
    # an operator without the plan moves his own simulated tool, to meet the active one [US5046022 claim 28]
    ControlMode.TELEOPERATION: _Rule(Moves.PLAN, Moves.PLAN, Wish.REQUEST),
    ControlMode.SHARED: _Rule(Moves.PRIMITIVE, Moves.PRIMITIVE, Wish.NOTHING),
    ControlMode.SUPERVISORY: _Rule(Moves.NOTHING, Moves.NOTHING, Wish.NOTHING),
    ControlMode.AUTONOMOUS: _Rule(Moves.NOTHING, Moves.NOTHING, Wish.RELEASE),
    ControlMode.TRADED: _Rule(Moves.PLAN, Moves.NOTHING, Wish.REQUEST),
}


def moves(mode: ControlMode, holds_plan: bool) -> Moves:
    """What the device moves in this mode; `holds_plan`: this operator has authority over the plan."""
    rule = _RULES[mode]
    return rule.moves if holds_plan else rule.without


class Wishes:
    """What the modes that were selected ask of authority; the robot's answer takes a round trip."""

    def __init__(self) -> None:
        self._asked = Wish.NOTHING  # latest, not yet seen to be fulfilled

    def wish(self, mode: ControlMode, holds_plan: bool) -> Wish:
        """What to ask for when the mode is selected."""
        wanted = _RULES[mode].wish
        done, open_other = (holds_plan, Wish.RELEASE) if wanted is Wish.REQUEST else (not holds_plan, Wish.REQUEST)
        if wanted is Wish.NOTHING or (done and self._asked is not open_other):
            return Wish.NOTHING
        self._asked = wanted
        return wanted

    def see(self, holds_plan: bool) -> None:
        """Note who holds the plan now."""
        if self._asked is (Wish.REQUEST if holds_plan else Wish.RELEASE):
            self._asked = Wish.NOTHING
