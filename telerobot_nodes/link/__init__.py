"""Emulation of the link between the hosts: delay, jitter, loss and outages."""

from __future__ import annotations

from telerobot_nodes.link.delay_line import DelayLine, LinkSettings

__all__ = [
    "DelayLine",
    "LinkSettings",
]
