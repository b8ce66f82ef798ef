"""Makes the command line of every node from the graph table, for supervisor, launch files and tests.

`launch` and `launch_ros` are imported only for a launch description.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from telerobot_nodes.core.config import STATE_VARIABLE, load_parameters, share_path, transport_environment
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.graph import (
    GRAPHS,
    NAMESPACES,
    NODES,
    OPERATOR_SIDE,
    PARAMETERS,
    WITH_CAMERA,
    WITH_HOSTS,
    Host,
    Node,
    node,
    operator_side,
    remappings,
)
from telerobot_nodes.runtime.state_folder import StateFolder

if TYPE_CHECKING:
    from launch import LaunchDescription

    from telerobot_nodes.link import EmulatedLink

LINK_OPTIONS = ("delay", "jitter", "loss", "profile")
_NAMESPACE = re.compile(r"/?[A-Za-z_][A-Za-z0-9_]*(/[A-Za-z_][A-Za-z0-9_]*)*")


@dataclass(frozen=True)
class GraphOptions:
    """Arguments of `telerobot up` and of the launch files; validated when made."""

    graph: str
    robot: str = "arm"
    namespace: str = ""  # of the arm, for example `left`; empty: that of the graph, for most of them root
    params: Path | None = None  # None: the graph's file, where it has one
    bag: Path | None = None
    without: tuple[str, ...] = ()  # nodes to leave out
    link: str = ""  # operator: namespace of the topics that cross the link, for example /operator_side; empty: its own
    hosts: Path | None = None  # hosts file: a link to the hosts it names
    host: str = ""  # this host's name in it; empty: the only one of its role
    camera: bool = False  # pictures of the arm
    state: Path | None = None  # folder of what outlives the graph; None: of what outlives a node only
    # of an emulated link; None: as the parameter file says
    delay: float | None = None  # [s] round trip
    jitter: float | None = None  # [s] standard deviation of the one-way delay
    loss: float | None = None
    profile: Path | None = None  # recorded delay

    def __post_init__(self) -> None:
        if self.graph not in GRAPHS:
            raise InvalidValueError("graph", self.graph, f"allowed: {', '.join(GRAPHS)}")
        self._fill_from_table()
        for name in self.without:
            if name not in GRAPHS[self.graph]:
                allowed = ", ".join(GRAPHS[self.graph])
                raise InvalidValueError("without", name, f"nodes of graph {self.graph}: {allowed}")
        if self.namespace and not _NAMESPACE.fullmatch(self.namespace):
            raise InvalidValueError("namespace", self.namespace, "allowed: letters, digits, _, parts joined by /")
        if self.link and (self.graph != "operator" or not _NAMESPACE.fullmatch(self.link)):
            raise InvalidValueError("link", self.link, "allowed: with graph operator, as /operator_side")
        if self.camera and self.graph not in WITH_CAMERA:
            raise InvalidValueError("camera", "given", f"allowed: with graph {' or '.join(sorted(WITH_CAMERA))}")
        if not self.robot:
            raise InvalidValueError("robot", self.robot, "allowed: a robot's name, a URDF file or an arm file")
        if self.params is not None and not self.params.is_file():
            raise InvalidValueError("params", str(self.params), "allowed: an existing YAML file")
        if self.bag is not None and self.bag.exists() and not self.bag.is_dir():
            raise InvalidValueError("bag", str(self.bag), "allowed: a directory")
        if self.state is not None and self.state.exists() and not self.state.is_dir():
            raise InvalidValueError("state", str(self.state), "allowed: a folder, or a place for one")
        if self.hosts is not None:
            self._check_hosts(self.hosts)
        elif self.host:
            raise InvalidValueError("host", self.host, "allowed: with a hosts file")
        self._check_link()

    def _fill_from_table(self) -> None:
        """What the graph has when nothing is named."""
        if not self.namespace:
            object.__setattr__(self, "namespace", NAMESPACES.get(self.graph, ""))
        if self.params is None and self.graph in PARAMETERS:
            object.__setattr__(self, "params", share_path(PARAMETERS[self.graph]))

    def _check_link(self) -> None:
        emulated = [name for name, members in GRAPHS.items() if "link_emulator" in members]
        for name in LINK_OPTIONS:
            value = getattr(self, name)
            if value is not None and self.graph not in emulated:
                raise InvalidValueError(name, str(value), f"allowed: with graph {' or '.join(emulated)}")
        self.emulated_link()

    def emulated_link(self) -> EmulatedLink | None:
        """The emulated link that these options change; None: they change nothing. Raises TelerobotError."""
        given = {name: getattr(self, name) for name in LINK_OPTIONS}
        if all(value is None for value in given.values()):
            return None
        from telerobot_nodes.link import LinkOptions  # with NumPy, which `telerobot up --help` does without

        return LinkOptions(**given).over(link_of(self.params))

    def _check_hosts(self, hosts: Path) -> None:
        if self.graph not in ("robot", "operator") or self.link:
            raise InvalidValueError("hosts", str(hosts), "allowed: with graph robot or operator, without link")
        self._own_host(hosts)

    def _own_host(self, hosts: Path) -> str:
        from telerobot_nodes.link import keys_of, load_hosts, roles_of  # with NumPy, which `--help` does without

        read = load_hosts(hosts)
        own = read.own(self.graph, self.host)
        keys = keys_of(hosts, read, own)
        if self.graph == "robot":
            roles_of(hosts, read, keys)
        return own.name

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes to start, in order."""
        left_out = {*self.without, *(WITH_HOSTS if self.hosts is None else ())}
        names = [*GRAPHS[self.graph], *(("camera",) if self.camera else ())]
        return tuple(node(name) for name in names if name not in left_out)

    @property
    def host_arguments(self) -> list[str]:
        """Arguments of every node that name the hosts file and this host in it."""
        if self.hosts is None:
            return []
        return ["--hosts", str(self.hosts.absolute()), "--host", self._own_host(self.hosts)]


def link_of(params: Path | None) -> EmulatedLink:
    """The emulated link of a parameter file, None: the defaults. Raises ParameterFileError, InvalidValueError."""
    from telerobot_nodes.link import EmulatedLink

    names = tuple(entry.name for entry in NODES)
    return EmulatedLink() if params is None else load_parameters(EmulatedLink, params, "link_emulator", names)


def node_arguments(name: str, options: GraphOptions) -> list[str]:
    """Arguments of `telerobot run NAME` before the remapping rules."""
    arguments = ["--robot", options.robot, "--graph", options.graph]
    if options.params is not None:
        arguments += ["--params", str(options.params)]
    if options.bag is not None:
        arguments += ["--bag", str(options.bag)]
    arguments += options.host_arguments
    link = options.emulated_link() if name == "link_emulator" else None
    if link is not None:
        values = {entry.name: json.dumps(getattr(link, entry.name)) for entry in fields(link)}
        arguments += ["--ros-args", *(word for key, value in values.items() for word in ("-p", f"{key}:={value}"))]
    return arguments


def node_renames(name: str, options: GraphOptions) -> list[tuple[str, str]]:
    """ROS remapping rules of the node: its namespace, and the operator's side of an emulated link."""
    rules = [("__ns", "/" + options.namespace.strip("/"))] if options.namespace else []
    if options.hosts is not None and node(name).host is Host.OPERATOR:
        return rules + [(topic, OPERATOR_SIDE + topic) for topic in operator_side()]
    if options.link and node(name).host is Host.OPERATOR:
        return rules + [(topic, f"/{options.link.strip('/')}/{topic}") for topic in operator_side()]
    return rules + list(remappings(name, options.graph).items())


def node_command(name: str, options: GraphOptions) -> list[str]:
    """Whole command line of a node, as the supervisor and `ros2 launch` run it."""
    rules = [word for old, new in node_renames(name, options) for word in ("-r", f"{old}:={new}")]
    return [*telerobot_command(), "run", name, *node_arguments(name, options), "--ros-args", *rules]


def telerobot_command() -> list[str]:
    """The `telerobot` command of this installation: pip's beside the interpreter, colcon's, else the module."""
    for candidate in (Path(sys.executable).with_name("telerobot"), Path(sys.argv[0])):
        if candidate.name == "telerobot" and candidate.is_file():
            return [str(candidate.absolute())]
    return [sys.executable, "-m", "telerobot_nodes"]


def launch_is_installed() -> bool:
    """True if ROS's launch is importable; our folder `launch/` alone makes `import launch` succeed without contents."""
    try:
        return find_spec("launch.launch_service") is not None and find_spec("launch_ros.actions") is not None
    except ModuleNotFoundError:
        return False


def launch_description(graph_name: str) -> LaunchDescription:
    """Description for `ros2 launch` of a graph of the table, with the arguments of `telerobot up`."""
    from launch import LaunchDescription
    from launch.actions import DeclareLaunchArgument, OpaqueFunction

    declared = {
        "robot": ("arm", "robot: arm, panda, ur5, a URDF file or an arm file (YAML)"),
        "namespace": (NAMESPACES.get(graph_name, ""), "namespace of the arm, for example left; empty: root"),
        "params": ("", "parameter file in ROS layout; empty: the graph's own, or defaults"),
        "bag": ("", "directory for recordings; empty: the recorder's default"),
        "without": ("", "nodes to leave out, separated by commas"),
        "link": (
            "",
            "operator: namespace of the topics that cross the link, for example /operator_side; empty: its own",
        ),
        "hosts": ("", "hosts file: a link to the hosts it names; empty: none"),
        "host": ("", "name of this host in the hosts file; empty: the only one of its role"),
        "camera": ("false", f"true: pictures of the arm, with graph {' or '.join(sorted(WITH_CAMERA))}"),
        "state": ("", "folder for journals, latches and databases that outlive the graph; empty: a temporary one"),
        "delay": ("", "emulated link: round trip [s]; empty: as the parameter file says, as the next three"),
        "jitter": ("", "emulated link: standard deviation of the one-way delay [s]"),
        "loss": ("", "emulated link: probability that a message is lost, 0 .. 1"),
        "profile": ("", "emulated link: CSV file of a recorded delay"),
    }
    arguments = [
        DeclareLaunchArgument(name, default_value=row[0], description=row[1]) for name, row in declared.items()
    ]

    kept: list[StateFolder] = []  # until this process ends

    def start(context: Any) -> list[Any]:
        os.environ.update(transport_environment(os.environ))
        given = {name: context.launch_configurations[name] for name in declared}
        options = _options_from_strings(graph_name, given)
        kept.append(StateFolder(options.state))
        return launch_actions(options, kept[-1].folder)

    return LaunchDescription([*arguments, OpaqueFunction(function=start)])


def launch_actions(options: GraphOptions, state: Path) -> list[Any]:
    """One `launch_ros` Node per node; the failure of a required node shuts the launch down. `state`: their folder."""
    from launch_ros.actions import Node as LaunchedNode

    return [
        LaunchedNode(
            package="telerobot",
            executable=entry.name,
            arguments=node_arguments(entry.name, options),
            remappings=node_renames(entry.name, options),
            additional_env={STATE_VARIABLE: str(state)},
            output="screen",
            respawn=entry.restarts > 0,
            respawn_delay=1.0,
            respawn_max_retries=entry.restarts,
            on_exit=_shutdown_after_last_end(entry),
        )
        for entry in options.nodes
    ]


def _shutdown_after_last_end(entry: Node) -> Callable[[Any, Any], Any]:
    """Handler of a node's exit: shuts the launch down if a required node is not restarted."""
    ends: list[int] = []

    def on_exit(event: Any, context: Any) -> Any:
        from launch.actions import Shutdown

        ends.append(event.returncode)
        if not entry.required or len(ends) <= entry.restarts:
            return None
        return Shutdown(reason=f"{entry.name} ended with exit code {event.returncode}")

    return on_exit


def _options_from_strings(graph_name: str, given: dict[str, str]) -> GraphOptions:
    return GraphOptions(
        graph=graph_name,
        robot=given["robot"],
        namespace=given["namespace"],
        params=Path(given["params"]) if given["params"] else None,
        bag=Path(given["bag"]) if given["bag"] else None,
        without=tuple(name.strip() for name in given["without"].split(",") if name.strip()),
        link=given["link"],
        hosts=Path(given["hosts"]) if given["hosts"] else None,
        host=given["host"],
        camera=_truth("camera", given["camera"]),
        state=Path(given["state"]) if given["state"] else None,
        delay=_number("delay", given["delay"]),
        jitter=_number("jitter", given["jitter"]),
        loss=_number("loss", given["loss"]),
        profile=Path(given["profile"]) if given["profile"] else None,
    )


def _number(name: str, given: str) -> float | None:
    try:
        return float(given) if given else None
    except ValueError:
        raise InvalidValueError(name, given, "allowed: a number") from None


def _truth(name: str, given: str) -> bool:
    if given.lower() not in ("true", "false"):
        raise InvalidValueError(name, given, "allowed: true, false")
    return given.lower() == "true"
