"""Names of arms, as `cspace_planner` uses them."""

from __future__ import annotations

from telerobot_nodes.cspace.geometry import Attachment, Scene
from telerobot_nodes.nodes.framework import GraphNode

ONLY_ARM = "arm"  # of a planner that knows one arm


def arm_name(node: GraphNode) -> str:
    """Name of the arm of this node's namespace."""
    return _name_in(str(node.get_namespace()))


def attachments_of(scene: Scene, namespace: str) -> list[Attachment]:
    """What the arm of `namespace` holds in a scene of its own graph: by its name there, or that of an only arm."""
    return scene.attachments(_name_in(namespace)) or scene.attachments(ONLY_ARM)


def _name_in(namespace: str) -> str:
    return namespace.strip("/").replace("/", "_") or ONLY_ARM
