"""The gripper of a primitive [US5231693]: commanded width and force, and the result of a grasp.

Widths are openings [m]. A negative command means: unchanged.
"""

from __future__ import annotations

import math

from telerobot_nodes.motion.law import Termination
from telerobot_nodes.motion.parameters import Grasp

UNCHANGED = -1.0
STALE = 0.5  # [s] age of the measured width that ends a grasp
_REST = 2e-4  # [m] motion of the fingers that counts as rest


class GripperMotion:
    """One grasp at a time; `width` [m] and `force` [N; 0: the gripper's largest] are the command."""

    def __init__(self) -> None:
        self.width = UNCHANGED
        self.force = 0.0
        self.measured = math.nan
        self._measured_at = -math.inf
        self._grasp: Grasp | None = None
        self._closes = False
        self._rest_width = math.nan
        self._rest_since = math.inf

    def measure(self, at: float, width: float) -> None:
        """Set the measured opening [m], received at `at` [s]; a value that is not finite is ignored."""
        if math.isfinite(width):
            self.measured = width
            self._measured_at = at

    def begin(self, now: float, grasp: Grasp, closes: bool) -> None:
        """Begin to move to the width of `grasp`; `closes`: until an object is held."""
        self._grasp, self._closes = grasp, closes
        self.force = grasp.grip_force if closes else 0.0
        self._measured_at = max(self._measured_at, now)
        self._rest_since = math.inf
        self._rest_width = math.nan
        if math.isfinite(self.measured) and (self.width < 0.0 or self.measured < self.width or not closes):
            self.width = self.measured

    def step(self, now: float, period: float) -> Termination:
        """Advance the command by one sample; returns the reason to end, or RUNNING."""
        grasp = self._grasp
        if grasp is None:
            return Termination.RUNNING
        if now - self._measured_at > STALE:
            return Termination.STALE_SENSOR
        if not math.isfinite(self.measured):
            return Termination.RUNNING
        if self.width < 0.0:
            self.width = self.measured
        most = grasp.grip_speed * period
        self.width += min(max(grasp.grip_width - self.width, -most), most)
        return self._result(now, grasp)

    def end(self) -> None:
        """End the grasp; width and force stay commanded."""
        self._grasp = None

    def _result(self, now: float, grasp: Grasp) -> Termination:
        away = self.measured - grasp.grip_width
        arrived = abs(away) <= grasp.grip_tolerance
        if not self._rests(now, grasp):
            return Termination.RUNNING
        if self._closes:
            if arrived and self.width == grasp.grip_width:
                return Termination.EMPTY
            return Termination.GRIPPED if self.width < self.measured - grasp.grip_tolerance else Termination.RUNNING
        if self.width != grasp.grip_width:
            return Termination.RUNNING
        return Termination.OPENED if arrived else Termination.BLOCKED

    def _rests(self, now: float, grasp: Grasp) -> bool:
        """True once the fingers have not moved for `grip_time`.

        Fingers that open have that long after the last command too: they leave what they pressed later than it.
        """
        opening = not self._closes and self.width != grasp.grip_width
        if opening or not abs(self.measured - self._rest_width) <= _REST:
            self._rest_width = self.measured
            self._rest_since = now
        return now - self._rest_since >= grasp.grip_time
