"""One robot arm as an object, for a script, a notebook or a program that uses rclpy; docs/client.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from telerobot_nodes.runtime import join_graph

if TYPE_CHECKING:
    from telerobot_nodes.nodes.clients import Robot


def connect(namespace: str = "", name: str = "program", node: Any = None) -> Robot:
    """Connect to the arm of `namespace` on this host's graph, as a context manager.

    `name`: your role, shown to other operators. `node`: an rclpy node to use, spun on another thread than the one that
    waits here; None: a node, a context and a thread of its own. Raises TelerobotError if no graph is found.
    """
    join_graph()
    from telerobot_nodes.nodes.clients import open_robot  # after the environment is set

    return open_robot(namespace, name, node)
