"""The headless demo: the graph, a recorded hand as operator, a slow link, and a judged recording.

What belongs here: the order of events. What must never enter: judging (`operator/review/`), anything a person
at the console could not do as well.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from telerobot_nodes.core.config import share_path
from telerobot_nodes.core.protocol import DeviceState, ExecutorMode
from telerobot_nodes.core.values import in_range
from telerobot_nodes.errors import InvalidValueError, TelerobotError
from telerobot_nodes.operator.client import OperatorClient, commands
from telerobot_nodes.runtime import GraphOptions, NodeEvent, Supervisor, join_graph

if TYPE_CHECKING:
    from telerobot_nodes.nodes.clients import Terminal

PARAMETERS = "config/demo.yaml"
START_LIMIT = 90.0  # [s] for the graph to be ready
LINK_LIMIT = 30.0  # [s] for the link to carry reports
HAND_LIMIT = 600.0  # [s] longest recorded hand
DONE_MARGIN = 120.0  # [s] the robot may still need after the hand has stopped

Show = Callable[[str], None]  # prints a line of progress


class DemoError(TelerobotError):
    """The demo did not come to its end; the message names the step and what was received."""


@dataclass(frozen=True)
class DemoSettings:
    """Settings of a headless run; validated when made. Raises InvalidValueError naming the field."""

    folder: Path  # of the recording
    robot: str = "arm"
    hand: Path | None = None  # None: the demo's own recording
    speed: float = 1.0  # [-] playback
    round_trip: float = 2.0  # [s]
    jitter: float = 0.05  # [s] standard deviation, one way
    loss: float = 0.02  # [-]
    time_clutch: bool = False  # engaged: plan time follows the hand
    params: Path | None = None

    def __post_init__(self) -> None:
        in_range(self.round_trip, "delay", 0.0, 120.0, "s")
        commands.Replay("", self.speed)
        if (self.folder / "bag").exists():
            raise InvalidValueError("folder", str(self.folder), "allowed: a folder without a recording in it")
        self.link()

    def link(self) -> commands.SetLink:
        """The link asked for: half the round trip each way."""
        return commands.SetLink(delay=0.5 * self.round_trip, jitter=self.jitter, loss=self.loss)

    def graph(self) -> GraphOptions:
        """The graph without what a recorded hand does not use: console, planner, command language."""
        return GraphOptions(
            "demo",
            robot=self.robot,
            params=self.params or share_path(PARAMETERS),
            bag=self.folder / "bag",
            without=("operator_console", "cspace_planner", "rtc_decision_unit"),
        )


def run_headless(settings: DemoSettings, show: Show = print) -> None:
    """Drive the arm by the recorded hand and record it; raises DemoError when a step does not come."""
    join_graph()  # before messages are imported: this process is a node of the graph as well
    settings.folder.mkdir(parents=True, exist_ok=True)
    with (settings.folder / "nodes.log").open("w", encoding="utf-8") as log:
        supervisor = Supervisor(settings.graph(), on_line=lambda node, line: print(f"[{node}] {line}", file=log))
        with _running(supervisor, show):
            drive(settings, show)


@contextlib.contextmanager
def _running(supervisor: Supervisor, show: Show) -> Iterator[None]:
    show("starting the graph")
    supervisor.start()
    try:
        if not supervisor.wait_ready(START_LIMIT):
            if supervisor.failure is not None:
                raise DemoError(_ended(supervisor.failure))
            raise DemoError(f"not ready after {START_LIMIT:g} s: {', '.join(supervisor.waiting_for())}")
        yield
    finally:
        code = supervisor.stop()
    if code:
        raise DemoError(_ended(supervisor.failure or supervisor.unclean[0]))


def _ended(node: NodeEvent) -> str:
    return f"{node.node} ended with exit code {node.code}; see nodes.log"


def drive(settings: DemoSettings, show: Show = print) -> None:
    """On a running graph: set the link, free the time clutch, move the hand, wait until all of it is executed."""
    from telerobot_nodes.nodes.clients import Terminal

    with Terminal() as terminal:
        _do(terminal, settings.link(), show)
        _wait(terminal, "the robot's reports", lambda c: c.queue.has_authority and not c.queue.stale, LINK_LIMIT)
        _do(terminal, commands.TimeClutch(settings.time_clutch), show)
        _do(terminal, commands.Replay(str(settings.hand or ""), settings.speed), show)
        _wait(terminal, "the hand", lambda c: c.queue.device is DeviceState.TRACKING, LINK_LIMIT)
        _wait(terminal, "the end of the hand", lambda c: c.queue.device is DeviceState.IDLE, HAND_LIMIT)
        show("the hand has stopped; the robot goes on")
        _wait(terminal, "the end of the plan", _all_executed, DONE_MARGIN)


def _do(terminal: Terminal, command: commands.Command, show: Show) -> None:
    outcome = terminal.ask(command)
    if not outcome.done:
        raise DemoError(f"{command}: {outcome.text}")
    show(f"{command}: {outcome.text}".rstrip(": "))


def _wait(terminal: Terminal, what: str, ready: Callable[[OperatorClient], bool], limit: float) -> None:
    if not terminal.wait_for(ready, limit):
        raise DemoError(f"{what}: not within {limit:g} s")


def _all_executed(client: OperatorClient) -> bool:
    queue, robot = client.queue, client.robot
    return (
        queue.head_seq > 0
        and queue.unacknowledged == 0
        and robot.executed_seq == queue.head_seq
        and robot.mode is ExecutorMode.IDLE
        and not robot.moving
    )
