"""Finding a graph: whether one runs, and on which topics its operator's side is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.node import NodeNameNonExistentError

from telerobot_nodes import graph
from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.nodes.framework import DISCOVERY_LIMIT, NodeWiring

SETTLE = 0.3  # [s] in which the rest of a graph is found after its first node
CONNECTED_LIMIT = 8.0  # [s] for the queue's subscription to be found after the queue
QUEUE = "path_plan_queue/state"
EXECUTOR = "plan_executor/state"
LOOK = 0.05  # [s] between checks of what has been found

Wait = Callable[[Callable[[], object], float, float], bool]  # until a condition, limit [s], between checks [s]


class NoGraphError(TelerobotError):
    """No graph was found."""


def find_prefix(wiring: NodeWiring, wait: Wait) -> str:
    """Prefix of crossing topics, once a plan queue or an executor is found. Raises NoGraphError."""

    def published(topic: str) -> bool:
        return bool(wiring.node.count_publishers(wiring.base + topic))

    if not wait(lambda: published(QUEUE) or published(EXECUTOR), DISCOVERY_LIMIT, LOOK):
        raise NoGraphError(
            f"no graph is running here: no node publishes {wiring.namespace}/{QUEUE} or "
            f"{wiring.namespace}/{EXECUTOR}; start one with `telerobot up demo`, or name the arm with --namespace"
        )
    wait(lambda: published(QUEUE), SETTLE, LOOK)
    wait(lambda: _reports_topic(wiring) or not published(QUEUE), CONNECTED_LIMIT, LOOK)
    found = _reports_topic(wiring)
    if found:
        return found.removesuffix(EXECUTOR)
    return graph.OPERATOR_SIDE if published(graph.OPERATOR_SIDE + EXECUTOR) else ""


def _reports_topic(wiring: NodeWiring) -> str:
    """Topic on which the queue of this arm receives the executor; with its own link, or another's. Empty: not found."""
    try:
        topics: Any = wiring.node.get_subscriber_names_and_types_by_node("path_plan_queue", wiring.namespace or "/")
    except NodeNameNonExistentError:
        return ""
    return next((str(name) for name, _ in topics if name.endswith(f"/{EXECUTOR}")), "")
