"""Playback of a recording in the console: the operator's client receives from a bag; nothing is sent."""

from __future__ import annotations

from telerobot_nodes.operator.playback.controls import PlaybackControls
from telerobot_nodes.operator.playback.player import SPEEDS, Player
from telerobot_nodes.operator.playback.recorded_graph import RecordedGraph

__all__ = ["SPEEDS", "PlaybackControls", "Player", "RecordedGraph"]
