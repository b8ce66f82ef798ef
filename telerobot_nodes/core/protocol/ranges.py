"""Ranges of the values that the operator sets: the same for every view, for the services and for the core."""

from __future__ import annotations

GRIPPER_RANGE = (0.0, 0.2)  # [m] opening
HAND_SCALE_RANGE = (0.01, 10.0)  # [-] of a recorded hand's motion, when it is played
SCALE_RANGE = (0.0, 10.0)  # [-] motion of the tool per motion of the hand
