"""`telerobot up GRAPH`: starts the graph of one host, where ROS's launch is not installed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from telerobot_nodes.runtime import DISCOVERY, GraphOptions, Supervisor, supervise


def command(
    graph: Annotated[str, typer.Argument(help="robot, operator or demo.")],
    robot: Annotated[str, typer.Option(help="Robot: arm, panda, ur5 or the path of a URDF file.")] = "arm",
    namespace: Annotated[str, typer.Option(help="Namespace of the arm, for example left.")] = "",
    params: Annotated[Path | None, typer.Option(help="Parameter file in ROS layout.")] = None,
    bag: Annotated[Path | None, typer.Option(help="Directory for recordings.")] = None,
    without: Annotated[list[str] | None, typer.Option(help="Node to leave out; may be repeated.")] = None,
    link: Annotated[
        str,
        typer.Option(help="For an operator: namespace of the topics that cross the link, for example /operator_side."),
    ] = "",
    ready_timeout: Annotated[float, typer.Option(min=1.0, help="Longest start of the graph [s].")] = 180.0,
    check: Annotated[bool, typer.Option("--check", help="Stop as soon as every node is ready.")] = False,
) -> None:
    """Start a graph, supervise it, and stop it on Ctrl-C."""
    options = GraphOptions(graph, robot, namespace, params, bag, tuple(without or ()), link)
    if DISCOVERY not in os.environ:
        print(f"telerobot: the graph is visible on this host only; for two hosts set {DISCOVERY}=SUBNET", flush=True)
    raise typer.Exit(supervise(Supervisor(options), ready_timeout, check))
