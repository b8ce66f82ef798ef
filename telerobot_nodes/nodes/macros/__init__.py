"""Macros on the running graph. Apart from the other clients, for it loads what computes motions."""

from __future__ import annotations

from telerobot_nodes.nodes.macros.macro_player import MacroPlayer, as_received

__all__ = ["MacroPlayer", "as_received"]
