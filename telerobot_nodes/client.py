"""Commands to the robot from a Python script; docs/run_time_control.md has an example."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from telerobot_nodes.runtime import DISCOVERY, node_environment

if TYPE_CHECKING:
    from telerobot_nodes.nodes.clients import CommandClient


def connect(namespace: str = "", name: str = "script", hurry: bool = False) -> CommandClient:
    """Return a client of this host's decision unit, as a context manager; raises TelerobotError if none runs.

    `hurry`: for a halt; send as soon as the decision unit is found, without waiting for the rest of the graph.
    """
    os.environ.update({DISCOVERY: os.environ.get(DISCOVERY, "LOCALHOST"), **node_environment(os.environ)})
    from telerobot_nodes.nodes.clients import CommandClient  # after the environment is set

    return CommandClient(namespace, name, hurry)
