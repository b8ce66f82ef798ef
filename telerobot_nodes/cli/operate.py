"""`telerobot status | resume | clutch | clear | ratio`: the operator's controls from a shell.

Each talks to a running graph of this host, prints the outcome, and ends with 1 when the command failed.
"""

from __future__ import annotations

import json
import sys
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from telerobot_nodes.core.protocol import ControlMode
from telerobot_nodes.operator.client import commands

if TYPE_CHECKING:
    from telerobot_nodes.nodes.clients import Terminal

NOT_DONE = 1
DIAGNOSTICS_LIMIT = 1.5  # [s]; nodes publish them once a second
THIS_HOST_LIMIT = 1.5  # [s]; the recorder reports once a second
NOTICES = 4  # shown, the newest last
Namespace = Annotated[str, typer.Option(help="Namespace of the arm, for example left.")]


class Switch(str, Enum):
    """On or off."""

    ON = "on"
    OFF = "off"


class Clutch(str, Enum):
    """State of a clutch; who knows the field types the second pair of words."""

    ON = "on"
    OFF = "off"
    ENGAGE = "engage"
    DISENGAGE = "disengage"

    @property
    def engaged(self) -> bool:
        """True for the words that engage it."""
        return self in (Clutch.ON, Clutch.ENGAGE)


def status(
    namespace: Namespace = "", as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False
) -> None:
    """Print the state on the operator's side: robot, lead, delays, queue, clutches, authority, recording."""
    with _terminal(namespace) as terminal:
        terminal.wait_for_this_host(THIS_HOST_LIMIT)
        view = terminal.view()
        added = _device_rows(terminal)
    rows = {**{row.label: row.text for row in view.rows}, **added}
    if as_json:
        print(json.dumps({"robot": view.banner.text, **rows, "notices": [row.text for row in view.notices]}))
        return
    print(view.banner.text)
    width = max(map(len, rows), default=0)
    for label, text in rows.items():
        print(f"  {label:<{width}}  {text}")
    for row in reversed(view.notices[:NOTICES]):
        print(f"  {row.label} ago: {row.text}")


def _device_rows(terminal: Terminal) -> dict[str, str]:
    """Samples of the device that the queue received, how many were late, and the device itself; what there is."""
    from telerobot_nodes.operator.devices import InputCounts

    if terminal.operator.received.queue is None:
        return {}
    found = terminal.diagnostics(("path_plan_queue", "operator_input", "input_device"), DIAGNOSTICS_LIMIT)
    counts = InputCounts.of(found.get("path_plan_queue", {}), found.get("operator_input", {}))
    rows = {"device": str(counts)} if counts.received or counts.sent else {}
    return rows | ({"input device": found["input_device"]["state"]} if "input_device" in found else {})


def resume(namespace: Namespace = "") -> None:
    """Continue after a halt or pause."""
    do(commands.Resume(), namespace)


def clutch(
    state: Annotated[Clutch, typer.Argument(help="on: plan time follows the hand; off: only the order is kept.")],
    namespace: Namespace = "",
) -> None:
    """Engage or disengage the time clutch."""
    do(commands.TimeClutch(state.engaged), namespace)


def clear(namespace: Namespace = "") -> None:
    """Delete every point of the plan not yet executed."""
    do(commands.Clear(), namespace)


def ratio(
    value: Annotated[float, typer.Argument(help="Plan seconds per second of the hand, 0.1 .. 10.")],
    namespace: Namespace = "",
) -> None:
    """Set the time ratio."""
    do(commands.TimeRatio(value), namespace)


def orientation(
    state: Annotated[Clutch, typer.Argument(help="on: turning the hand turns the tool; off: the hand only moves it.")],
    namespace: Namespace = "",
) -> None:
    """Engage or disengage the orientation clutch."""
    do(commands.OrientationClutch(state.engaged), namespace)


def linear_scale(
    value: Annotated[float, typer.Argument(help="Motion of the tool per motion of the hand, 0 .. 10.")],
    namespace: Namespace = "",
) -> None:
    """Set how far the tool moves when the hand moves; 0: the hand only turns it."""
    do(commands.LinearScale(value), namespace)


def angular_scale(
    value: Annotated[float, typer.Argument(help="Turning of the tool per turning of the hand, 0 .. 10.")],
    namespace: Namespace = "",
) -> None:
    """Set how far the tool turns when the hand turns."""
    do(commands.AngularScale(value), namespace)


def gripper(
    opening: Annotated[float, typer.Argument(help="Opening in metres, 0 .. 0.2.")], namespace: Namespace = ""
) -> None:
    """Set the gripper's opening from the end of the plan on."""
    do(commands.Gripper(opening), namespace)


def rate(
    value: Annotated[float, typer.Argument(help="Plan seconds executed per second, 0.1 .. 10.")],
    namespace: Namespace = "",
) -> None:
    """Set how fast the robot executes the plan."""
    do(commands.Rate(value), namespace)


def brake(
    value: Annotated[float, typer.Argument(help="Plan seconds deleted from the end per second; 0 releases.")],
    namespace: Namespace = "",
) -> None:
    """Apply or release the time brake."""
    do(commands.Brake(value), namespace)


def collision_stop(
    state: Annotated[Switch, typer.Argument(help="on: wait before predicted collisions; off: execute every point.")],
    namespace: Namespace = "",
) -> None:
    """Let the robot wait before points that are predicted to collide, or execute them."""
    do(commands.CollisionStop(state is Switch.ON), namespace)


def singularities(
    state: Annotated[Switch, typer.Argument(help="on: the hand may pass singularities; off: it stops before them.")],
    namespace: Namespace = "",
) -> None:
    """Let the hand's path pass singularities, as slowly as the joints need, or stop it before them."""
    do(commands.PassSingularities(state is Switch.ON), namespace)


def undo(namespace: Namespace = "") -> None:
    """Bring back the points that the time brake or clear has deleted, before the next point is laid."""
    do(commands.Deed.UNDO, namespace)


def pause(namespace: Namespace = "") -> None:
    """Bring the arm to rest on its path and keep the plan."""
    do(commands.Deed.PAUSE, namespace)


def replay(
    file: Annotated[str, typer.Argument(help="Recorded hand on the operator's host; default: the demo's own.")] = "",
    speed: Annotated[float, typer.Option(help="Times as fast as recorded, 0.1 .. 10.")] = 1.0,
    scale: Annotated[
        float,
        typer.Option(help="Motion of the tool per motion of the hand, 0.01 .. 10; default: what is within reach."),
    ] = 0.0,
    stop: Annotated[bool, typer.Option("--stop", help="End the replay.")] = False,
    namespace: Namespace = "",
) -> None:
    """Play a recorded hand, or end the replay."""
    do(commands.StopReplay() if stop else commands.Replay(file, speed, scale), namespace)


def link(
    delay: Annotated[float, typer.Argument(help="One-way delay [s], 0 .. 60.")],
    jitter: Annotated[float, typer.Option(help="Its standard deviation [s].")] = 0.0,
    loss: Annotated[float, typer.Option(help="Share of lost messages, 0 .. 1.")] = 0.0,
    outage: Annotated[bool, typer.Option("--outage", help="Nothing passes either way.")] = False,
    namespace: Namespace = "",
) -> None:
    """Set the emulated link."""
    do(commands.SetLink(delay, jitter, loss, up=not outage, down=not outage), namespace)


def camera(
    name: Annotated[str, typer.Argument(help="overview, wrist or outside; default: the one in force.")] = "",
    rate: Annotated[float | None, typer.Option(help="Pictures per second, 0 .. 30; 0: none.")] = None,
    budget: Annotated[float | None, typer.Option(help="Most bytes of pictures per second.")] = None,
    namespace: Namespace = "",
) -> None:
    """Select the camera, the rate of its pictures and their bytes."""
    do(commands.SetCamera(name, rate, budget), namespace)


def record(
    state: Annotated[Switch, typer.Argument(help="on: begin a recording; off: end it.")],
    folder: Annotated[
        Path | None, typer.Argument(help="A new folder for the bag; default: beside the other recordings of the graph.")
    ] = None,
    namespace: Namespace = "",
) -> None:
    """Begin a recording of this host's graph, or end it; each is a bag of its own."""
    do(commands.Record(state is Switch.ON, "" if folder is None else str(folder.absolute())), namespace)


def mode(
    name: Annotated[str, typer.Argument(help="teleoperation, shared, supervisory, autonomous or traded.")],
    namespace: Namespace = "",
) -> None:
    """Select who moves the arm."""
    do(commands.Mode(ControlMode.named(name)), namespace)


def direct(
    state: Annotated[Switch, typer.Argument(help="on: the device moves the running primitive; off: it lays the plan.")],
    namespace: Namespace = "",
) -> None:
    """Select what the input device moves."""
    do(commands.Direct(state is Switch.ON), namespace)


def scrub(
    time: Annotated[float, typer.Argument(help="Plan time [s]; negative, after --: off.")], namespace: Namespace = ""
) -> None:
    """Show the simulated arm at a time of the plan ahead."""
    do(commands.Scrub(time), namespace)


class Position(str, Enum):
    """States of the position clutch, and what becomes of the trial path."""

    OFF = "off"
    LINK = "link"
    ADOPT = "adopt"
    DISCARD = "discard"


def position(
    state: Annotated[Position, typer.Argument(help="off: start a trial path; link, adopt or discard: end it.")],
    namespace: Namespace = "",
) -> None:
    """Disengage the position clutch, or engage it and join or discard the trial path."""
    deeds = {Position.ADOPT: commands.Deed.ADOPT, Position.DISCARD: commands.Deed.DISCARD}
    do(deeds.get(state) or commands.PositionClutch(state is Position.LINK), namespace)


class Control(str, Enum):
    """Requests about authority."""

    REQUEST = "request"
    GRANT = "grant"
    REFUSE = "refuse"
    RELEASE = "release"
    TAKE = "take"


def control(action: Annotated[Control, typer.Argument()], namespace: Namespace = "") -> None:
    """Request, grant, refuse or release authority over the plan; take: for supervisors."""
    do(commands.Deed[f"{action.name}_CONTROL"], namespace)


def do(command: commands.Command, namespace: str) -> None:
    """Send a command and print its outcome."""
    with _terminal(namespace) as terminal:
        outcome = terminal.ask(command)
    text = f"{command}: {outcome.text}" if outcome.text else str(command)
    if not outcome.done:
        fail(text)
    print(text)


def _terminal(namespace: str) -> Terminal:
    join_graph()
    from telerobot_nodes.nodes.clients import NoGraphError, Terminal

    try:
        return Terminal(namespace)
    except NoGraphError as error:
        fail(str(error))


def join_graph() -> None:
    """Set what rclpy reads; see `runtime.join_graph`."""
    from telerobot_nodes.runtime import join_graph as join

    join()


def fail(text: str) -> NoReturn:
    """Print what was not done and end with the exit code for it."""
    print(f"telerobot: {text}", file=sys.stderr)
    raise typer.Exit(NOT_DONE)
