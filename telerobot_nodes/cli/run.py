"""`telerobot run NODE`: one node of the graph table in this process. `telerobot run "TEXT"`: a command to the robot."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from telerobot_nodes import graph
from telerobot_nodes.cli.command import is_text, run_text
from telerobot_nodes.core.options import NodeOptions
from telerobot_nodes.supervisor import SUPERVISED, end_with_supervisor, node_environment

CONTEXT_SETTINGS = {"ignore_unknown_options": True, "allow_extra_args": True}


def command(
    context: typer.Context,
    node: Annotated[
        str, typer.Argument(metavar="NODE | TEXT", help='A node of `telerobot graph`, or a text: "grasp module".')
    ],
    robot: Annotated[str, typer.Option(help="Robot: arm, panda, ur5 or the path of a URDF file.")] = "arm",
    params: Annotated[Path | None, typer.Option(exists=True, dir_okay=False, help="Parameter file.")] = None,
    bag: Annotated[Path | None, typer.Option(help="Directory for recordings.")] = None,
    graph_name: Annotated[str | None, typer.Option("--graph", help="Graph the node is part of.")] = None,
    namespace: Annotated[str, typer.Option(help="Of the decision unit that takes a text.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="The last report of a text as one JSON object.")] = False,
) -> None:
    """Run one node (ROS arguments follow `--ros-args`), or a text in the command language to its end."""
    if is_text(node):
        raise typer.Exit(run_text(node, namespace, as_json))
    graph.node(node)
    options = NodeOptions(
        name=node,
        robot=robot,
        params=params,
        bag=bag,
        graph=_graph_of(node, graph_name),
        ros_args=_ros_args(context.args),
    )
    if os.environ.pop(SUPERVISED, "") == "1":
        end_with_supervisor()
    os.environ.update(node_environment(os.environ))  # before rclpy, messages and NumPy read it
    raise typer.Exit(import_module(f"telerobot_nodes.nodes.{node}").main(options))


def _graph_of(node: str, asked: str | None) -> str:
    """The graph asked for, else the first of the table that holds the node."""
    holding = [name for name, members in graph.GRAPHS.items() if node in members]
    if asked is None:
        return holding[0]
    if asked not in holding:
        raise typer.BadParameter(
            f"{asked!r} does not hold node {node}; one of {', '.join(holding)}", param_hint="--graph"
        )
    return asked


def _ros_args(extra: list[str]) -> tuple[str, ...]:
    """Everything from `--ros-args` on; anything before it is a mistake."""
    at = extra.index("--ros-args") if "--ros-args" in extra else len(extra)
    if at:
        raise typer.BadParameter(f"not understood: {' '.join(extra[:at])}; ROS arguments follow --ros-args")
    return tuple(extra)
