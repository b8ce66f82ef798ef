"""Others join the graph, flood it and send what is too large, while the arm moves."""

from __future__ import annotations

from telerobot_nodes.bench.join.hand import closed_path, write_hand
from telerobot_nodes.bench.join.judge import PERIOD

__all__ = [
    "PERIOD",
    "closed_path",
    "write_hand",
]
