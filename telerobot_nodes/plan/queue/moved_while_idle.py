"""Detects that something else (a primitive) moved the arm after the plan was executed."""

from __future__ import annotations

from telerobot_nodes.core.values import FloatArray, pose_distance

MAX_OFFSET = (0.005, 0.03)  # [m], [rad] larger than a servo's error at rest
REPORTS = 12  # in a row: the executor itself needs some time to detect it


class MovedWhileIdle:
    """Counts reports of an arm that rests away from the plan's end."""

    def __init__(self) -> None:
        self._count = 0

    def update(self, head_pose: FloatArray | None, tool_pose: FloatArray | None) -> bool:
        """Take a report: `head_pose` (7,) of an executed plan, None while the arm moves or waits after a halt.

        True once the arm has rested elsewhere for REPORTS in a row. Soon after a halt a primitive may begin.
        """
        if head_pose is None or tool_pose is None:
            self._count = 0
            return False
        distance, angle = pose_distance(head_pose, tool_pose)
        away = distance > MAX_OFFSET[0] or angle > MAX_OFFSET[1]
        self._count = self._count + 1 if away else 0
        if self._count < REPORTS:
            return False
        self._count = 0
        return True
