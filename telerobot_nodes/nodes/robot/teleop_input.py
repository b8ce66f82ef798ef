"""The operator's device in a primitive: velocities in, increments out."""

from __future__ import annotations

import numpy as np

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import InvalidValueError

MAX_GAP = 0.1  # [s] longest time for which one velocity counts


class TeleopInput:
    """Integrates the velocities of one device."""

    def __init__(self) -> None:
        self._at = -np.inf

    def increment(self, now: float, velocity: FloatArray, frame: str, mode: str) -> FloatArray:
        """Motion (6,) [m], [rad] since the message before, of `velocity` (6,) [m/s], [rad/s] in axes `frame`.

        Raises InvalidValueError unless `frame` is the primitive's `mode` (tele_mode).
        """
        if frame != mode:
            raise InvalidValueError(
                "teleop_cmds.header.frame_id", frame, f"allowed: {mode}, tele_mode of the primitive"
            )
        gap, self._at = now - self._at, now
        return velocity * min(gap, MAX_GAP) if gap < np.inf else np.zeros(6)
