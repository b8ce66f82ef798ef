"""The operator's side of a link: what operators see and call under another name."""

from __future__ import annotations

from telerobot_nodes.graph.entries import Host, Service
from telerobot_nodes.graph.graphs import GRAPHS
from telerobot_nodes.graph.table import node
from telerobot_nodes.graph.topics import TOPICS

# With a link between them, the operator's side of a crossing topic has this prefix.
OPERATOR_SIDE = "operator_side/"


def operator_side() -> tuple[str, ...]:
    """Names of the topics that an operator shares with the link, or with other operators of the arm."""
    return tuple(entry.name for entry in TOPICS if entry.crosses or entry.shared)


def remappings(node_name: str, graph_name: str) -> dict[str, str]:
    """Topic renames for a node of a graph: with a link emulator, operators see their own side of the link."""
    if not _behind_a_link(node_name, graph_name):
        return {}
    return {name: OPERATOR_SIDE + name for name in operator_side()}


def request_name(entry: Service, node_name: str, graph_name: str, hosts: bool = False) -> str:
    """Name of a service or action as a node of a graph calls it: operators reach the robot's over the link.

    `hosts`: the graph was started with a hosts file. The node applies it: ROS renames topics and services, but no
    actions.
    """
    return (OPERATOR_SIDE if entry.crosses and _behind_a_link(node_name, graph_name, hosts) else "") + entry.name


def _behind_a_link(node_name: str, graph_name: str, hosts: bool = False) -> bool:
    return (hosts or "link_emulator" in GRAPHS.get(graph_name, ())) and node(node_name).host is Host.OPERATOR
