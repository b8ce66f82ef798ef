"""Reads what a node publishes on `diagnostics`, from outside the graph."""

from __future__ import annotations

from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.nodes.framework import Foreground

LIMIT = 10.0  # [s]


def diagnostics_of(name: str, limit: float = LIMIT) -> dict[str, str]:
    """The next diagnostics of node `name`; raises TelerobotError when none comes in `limit` [s]."""
    with Foreground("telerobot_diagnostics") as client:
        found = client.diagnostics({name}, limit)
    if not found:
        raise TelerobotError(f"no diagnostics of {name} in {limit:g} s")
    return found[name]
