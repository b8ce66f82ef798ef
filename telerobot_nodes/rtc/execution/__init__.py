"""Between the decision unit and an arm: outcomes of a primitive, the arm as measured."""

from __future__ import annotations

from telerobot_nodes.rtc.execution.arm_state import FRESH, HALTED_STATES, ArmState
from telerobot_nodes.rtc.execution.outcomes import ended_outcome, needs_note, outcome_of

__all__ = [
    "FRESH",
    "HALTED_STATES",
    "ArmState",
    "ended_outcome",
    "needs_note",
    "outcome_of",
]
