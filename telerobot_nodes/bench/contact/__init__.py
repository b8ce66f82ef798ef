"""Measurements of law, loop and contact tasks."""

from __future__ import annotations

from telerobot_nodes.bench.contact import tasks
from telerobot_nodes.bench.contact.gcmsf import all_sources

__all__ = [
    "all_sources",
    "tasks",
]
