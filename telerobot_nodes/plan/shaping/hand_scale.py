"""How motion of the operator's hand becomes motion of the tool: two scales, and the orientation clutch.

What belongs here: the share of the hand's motion that the tool makes; an absolute goal is no motion of a hand, and is
reached as it is. What must never enter: filters, limits of speed
(`shaper.py`), the position clutch, which chooses the path to record (`recorder.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

from telerobot_nodes.core.protocol import SCALE_RANGE
from telerobot_nodes.core.values import in_range
from telerobot_nodes.plan.shaping.follower import ZERO, Vector, scale


@dataclass(frozen=True)
class HandScale:
    """Scales and orientation clutch; validated when made. Raises InvalidValueError naming the field."""

    linear: float = 1.0  # [-] motion of the tool per motion of the hand; 0: the hand only turns the tool
    angular: float = 1.0  # [-] turning of the tool per turning of the hand
    turns: bool = True  # orientation clutch engaged; disengaged: the hand only moves the tool

    def __post_init__(self) -> None:
        in_range(self.linear, "linear_scale", *SCALE_RANGE)
        in_range(self.angular, "angular_scale", *SCALE_RANGE)

    def motion(self, linear: Vector, angular: Vector) -> tuple[Vector, Vector]:
        """Motion, or velocity, of the tool for that of a hand."""
        return scale(linear, self.linear), scale(angular, self.angular) if self.turns else ZERO

    def changed(self, linear: float | None, angular: float | None, turns: bool | None) -> HandScale:
        """Return it with what is given in its place; None: as it is."""
        return HandScale(
            self.linear if linear is None else linear,
            self.angular if angular is None else angular,
            self.turns if turns is None else turns,
        )
