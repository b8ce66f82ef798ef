"""Measurements of the link between two hosts."""

from __future__ import annotations

from telerobot_nodes.bench.link.network_hosts import NetworkHosts, NotAllowedError
from telerobot_nodes.bench.link.relay import Relay
from telerobot_nodes.bench.link.rig import LinkRig, link_rig
from telerobot_nodes.bench.link.two_hosts import KEY_FILE, Side, TwoHosts, children, write_hosts

__all__ = [
    "KEY_FILE",
    "LinkRig",
    "NetworkHosts",
    "NotAllowedError",
    "Relay",
    "Side",
    "TwoHosts",
    "children",
    "link_rig",
    "write_hosts",
]
