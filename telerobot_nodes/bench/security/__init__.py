"""The link under attack: what strangers, replays and altered datagrams reach, and what security costs."""

from __future__ import annotations

from telerobot_nodes.bench.security.judge import refusals

__all__ = [
    "refusals",
]
