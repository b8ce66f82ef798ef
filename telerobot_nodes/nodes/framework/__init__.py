"""Shared by every node: base class, rights of the table, parameters, actions, process, foreground clients."""

from __future__ import annotations

from telerobot_nodes.nodes.framework.actions import Goal, GoalServer
from telerobot_nodes.nodes.framework.backlog import waiting
from telerobot_nodes.nodes.framework.base import GraphNode, Health
from telerobot_nodes.nodes.framework.deferred import DeferredResponse, DeferredService, Send
from telerobot_nodes.nodes.framework.executors import client_executor
from telerobot_nodes.nodes.framework.foreground import DISCOVERY_LIMIT, Foreground
from telerobot_nodes.nodes.framework.interfaces import interface_class, qos_profile
from telerobot_nodes.nodes.framework.leaving import leave
from telerobot_nodes.nodes.framework.parameters import node_parameters
from telerobot_nodes.nodes.framework.process import (
    URGENT_NICENESS,
    be_real_time,
    be_urgent,
    end_process,
    found_quickly,
    run_node,
)
from telerobot_nodes.nodes.framework.wiring import NodeWiring

__all__ = [
    "DISCOVERY_LIMIT",
    "URGENT_NICENESS",
    "DeferredResponse",
    "DeferredService",
    "Foreground",
    "Goal",
    "GoalServer",
    "GraphNode",
    "Health",
    "NodeWiring",
    "Send",
    "be_real_time",
    "be_urgent",
    "client_executor",
    "end_process",
    "found_quickly",
    "interface_class",
    "leave",
    "node_parameters",
    "qos_profile",
    "run_node",
    "waiting",
]
