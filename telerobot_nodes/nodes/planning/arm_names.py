"""Names of arms, as `cspace_planner` uses them."""

from __future__ import annotations

from telerobot_nodes.nodes.framework import GraphNode


def arm_name(node: GraphNode) -> str:
    """Name of the arm of this node's namespace."""
    return arm_of_namespace(str(node.get_namespace()))


def arm_of_namespace(namespace: str) -> str:
    """Name of the arm whose graph runs in `namespace`."""
    return namespace.strip("/").replace("/", "_") or "arm"
