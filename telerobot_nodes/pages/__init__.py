"""Pages of the documentation generated from the tables of the code."""

from __future__ import annotations

from telerobot_nodes.pages import node_parameters, states

__all__ = ["node_parameters", "states"]
