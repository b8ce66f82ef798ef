"""`telerobot up GRAPH`: starts the graph of one host, where ROS's launch is not installed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from telerobot_nodes.core.config import DISCOVERY, is_loopback
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.graph import NAMESPACES
from telerobot_nodes.runtime import GraphOptions, Supervisor, link_of, supervise

security = typer.Typer(no_args_is_help=True, help="Keys of the link between the hosts, and the console's certificate.")


@security.callback()
def _security() -> None:
    """Keys of the link between the hosts, and the console's certificate."""


@security.command()
def create(
    file: Annotated[Path, typer.Argument(help="Key file to write; copy it to every host that uses it.")],
    role: Annotated[
        str,
        typer.Option(help="What its holder may do at the robot: operator, supervisor, observer; default: everything."),
    ] = "",
    agent: Annotated[
        list[str] | None,
        typer.Option(help="With --role: name in which it may speak; may be repeated; default: its host's name."),
    ] = None,
) -> None:
    """Write a new key that only this user may read."""
    from telerobot_nodes.link import create_key
    from telerobot_nodes.link.roles import KeyRole

    roles = {one.value: one for one in KeyRole}
    if role and role not in roles:
        raise InvalidValueError("role", role, f"allowed: {', '.join(roles)}")
    create_key(file, roles.get(role), agent or ())
    where = "`key` of its host in the hosts file of this host and of the robot" if role else "`key` in the hosts file"
    print(f"{file}: written, mode 600; name it as {where}{'' if role else ' of every host'}")


@security.command()
def certificate(
    file: Annotated[Path, typer.Argument(help="PEM file to write, with key and certificate.")],
    address: Annotated[
        list[str] | None, typer.Option(help="Address or name by which browsers reach this host; may be repeated.")
    ] = None,
) -> None:
    """Write a certificate for the console of this host, with a key that only this user may read."""
    from telerobot_nodes.operator.web import create_certificate

    fingerprint = create_certificate(file, address or ())
    print(f"{file}: written, mode 600; name it as the parameter `certificate` of operator_console")
    print(f"a browser warns of it once; compare before you trust it: SHA-256 {fingerprint}")


def command(
    graph: Annotated[str, typer.Argument(help="robot, operator, demo or practice.")],
    robot: Annotated[str, typer.Option(help="Robot: arm, panda, ur5, a URDF file or an arm file (YAML).")] = "arm",
    namespace: Annotated[
        str, typer.Option(help="Namespace of the arm, for example left; default: root, of practice: practice.")
    ] = "",
    params: Annotated[Path | None, typer.Option(help="Parameter file in ROS layout.")] = None,
    bag: Annotated[Path | None, typer.Option(help="Directory for recordings.")] = None,
    without: Annotated[list[str] | None, typer.Option(help="Node to leave out; may be repeated.")] = None,
    link: Annotated[
        str,
        typer.Option(help="For an operator: namespace of the topics that cross the link, for example /operator_side."),
    ] = "",
    hosts: Annotated[Path | None, typer.Option(help="Hosts file: a link to the hosts it names.")] = None,
    host: Annotated[
        str, typer.Option(help="Name of this host in the hosts file; default: the only one of its role.")
    ] = "",
    camera: Annotated[bool, typer.Option("--camera", help="Pictures of the arm; not with operator.")] = False,
    state: Annotated[
        Path | None,
        typer.Option(help="Folder for journals, latches and databases that outlive this command; made if missing."),
    ] = None,
    delay: Annotated[
        float | None,
        typer.Option(help="Emulated link of demo or practice: round trip [s]; default: as in --params."),
    ] = None,
    jitter: Annotated[
        float | None, typer.Option(help="Standard deviation of the one-way delay [s]; 0 with --delay alone.")
    ] = None,
    loss: Annotated[float | None, typer.Option(help="Probability that a message is lost, 0 .. 1.")] = None,
    profile: Annotated[
        Path | None, typer.Option(help="Recorded delay in place of --delay and --jitter: CSV, t[s],delay[s].")
    ] = None,
    ready_timeout: Annotated[float, typer.Option(min=1.0, help="Longest start of the graph [s].")] = 180.0,
    check: Annotated[bool, typer.Option("--check", help="Stop as soon as every node is ready.")] = False,
) -> None:
    """Start a graph, supervise it, and stop it on Ctrl-C."""
    options = GraphOptions(
        graph,
        *(robot, namespace, params, bag, tuple(without or ()), link, hosts, host, camera, state),
        *(delay, jitter, loss, profile),
    )
    if hosts is not None and not is_loopback(os.environ):
        os.environ[DISCOVERY] = "LOCALHOST"  # between the hosts there is the link
    elif graph in NAMESPACES:
        _introduce(options)
    elif hosts is None and DISCOVERY not in os.environ and graph != "demo":
        print("telerobot: the graph is visible on this host only; for two hosts give --hosts FILE", flush=True)
    raise typer.Exit(supervise(Supervisor(options), ready_timeout, check))


def _introduce(options: GraphOptions) -> None:
    """Print how a graph beside the operator's own is reached, and its link."""
    link = options.emulated_link() or link_of(options.params)
    print(f"telerobot: {options.graph} in physics; reach it with --namespace {options.namespace}", flush=True)
    print(f"telerobot: link: {link}; change it with `telerobot link`", flush=True)
