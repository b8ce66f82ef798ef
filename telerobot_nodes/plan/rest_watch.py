"""Tells when the arm rests elsewhere than at the end of a plan that is executed: a primitive has moved it.

What belongs here: that one judgement. What follows from it is the queue's.
"""

from __future__ import annotations

from telerobot_nodes.core.frames import pose_distance
from telerobot_nodes.core.validation import FloatArray

ELSEWHERE = (0.005, 0.03)  # [m], [rad] more than a servo at rest is ever off
REPORTS = 12  # in a row: the executor itself needs some time to see it


class RestWatch:
    """Counts reports of a resting arm that is not where the plan ended."""

    def __init__(self) -> None:
        self._count = 0

    def elsewhere(self, head_pose: FloatArray | None, tool_pose: FloatArray | None) -> bool:
        """A report; `head_pose` (7,) of a plan that is executed, None while the arm moves, or waits after a halt.

        True once it rested away from there for long, without a break: soon after a halt a primitive may begin.
        """
        if head_pose is None or tool_pose is None:
            self._count = 0
            return False
        distance, angle = pose_distance(head_pose, tool_pose)
        away = distance > ELSEWHERE[0] or angle > ELSEWHERE[1]
        self._count = self._count + 1 if away else 0
        if self._count < REPORTS:
            return False
        self._count = 0
        return True
