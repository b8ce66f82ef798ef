"""The headless demo: the whole graph, a recorded hand as operator, a slow link, and a recording to be judged.

What belongs here: the order of events. What must never enter: judging (`operator/review.py`), anything a person
at the console could not do as well.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from telerobot_nodes.core.share import share_path
from telerobot_nodes.core.validation import in_range
from telerobot_nodes.errors import InvalidValueError, TelerobotError
from telerobot_nodes.launching import GraphOptions
from telerobot_nodes.operator import commands
from telerobot_nodes.operator.client import OperatorClient
from telerobot_nodes.operator.status import Device, RobotMode
from telerobot_nodes.supervisor import NODE_ENVIRONMENT, Supervisor

PARAMETERS = "config/demo.yaml"
START_LIMIT = 90.0  # [s] for the graph to be ready
LINK_LIMIT = 30.0  # [s] for the link to carry reports
DONE_MARGIN = 120.0  # [s] the robot may still need after the hand has stopped

Say = Callable[[str], None]


class DemoError(TelerobotError):
    """The demo did not come to its end; says at which step and what was seen."""


@dataclass(frozen=True)
class DemoSettings:
    """What a headless run is made of; validated when made. Raises InvalidValueError naming the field."""

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
        """The whole graph but the console."""
        return GraphOptions(
            "demo",
            robot=self.robot,
            params=self.params or share_path(PARAMETERS),
            bag=self.folder / "bag",
            without=("operator_console",),
        )


def run_headless(settings: DemoSettings, say: Say = print) -> None:
    """Drive the arm by the recorded hand and record it; raises DemoError when a step does not come."""
    os.environ.update(NODE_ENVIRONMENT)  # before messages are imported: this process is a node of the graph as well
    settings.folder.mkdir(parents=True, exist_ok=True)
    with (settings.folder / "nodes.log").open("w", encoding="utf-8") as log:
        supervisor = Supervisor(settings.graph(), on_line=lambda node, line: print(f"[{node}] {line}", file=log))
        with _running(supervisor, say):
            drive(settings, say)


@contextlib.contextmanager
def _running(supervisor: Supervisor, say: Say) -> Iterator[None]:
    say("starting the graph")
    supervisor.start()
    try:
        if not supervisor.wait_ready(START_LIMIT):
            raise DemoError(f"not ready after {START_LIMIT:g} s: {', '.join(supervisor.waiting_for())}")
        yield
    finally:
        code = supervisor.stop()
    if code:
        failed = supervisor.failure or supervisor.unclean[0]
        raise DemoError(f"{failed.node} ended with exit code {failed.code}; see nodes.log")


def drive(settings: DemoSettings, say: Say = print) -> None:
    """On a running graph: set the link, free the time clutch, move the hand, wait until all of it is executed."""
    from telerobot_nodes.nodes.terminal import Terminal

    with Terminal() as terminal:
        _do(terminal.ask, settings.link(), say)
        _wait(
            terminal.wait_for, "the robot's reports", lambda c: c.queue.has_authority and not c.queue.stale, LINK_LIMIT
        )
        _do(terminal.ask, commands.TimeClutch(settings.time_clutch), say)
        _do(terminal.ask, commands.Replay(str(settings.hand or ""), settings.speed), say)
        _wait(terminal.wait_for, "the hand", lambda c: c.queue.device is Device.TRACKING, LINK_LIMIT)
        _wait(terminal.wait_for, "the end of the hand", lambda c: c.queue.device is Device.IDLE, 600.0)
        say("the hand has stopped; the robot goes on")
        _wait(terminal.wait_for, "the end of the plan", _all_executed, DONE_MARGIN)


def _do(ask: Callable[[commands.Command], object], command: commands.Command, say: Say) -> None:
    outcome = ask(command)
    if not getattr(outcome, "done", False):
        raise DemoError(f"{command}: {getattr(outcome, 'text', outcome)}")
    say(f"{command}: {getattr(outcome, 'text', '')}".rstrip(": "))


def _wait(
    wait_for: Callable[[Callable[[OperatorClient], bool], float], bool],
    what: str,
    ready: Callable[[OperatorClient], bool],
    limit: float,
) -> None:
    if not wait_for(ready, limit):
        raise DemoError(f"waited {limit:g} s in vain for {what}")


def _all_executed(client: OperatorClient) -> bool:
    queue, robot = client.queue, client.robot
    return (
        queue.head_seq > 0
        and queue.unacknowledged == 0
        and robot.executed_seq == queue.head_seq
        and robot.mode is RobotMode.IDLE
        and not robot.moving
    )
