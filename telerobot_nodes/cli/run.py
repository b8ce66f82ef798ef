"""`telerobot run NODE` runs one node of the graph table in this process; `telerobot run "TEXT"` runs a command."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from telerobot_nodes import graph
from telerobot_nodes.cli.program import Watching, is_text, run_text
from telerobot_nodes.core.config import NodeOptions
from telerobot_nodes.runtime import SUPERVISED, end_with_supervisor, node_environment

CONTEXT_SETTINGS = {"ignore_unknown_options": True, "allow_extra_args": True}


def command(
    context: typer.Context,
    node: Annotated[
        str, typer.Argument(metavar="NODE | TEXT", help='A node of `telerobot graph`, or a command: "grasp module".')
    ],
    robot: Annotated[str, typer.Option(help="Robot: arm, panda, ur5 or the path of a URDF file.")] = "arm",
    params: Annotated[Path | None, typer.Option(exists=True, dir_okay=False, help="Parameter file.")] = None,
    bag: Annotated[Path | None, typer.Option(help="Directory for recordings.")] = None,
    graph_name: Annotated[str | None, typer.Option("--graph", help="Graph that the node is part of.")] = None,
    namespace: Annotated[str, typer.Option(help="Namespace of the decision unit, for a command.")] = "",
    hosts: Annotated[Path | None, typer.Option(exists=True, dir_okay=False, help="Hosts file, for a node.")] = None,
    host: Annotated[str, typer.Option(help="Name of this host in the hosts file.")] = "",
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the final report of a command as one JSON object.")
    ] = False,
    watch: Annotated[bool, typer.Option(help="Show every step of a command as it runs.")] = False,
    step: Annotated[bool, typer.Option(help="Confirm each step of a command: enter, or `telerobot run step`.")] = False,
    break_at: Annotated[
        list[str] | None, typer.Option("--break", metavar="STEP", help="Wait before this step or skill; repeatable.")
    ] = None,
    log: Annotated[
        Path | None, typer.Option(dir_okay=False, help="Save every step of a command, for `telerobot script`.")
    ] = None,
) -> None:
    """Run one node (ROS arguments follow `--ros-args`), or a command to its end."""
    if is_text(node):
        raise typer.Exit(run_text(node, namespace, as_json, Watching(watch, step, tuple(break_at or ()), log)))
    entry = graph.node(node)
    options = NodeOptions(
        name=node,
        robot=robot,
        params=params,
        bag=bag,
        graph=_graph_of(node, graph_name),
        hosts=hosts,
        host=host,
        ros_args=_ros_args(context.args),
    )
    if os.environ.pop(SUPERVISED, "") == "1":
        end_with_supervisor()
    os.environ.update(node_environment(os.environ))  # before rclpy, messages and NumPy read it
    code = import_module(entry.module).main(options)
    import_module("telerobot_nodes.nodes.framework").end_process(code)


def _is_added(node: str, name: str) -> bool:
    return name in graph.ON_REQUEST.get(node, ())


def _graph_of(node: str, asked: str | None) -> str:
    """The requested graph, by default the first of the table with this node."""
    holding = [name for name, members in graph.GRAPHS.items() if node in members or _is_added(node, name)]
    if asked is None:
        return holding[0]
    if asked not in holding:
        raise typer.BadParameter(
            f"{asked!r} does not hold node {node}; one of {', '.join(holding)}", param_hint="--graph"
        )
    return asked


def _ros_args(extra: list[str]) -> tuple[str, ...]:
    """The arguments from `--ros-args` on; any argument before it is an error."""
    at = extra.index("--ros-args") if "--ros-args" in extra else len(extra)
    if at:
        raise typer.BadParameter(f"not understood: {' '.join(extra[:at])}; ROS arguments follow --ros-args")
    return tuple(extra)
