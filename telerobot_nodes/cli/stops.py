"""`telerobot halt | stop | estop | reset | tare`: what must work when nothing else does.

A halt and an e-stop go to every arm in sight, directly, whatever other node is missing, and whatever else stands on
the line. Exit code 0 only after every arm has confirmed.
"""

from __future__ import annotations

from typing import Annotated

import typer

from telerobot_nodes.cli.operate import Namespace, do, fail, join_graph
from telerobot_nodes.operator.client import commands

WAIT = 10.0  # [s]
CONTEXT_OF_STOPS = {"ignore_unknown_options": True}  # an option that is wrong must not keep a stop back


def seconds(text: object) -> float:
    """A wait [s], from 0.1; the default for what is none."""
    try:
        wait = float(str(text))
    except ValueError:
        return WAIT
    return wait if wait >= 0.1 else WAIT


Reason = Annotated[list[str] | None, typer.Argument(help="Reason, shown to all operators.")]
Arms = Annotated[str, typer.Option("--namespace", help="Namespace of one arm, for example left; default: every arm.")]
Wait = Annotated[float, typer.Option(parser=seconds, help="Longest wait for the robot's confirmation [s], from 0.1.")]
AtRobot = Annotated[bool, typer.Option("--at-robot", help="On the robot's host: without authority over the plan.")]


def halt(reason: Reason = None, namespace: Arms = "", wait: Wait = WAIT) -> None:
    """Stop every arm on its path and keep the plan; waits for the robot's confirmation."""
    _stop("halt", commands.Halt(" ".join(reason or ())).reason, namespace, wait)


def estop(reason: Reason = None, namespace: Arms = "", wait: Wait = WAIT) -> None:
    """Latch the e-stop of every arm, until `telerobot reset`; waits for the robot's confirmation."""
    _stop("estop", commands.EStop(" ".join(reason or ())).reason, namespace, wait)


def reset(namespace: Namespace = "", at_robot: AtRobot = False) -> None:
    """Release the e-stop or fault of the hardware; the arm holds."""
    _to_robot(commands.Reset(), "hardware_interface/reset", namespace, at_robot)


def tare(namespace: Namespace = "", at_robot: AtRobot = False) -> None:
    """Take the present force as zero; the arm must be at rest."""
    _to_robot(commands.Tare(), "gcmsf_control/tare", namespace, at_robot)


def _stop(topic: str, reason: str, namespace: str, wait: float) -> None:
    join_graph()
    from telerobot_nodes.nodes.clients import NoGraphError, StopSender

    try:
        with StopSender(topic, reason, namespace) as sender:
            arms = sender.send(wait)
    except NoGraphError as error:
        fail(str(error))
    missing = ", ".join(name.strip("/") or "the robot" for name, confirmed in sorted(arms.items()) if not confirmed)
    if missing:
        fail(f"{topic} sent for {wait:g} s, NOT CONFIRMED by {missing}")
    print(f"{'halted' if topic == 'halt' else 'e-stop latched'}, confirmed by the robot")


def _to_robot(command: commands.Command, service: str, namespace: str, at_robot: bool) -> None:
    if not at_robot:
        do(command, namespace)
        return
    join_graph()
    from telerobot_nodes.nodes.clients import call_service

    response = call_service(service, namespace)
    if not response.success:
        fail(f"{command}: {response.message}")
    print(f"{command}: {response.message}")
