"""`telerobot keyboard`: drive the tool from this terminal."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated

import typer

from telerobot_nodes.cli.operate import join_graph


def command(
    namespace: Annotated[str, typer.Option(help="Namespace of the arm, for example left.")] = "",
    direct: Annotated[
        bool, typer.Option("--direct", help="Move the axes that a running command shares, not the plan.")
    ] = False,
) -> None:
    """Drive the tool with the keys of this terminal."""
    join_graph()
    raise typer.Exit(import_module("telerobot_nodes.nodes.clients.keyboard_client").run_keyboard(namespace, direct))
