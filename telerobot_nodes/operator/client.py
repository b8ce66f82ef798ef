"""The one client of everything an operator sees and does: console, Qt panel and terminal are views on it.

Values and `now` in, values out; knows no ROS. A command goes out through a `CommandPort` and returns what really
happened; nothing here waits. What must never enter: clocks, sockets, widgets.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

import numpy as np

from telerobot_nodes.core.validation import FloatArray, finite_array
from telerobot_nodes.operator.commands import Command, Halt, PoseTarget, Resume
from telerobot_nodes.operator.plan_trace import PlanTrace
from telerobot_nodes.operator.requests import HaltStage, HaltWatch, OpenRequest, Outcome, Requests
from telerobot_nodes.operator.status import (
    Device,
    LinkSetting,
    PlanChange,
    PlanKind,
    QueueStatus,
    RobotStatus,
    SimulationStatus,
)
from telerobot_nodes.operator.surroundings import Solid

REQUEST_LIMIT = 2.0  # [s] a local service that is alive answers in milliseconds
NOTICES = 50  # kept

Answer = Callable[[Outcome, float], None]  # what happened, and when [s]


class CommandPort(Protocol):
    """Where commands leave: the operator's ROS client, or a recorder in tests. Must not block."""

    def call(self, command: Command, answer: Answer) -> None:
        """Send a command; `answer` is called once, later, on the caller's thread."""

    def halt(self, number: int, reason: str) -> None:
        """Tell the robot directly to stop, past every other node."""

    def stream(self, target: PoseTarget) -> None:
        """Send a pose target now."""


class Tone(Enum):
    """How a text is meant; views choose the colour."""

    GOOD = "good"
    PLAIN = "plain"
    QUIET = "quiet"
    WARN = "warn"
    BAD = "bad"


@dataclass(frozen=True)
class Notice:
    """Something the operator should know, heard at `time` [s]."""

    time: float
    text: str
    tone: Tone = Tone.PLAIN


@dataclass
class Heard:
    """When each source was last heard [s]; None: never."""

    queue: float | None = None
    robot: float | None = None
    simulation: float | None = None
    link: float | None = None


class OperatorClient:
    """Latest values of the graph, the plan as a line, open requests, halt, notices."""

    def __init__(self, port: CommandPort, request_limit: float = REQUEST_LIMIT) -> None:
        self._port = port
        self.queue = QueueStatus()
        self.robot = RobotStatus()
        self.simulation = SimulationStatus()
        self.link = LinkSetting()
        self.heard = Heard()
        self.trace = PlanTrace()
        self.other = PlanTrace()  # plan of who is in control, while it is another
        self.conflicts: FloatArray = np.empty((0, 2, 3))  # [m] stretches of the plan in conflict
        self.solids: tuple[Solid, ...] = ()  # what stands around the arm, and what its tool holds
        self.halt_watch = HaltWatch()
        self.requests = Requests(request_limit)
        self.notices: deque[Notice] = deque(maxlen=NOTICES)
        self._then: dict[int, Callable[[Outcome], None]] = {}

    # values in -----------------------------------------------------------------------------------------------

    def hear_queue(self, status: QueueStatus, now: float) -> None:
        """State of the plan queue; a new notice of it is kept."""
        if status.notice and status.notice != self.queue.notice:
            trouble = status.device is Device.HELD or (status.jumps, status.refused) != (
                self.queue.jumps,
                self.queue.refused,
            )
            self.note(status.notice, Tone.WARN if trouble else Tone.PLAIN, now)
        if status.has_authority and len(self.other):
            self.other.apply(PlanChange(PlanKind.RESET))  # what is left of it is part of the plan here
        self.queue, self.heard.queue = status, now

    def hear_robot(self, status: RobotStatus, now: float) -> None:
        """State of the robot's side; refusals and stops of it are kept."""
        if status.refused_number != self.robot.refused_number and status.refusal:
            self.note(f"robot refused: {status.refusal}", Tone.BAD, now)
        if status.mode is not self.robot.mode and status.reason:
            self.note(f"robot {status.mode.name.lower()}: {status.reason}", Tone.WARN, now)
        self.robot, self.heard.robot = status, now
        for trace in (self.trace, self.other):
            trace.progress(status.executed_seq, status.committed_seq)
        before = self.halt_watch.stage
        self.halt_watch.report(status)
        if self.halt_watch.stage is not before and before is HaltStage.ASKED:
            self.note(f"halt confirmed after {now - self.halt_watch.since:.1f} s", Tone.GOOD, now)

    def hear_simulation(self, status: SimulationStatus, now: float) -> None:
        """Forward simulation and estimate; a new predicted conflict is kept."""
        if status.conflict and _what(status.conflict) != _what(self.simulation.conflict):  # not at every point of it
            self.note(f"conflict ahead: {status.conflict}", Tone.WARN, now)
        self.simulation, self.heard.simulation = status, now

    def hear_link(self, setting: LinkSetting, now: float) -> None:
        """The link in force."""
        self.link, self.heard.link = setting, now

    def hear_plan(self, change: PlanChange) -> None:
        """The plan as it is laid."""
        self.trace.apply(change)

    def hear_other_plan(self, change: PlanChange) -> None:
        """The plan of who is in control: a stand-by must see where to meet it [US5046022 claim 28]."""
        if not self.queue.has_authority and not change.trial:
            self.other.apply(change)

    def hear_conflicts(self, stretches: FloatArray) -> None:
        """Ends (n, 2, 3) [m] in WORLD of the stretches of the plan in conflict."""
        self.conflicts = finite_array(stretches, "conflicts").reshape(-1, 2, 3)

    def hear_solids(self, solids: Iterable[Solid]) -> None:
        """Every obstacle in force."""
        self.solids = tuple(solids)

    # commands out --------------------------------------------------------------------------------------------

    def ask(self, command: Command, now: float, then: Callable[[Outcome], None] | None = None) -> int:
        """Send a command; its ticket. The outcome, or the lack of one, is noted and given to `then` exactly once."""
        if isinstance(command, Halt):
            self.halt_watch.asked(command.reason, self.robot, now)
            self._port.halt(self.robot.halt_number + 1, command.reason)
        ticket = self.requests.open(command, now)
        if then is not None:
            self._then[ticket] = then

        def answer(outcome: Outcome, when: float) -> None:
            request = self.requests.close(ticket)
            if request is not None:
                self._finish(request, outcome, when)

        self._port.call(command, answer)
        return ticket

    def send_pose_target(self, target: PoseTarget) -> None:
        """Send a pose target; a stream without answers."""
        self._port.stream(target)

    def tick(self, now: float) -> None:
        """End requests that nobody answered, and say so; repeat a halt that is not confirmed. Call at 10 Hz."""
        if self.halt_watch.stage is HaltStage.ASKED:
            self._port.halt(self.robot.halt_number + 1, self.halt_watch.reason)
        for request in self.requests.expired(now):
            self._finish(request, Outcome(False, f"no answer in {self.requests.limit:g} s"), now)

    def refuse(self, reason: str, now: float) -> None:
        """A command was not sent at all, and why."""
        self.note(reason, Tone.BAD, now)

    def note(self, text: str, tone: Tone, now: float) -> None:
        """Keep a notice; the same text again only renews its time."""
        if self.notices and self.notices[-1].text == text:
            self.notices.pop()
        self.notices.append(Notice(now, text, tone))

    def _finish(self, request: OpenRequest, outcome: Outcome, now: float) -> None:
        if outcome.done and isinstance(request.command, Resume):
            self.halt_watch.resumed()
        text = f"{request.command}: {outcome.text}" if outcome.text else str(request.command)
        self.note(text, Tone.PLAIN if outcome.done else Tone.BAD, now)
        then = self._then.pop(request.ticket, None)
        if then is not None:
            then(outcome)


def _what(conflict: str) -> str:
    """The conflict without place and amount, which change as the arm executes."""
    return re.sub(r"\d+\.\d+", "", conflict.partition(",")[0])
