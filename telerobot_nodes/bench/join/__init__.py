"""Others join the graph, flood it and send what is too large, while the arm moves."""

from __future__ import annotations

from telerobot_nodes.bench.join.hand import closed_path, write_hand

__all__ = [
    "closed_path",
    "write_hand",
]
