"""Options of a node on its command line."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

STATE_VARIABLE = "TELEROBOT_STATE"  # names the folder in which a node leaves what its successor goes on from


def state_file(node: str, kind: str) -> Path | None:
    """File of this kind for a node, by its full ROS name, in the state folder; None: there is no such folder."""
    folder = os.environ.get(STATE_VARIABLE, "")
    return Path(folder) / f"{node.strip('/').replace('/', '.')}.{kind}" if folder else None


@dataclass(frozen=True)
class NodeOptions:
    """Start options of one node, made by `telerobot run` and given to the node's `main`."""

    name: str  # node of the graph table, also its ROS name
    robot: str = "arm"  # name, URDF or arm file for `core.robot.load_robot`
    params: Path | None = None  # YAML in ROS layout; None: defaults
    bag: Path | None = None  # directory for recordings; None: the recorder's default
    graph: str = "robot"  # graph of the table this node is part of; decides which nodes are behind an emulated link
    hosts: Path | None = None  # hosts file; None: one host, or an emulated link
    host: str = ""  # this host's name in it
    ros_args: tuple[str, ...] = ()  # from "--ros-args" on, for rclpy.init
