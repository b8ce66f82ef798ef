"""Roles of operators by the key of their host: who may speak in which name, and who may end whose stop."""

from __future__ import annotations

from telerobot_nodes.link.roles.keys import KeyRole, LinkKey, create_key, read_key
from telerobot_nodes.link.roles.present_stop import PresentStop
from telerobot_nodes.link.roles.roles import HostRole, Refusal, RoleFault, Roles
from telerobot_nodes.link.roles.stop_permits import StopPermits

__all__ = [
    "HostRole",
    "KeyRole",
    "LinkKey",
    "PresentStop",
    "Refusal",
    "RoleFault",
    "Roles",
    "StopPermits",
    "create_key",
    "read_key",
]
