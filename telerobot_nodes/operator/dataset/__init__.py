"""A recording as a data set for learning: states, actions and pictures at a fixed rate, in LeRobot's format."""

from __future__ import annotations

from telerobot_nodes.operator.dataset.frames import Episode, Frames, Rate, read_frames
from telerobot_nodes.operator.dataset.lerobot import write_lerobot

__all__ = ["Episode", "Frames", "Rate", "read_frames", "write_lerobot"]
