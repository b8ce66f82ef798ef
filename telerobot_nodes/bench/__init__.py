"""Measurements: `telerobot bench NAME`."""

from __future__ import annotations

from telerobot_nodes.bench import report

__all__ = [
    "report",
]
