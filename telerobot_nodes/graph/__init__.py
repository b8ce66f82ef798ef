"""The node graph as data: nodes, topics, services, QoS, rates, hosts, rights; and its drawing."""

from __future__ import annotations

from telerobot_nodes.graph.drawing import as_markdown, as_mermaid, as_text
from telerobot_nodes.graph.entries import Crossing, Host, Node, Order, Priority, Profile, Qos, Service, Topic
from telerobot_nodes.graph.graphs import (
    GRAPHS,
    LAST,
    NAMESPACES,
    ON_REQUEST,
    PARAMETERS,
    SIMULATED,
    WITH_CAMERA,
    WITH_HOSTS,
)
from telerobot_nodes.graph.sides import OPERATOR_SIDE, operator_side, remappings, request_name
from telerobot_nodes.graph.table import (
    NODES,
    action,
    crossing,
    crossing_actions,
    crossing_services,
    is_upward,
    node,
    service,
    topic,
)
from telerobot_nodes.graph.topics import HEALTH, TOPICS

__all__ = [
    "GRAPHS",
    "HEALTH",
    "LAST",
    "NAMESPACES",
    "NODES",
    "ON_REQUEST",
    "OPERATOR_SIDE",
    "PARAMETERS",
    "SIMULATED",
    "TOPICS",
    "WITH_CAMERA",
    "WITH_HOSTS",
    "Crossing",
    "Host",
    "Node",
    "Order",
    "Priority",
    "Profile",
    "Qos",
    "Service",
    "Topic",
    "action",
    "as_markdown",
    "as_mermaid",
    "as_text",
    "crossing",
    "crossing_actions",
    "crossing_services",
    "is_upward",
    "node",
    "operator_side",
    "remappings",
    "request_name",
    "service",
    "topic",
]
