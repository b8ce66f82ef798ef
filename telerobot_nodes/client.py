"""The robot from a script in a few lines; docs/run_time_control.md shows them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from telerobot_nodes.supervisor import DISCOVERY, node_environment

if TYPE_CHECKING:
    from telerobot_nodes.nodes.rtc_client import CommandClient


def connect(namespace: str = "", name: str = "script", hurry: bool = False) -> CommandClient:
    """A client of the decision unit of this host, a context manager; raises TelerobotError when none runs.

    `hurry`: for a halt, which waits for no more of the graph than the decision unit.
    """
    os.environ.update({DISCOVERY: os.environ.get(DISCOVERY, "LOCALHOST"), **node_environment(os.environ)})
    from telerobot_nodes.nodes.rtc_client import CommandClient  # after the environment is set

    return CommandClient(namespace, name, hurry)
