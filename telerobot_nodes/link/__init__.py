"""The link between the hosts: datagrams with handshake, heartbeats, priorities; an emulated link for practice."""

from __future__ import annotations

from telerobot_nodes.link.datagrams import MOST_BYTES, Data, Fault, Frame, Kind, decode, encode
from telerobot_nodes.link.delay_line import DelayLine, LinkSettings
from telerobot_nodes.link.delay_profile import DelayProfile, load_profile
from telerobot_nodes.link.emulated_link import EmulatedLink, LinkOptions
from telerobot_nodes.link.endpoint import Endpoint, Outgoing, Peer, RefusalAlarm
from telerobot_nodes.link.hosts import HostRow, Hosts, keys_of, load_hosts, roles_of, shared_key
from telerobot_nodes.link.roles import create_key
from telerobot_nodes.link.session import Arrival, Identity, Session

__all__ = [
    "MOST_BYTES",
    "Arrival",
    "Data",
    "DelayLine",
    "DelayProfile",
    "EmulatedLink",
    "Endpoint",
    "Fault",
    "Frame",
    "HostRow",
    "Hosts",
    "Identity",
    "Kind",
    "LinkOptions",
    "LinkSettings",
    "Outgoing",
    "Peer",
    "RefusalAlarm",
    "Session",
    "create_key",
    "decode",
    "encode",
    "keys_of",
    "load_hosts",
    "load_profile",
    "roles_of",
    "shared_key",
]
