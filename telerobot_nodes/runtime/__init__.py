"""Starting the graph: command lines of the nodes, supervisor, precompilation."""

from __future__ import annotations

from telerobot_nodes.runtime.compile_first import compile_first
from telerobot_nodes.runtime.launching import GraphOptions, launch_description, link_of
from telerobot_nodes.runtime.node_events import Change, NodeEvent
from telerobot_nodes.runtime.supervisor import (
    NODE_ENVIRONMENT,
    SUPERVISED,
    Supervisor,
    end_with_supervisor,
    join_graph,
    node_environment,
    supervise,
)

__all__ = [
    "NODE_ENVIRONMENT",
    "SUPERVISED",
    "Change",
    "GraphOptions",
    "NodeEvent",
    "Supervisor",
    "compile_first",
    "end_with_supervisor",
    "join_graph",
    "launch_description",
    "link_of",
    "node_environment",
    "supervise",
]
