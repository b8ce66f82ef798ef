"""The operator's device in a primitive: velocities in, increments out."""

from __future__ import annotations

import numpy as np

from telerobot_nodes.core.values import FloatArray, se3_from_pose
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.motion.parameters import GcmsfParameters

MAX_GAP = 0.1  # [s] longest time for which one velocity counts
CONVERTED = ("tool", "world")  # frames of which the arm knows the axes


class TeleopInput:
    """Integrates the velocities of one device."""

    def __init__(self) -> None:
        self._at = -np.inf

    def increment(self, now: float, velocity: FloatArray) -> FloatArray:
        """Motion (6,) [m], [rad] since the message before, of `velocity` (6,) [m/s], [rad/s]."""
        gap, self._at = now - self._at, now
        return velocity * min(gap, MAX_GAP) if gap < np.inf else np.zeros(6)


def along_mode(velocity: FloatArray, frame: str, law: GcmsfParameters, R_world_tool: FloatArray) -> FloatArray:
    """A velocity (6,) [m/s], [rad/s] along the axes of `frame`, along those of the primitive's `tele_mode`.

    `R_world_tool` (3, 3): of the measured joints. `tool` are the axes of TELEOP, as in the mode of that name.
    Raises InvalidValueError for a frame that is neither the primitive's nor one that the arm knows.
    """
    mode = law.teleoperation.tele_mode
    if frame == mode:
        return velocity
    if frame not in CONVERTED or mode not in CONVERTED:
        allowed = mode if mode not in CONVERTED else ", ".join(CONVERTED)
        raise InvalidValueError("teleop_cmds.header.frame_id", frame, f"allowed: {allowed}")
    nom, teleop = se3_from_pose(law.trajectory.tr_nom), se3_from_pose(law.teleoperation.tr_teleop)
    R_world_teleop = R_world_tool @ nom.rotation @ teleop.rotation
    R_mode_frame = R_world_teleop if frame == "tool" else R_world_teleop.T
    return np.concatenate((R_mode_frame @ velocity[:3], R_mode_frame @ velocity[3:]))
