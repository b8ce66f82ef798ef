"""Clients of the graph for shells and scripts."""

from __future__ import annotations

from telerobot_nodes.nodes.clients.discovery import NoGraphError
from telerobot_nodes.nodes.clients.operator_client import (
    RosPort,
    connect,
    offered,
)
from telerobot_nodes.nodes.clients.other_arm import other_arm
from telerobot_nodes.nodes.clients.primitive_client import run_primitive
from telerobot_nodes.nodes.clients.robot import Robot, RunningMove, open_robot
from telerobot_nodes.nodes.clients.rtc_client import CommandClient
from telerobot_nodes.nodes.clients.stop_sender import StopSender
from telerobot_nodes.nodes.clients.terminal import Terminal, call_service
from telerobot_nodes.nodes.clients.under_way import (
    Ongoing,
    Primitives,
    RunningPrimitive,
    RunningSequence,
    RunningText,
    TextSender,
    as_texts,
)

__all__ = [
    "CommandClient",
    "NoGraphError",
    "Ongoing",
    "Primitives",
    "Robot",
    "RosPort",
    "RunningMove",
    "RunningPrimitive",
    "RunningSequence",
    "RunningText",
    "StopSender",
    "Terminal",
    "TextSender",
    "as_texts",
    "call_service",
    "connect",
    "offered",
    "open_robot",
    "other_arm",
    "run_primitive",
]
