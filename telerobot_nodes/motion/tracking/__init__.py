"""Tracking of the plan: windows from the executor, checked and sampled."""

from __future__ import annotations

from telerobot_nodes.motion.tracking.arrival import Arrival
from telerobot_nodes.motion.tracking.path_clock import PathClock
from telerobot_nodes.motion.tracking.window_follower import NUMBER_STEP, WindowFollower

__all__ = [
    "NUMBER_STEP",
    "Arrival",
    "PathClock",
    "WindowFollower",
]
