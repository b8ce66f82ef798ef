"""`telerobot status | halt | resume | clutch | clear | ratio`: the operator's controls from a shell.

Each talks to a running graph of this host, says what really happened, and ends with 1 when it did not.
"""

from __future__ import annotations

import json
import os
import sys
from enum import Enum
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from telerobot_nodes.operator import commands
from telerobot_nodes.operator.requests import HaltStage

if TYPE_CHECKING:
    from telerobot_nodes.nodes.terminal import Terminal

NOT_DONE = 1
NOTICES = 4  # shown, the newest last
Namespace = Annotated[str, typer.Option(help="Namespace of the arm, as in left.")]
Wait = Annotated[float, typer.Option(min=0.1, help="Longest wait [s] for the robot to confirm.")]


class Switch(str, Enum):
    """On or off."""

    ON = "on"
    OFF = "off"


def status(
    namespace: Namespace = "", as_json: Annotated[bool, typer.Option("--json", help="As one JSON object.")] = False
) -> None:
    """Print what the operator's side knows: state, lead, delays, queue, clutches, authority."""
    with _terminal(namespace) as terminal:
        view = terminal.view()
    if as_json:
        rows = {row.label: row.text for row in view.rows}
        print(json.dumps({"robot": view.banner.text, **rows, "notices": [row.text for row in view.notices]}))
        return
    print(view.banner.text)
    width = max((len(row.label) for row in view.rows), default=0)
    for row in view.rows:
        print(f"  {row.label:<{width}}  {row.text}")
    for row in reversed(view.notices[:NOTICES]):
        print(f"  {row.label} ago: {row.text}")


def halt(
    reason: Annotated[str, typer.Argument(help="Shown to everybody.")] = "operator",
    namespace: Namespace = "",
    wait: Wait = 10.0,
) -> None:
    """Stop the arm on its path, keep the plan; done when the robot has confirmed it."""
    with _terminal(namespace) as terminal:
        terminal.ask(commands.Halt(reason))
        confirmed = terminal.wait_for(lambda client: client.halt_watch.stage is HaltStage.CONFIRMED, wait)
    if not confirmed:
        _fail(f"halt asked, NOT CONFIRMED by the robot in {wait:g} s")
    print("halted, confirmed by the robot")


def resume(namespace: Namespace = "") -> None:
    """Go on after a halt or pause."""
    _do(commands.Resume(), namespace)


def clutch(
    state: Annotated[Switch, typer.Argument(help="on: plan time follows the hand; off: only the order is kept.")],
    namespace: Namespace = "",
) -> None:
    """Engage or disengage the time clutch."""
    _do(commands.TimeClutch(state is Switch.ON), namespace)


def clear(namespace: Namespace = "") -> None:
    """Delete every point of the plan not yet executed."""
    _do(commands.Clear(), namespace)


def ratio(
    value: Annotated[float, typer.Argument(help="Plan time per acquisition time, 0.1 .. 10.")],
    namespace: Namespace = "",
) -> None:
    """Set the time ratio."""
    _do(commands.TimeRatio(value), namespace)


def gripper(
    opening: Annotated[float, typer.Argument(help="Opening in metres, 0 .. 0.2.")], namespace: Namespace = ""
) -> None:
    """Open or close the gripper from the plan's head on."""
    _do(commands.Gripper(opening), namespace)


def rate(
    value: Annotated[float, typer.Argument(help="Plan seconds per second, 0.1 .. 10.")], namespace: Namespace = ""
) -> None:
    """Set how fast the robot executes the plan."""
    _do(commands.Rate(value), namespace)


def brake(
    value: Annotated[float, typer.Argument(help="Plan seconds deleted from the tail per second; 0 releases.")],
    namespace: Namespace = "",
) -> None:
    """Hold or release the time brake."""
    _do(commands.Brake(value), namespace)


def pause(namespace: Namespace = "") -> None:
    """Let the arm come to rest on its path; the plan is kept."""
    _do(commands.Deed.PAUSE, namespace)


class Position(str, Enum):
    """What becomes of the position clutch and the trial path."""

    OFF = "off"
    LINK = "link"
    ADOPT = "adopt"
    DISCARD = "discard"


def position(
    state: Annotated[Position, typer.Argument(help="off: lay a trial path; link, adopt or discard it.")],
    namespace: Namespace = "",
) -> None:
    """Disengage the position clutch, or engage it again by a join."""
    deeds = {Position.ADOPT: commands.Deed.ADOPT, Position.DISCARD: commands.Deed.DISCARD}
    _do(deeds.get(state) or commands.PositionClutch(state is Position.LINK), namespace)


class Control(str, Enum):
    """What is said about authority."""

    REQUEST = "request"
    GRANT = "grant"
    REFUSE = "refuse"
    RELEASE = "release"
    TAKE = "take"


def control(action: Annotated[Control, typer.Argument()], namespace: Namespace = "") -> None:
    """Ask for the plan, agree, decline, give it up; supervisors take it."""
    _do(commands.Deed[f"{action.name}_CONTROL"], namespace)


def _do(command: commands.Command, namespace: str) -> None:
    with _terminal(namespace) as terminal:
        outcome = terminal.ask(command)
    text = f"{command}: {outcome.text}" if outcome.text else str(command)
    if not outcome.done:
        _fail(text)
    print(text)


def _terminal(namespace: str) -> Terminal:
    from telerobot_nodes.supervisor import DISCOVERY, node_environment

    os.environ.update({DISCOVERY: os.environ.get(DISCOVERY, "LOCALHOST"), **node_environment(os.environ)})
    from telerobot_nodes.nodes.terminal import NoGraphError, Terminal

    try:
        return Terminal(namespace)
    except NoGraphError as error:
        _fail(str(error))


def _fail(text: str) -> NoReturn:
    print(f"telerobot: {text}", file=sys.stderr)
    raise typer.Exit(NOT_DONE)
