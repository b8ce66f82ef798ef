"""`telerobot keyboard`: drive the tool from this terminal."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Annotated

import typer

from telerobot_nodes.supervisor import node_environment


def command(
    namespace: Annotated[str, typer.Option(help="Namespace of the arm, as in left.")] = "",
) -> None:
    """Drive the tool with the keys of this terminal."""
    os.environ.update(node_environment(os.environ))  # before rclpy and messages read it
    raise typer.Exit(import_module("telerobot_nodes.nodes.keyboard_client").run_keyboard(namespace))
