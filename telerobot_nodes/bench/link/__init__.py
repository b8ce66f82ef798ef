"""Measurements of the link between two hosts."""

from __future__ import annotations

from telerobot_nodes.bench.link.relay import Relay
from telerobot_nodes.bench.link.two_hosts import Side, TwoHosts, children, write_hosts

__all__ = [
    "Relay",
    "Side",
    "TwoHosts",
    "children",
    "write_hosts",
]
