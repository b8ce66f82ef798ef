"""The fault runner: the graph on two hosts through every fault of the table, each judged from outside."""

from __future__ import annotations

from telerobot_nodes.bench.faults.hosts import burn
from telerobot_nodes.bench.faults.judge import Loop, jumps, lateness
from telerobot_nodes.bench.faults.messages import child, flood_in_domain, huge_in_domain
from telerobot_nodes.bench.faults.rig import PERIOD, Rig
from telerobot_nodes.bench.faults.two_graphs import LEFT_OUT

__all__ = [
    "LEFT_OUT",
    "PERIOD",
    "Loop",
    "Rig",
    "burn",
    "child",
    "flood_in_domain",
    "huge_in_domain",
    "jumps",
    "lateness",
]
