"""The operator as an object: status in, commands out. Console and terminal are views on it.

Methods take values and the time `now`. A command leaves through a `CommandPort`; its outcome arrives later, and
nothing here waits. What must never enter: ROS, clocks, sockets, widgets.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

import numpy as np

from telerobot_nodes.core.protocol import ESTOP_SENDER, DeviceState, ExecutorMode, LinkState, UpdateKind
from telerobot_nodes.core.values import FloatArray, finite_array
from telerobot_nodes.operator.client.commands import Command, EStop, Halt, PoseTarget, Resume
from telerobot_nodes.operator.client.plan_trace import PlanTrace
from telerobot_nodes.operator.client.requests import (
    UNGUARDED,
    Confirmation,
    Guard,
    HaltStage,
    HaltWatch,
    OpenRequest,
    Outcome,
    Requests,
    Result,
)
from telerobot_nodes.operator.client.status import (
    InputStatus,
    LinkSetting,
    PeerStatus,
    PlanChange,
    QueueStatus,
    RecorderStatus,
    RobotStatus,
    SimulationStatus,
)
from telerobot_nodes.operator.client.surroundings import Solid

REQUEST_LIMIT = 2.0  # [s] a local service that is alive answers in milliseconds
NOTICES = 50  # kept
PEERS = 100  # other hosts that are shown
STOP_SENT = "sent, repeated until the robot confirms"

Answer = Callable[[Outcome, float], None]  # what happened, and when [s]


class CommandPort(Protocol):
    """Where commands leave: the ROS client of the operator, or a recorder in tests. Must not block."""

    def call(self, command: Command, answer: Answer) -> None:
        """Send a command; `answer` is called once, later, on the caller's thread."""

    def halt(self, number: int, reason: str) -> None:
        """Send a halt directly to the robot, past every other node."""

    def estop(self, number: int, reason: str) -> None:
        """Send an e-stop directly to the robot, past every other node."""

    def stream(self, target: PoseTarget) -> None:
        """Send a pose target now."""


class Tone(Enum):
    """Meaning of a text; views choose the colour."""

    GOOD = "good"
    PLAIN = "plain"
    QUIET = "quiet"
    WARN = "warn"
    BAD = "bad"


@dataclass(frozen=True)
class Notice:
    """A text that the operator should know, received at `time` [s]."""

    time: float
    text: str
    tone: Tone = Tone.PLAIN


@dataclass
class LastReceived:
    """Receipt of the latest status of each source [s]; None: none yet."""

    queue: float | None = None
    robot: float | None = None
    simulation: float | None = None
    motion: float | None = None
    link: float | None = None
    peers: float | None = None
    recorder: float | None = None
    input: float | None = None


class OperatorClient:
    """Latest values of the graph, the plan as a line, open requests, halt, notices."""

    def __init__(
        self,
        port: CommandPort,
        request_limit: float = REQUEST_LIMIT,
        agent: str = "operator",
        guard: Guard = UNGUARDED,
    ) -> None:
        """`agent`: who halts, as `port` reports it to the robot. `guard`: a lock where other threads may `stop` it."""
        self._port = port
        self.queue = QueueStatus()
        self.robot = RobotStatus()
        self.simulation = SimulationStatus()
        self.link = LinkSetting()
        self.peers: dict[str, PeerStatus] = {}  # the link to each other host, by its name
        self.recorder = RecorderStatus()
        self.input = InputStatus()
        self.received = LastReceived()
        self.trace = PlanTrace()
        self.other = PlanTrace()  # plan of the operator with authority, while that is another one
        self.conflicts: FloatArray = np.empty((0, 2, 3))  # [m] stretches of the plan in conflict
        self.motion_path: FloatArray = np.empty((0, 3))  # [m] of the tool in a simulated or practised motion
        self.motion_joints: FloatArray = np.empty(0)  # [rad] of its arm
        self.solids: tuple[Solid, ...] = ()  # obstacles around the arm, and bodies that its tool holds
        self.halt_watch = HaltWatch(agent, port.halt, lambda robot: robot.mode is ExecutorMode.HALTED, guard=guard)
        self.estop_watch = HaltWatch(
            ESTOP_SENDER + agent, port.estop, lambda robot: robot.estop, at_once=False, guard=guard
        )
        self.requests = Requests(request_limit)
        self.notices: deque[Notice] = deque(maxlen=NOTICES)
        self._then: dict[int, Callable[[Outcome], None]] = {}
        self._confirmations: dict[int, Confirmation] = {}  # of requests that the queue has passed on to the robot

    # values in -----------------------------------------------------------------------------------------------

    def receive_queue(self, status: QueueStatus, now: float) -> None:
        """Status of the plan queue; a new notice is recorded."""
        if status.notice and status.notice != self.queue.notice:
            trouble = status.device is DeviceState.HELD or (status.jumps, status.refused) != (
                self.queue.jumps,
                self.queue.refused,
            )
            self.note(status.notice, Tone.WARN if trouble else Tone.PLAIN, now)
        if status.has_authority and len(self.other):
            self.other.apply(PlanChange(UpdateKind.RESET))  # its remainder is part of the plan here
        self.queue, self.received.queue = status, now
        for confirmation in self._confirmations.values():
            confirmation.receive_queue(status)
        self._confirm(now)

    def receive_robot(self, status: RobotStatus, now: float) -> None:
        """Status of the robot's side; new refusals and stops are recorded as notices."""
        if status.refused_number != self.robot.refused_number and status.refusal:
            self.note(f"robot refused: {status.refusal}", Tone.BAD, now)
        if status.mode is not self.robot.mode and status.reason:
            tone = Tone.PLAIN if status.mode is ExecutorMode.STARTING else Tone.WARN
            self.note(f"robot {status.mode.name.lower()}: {status.reason}", tone, now)
        self.robot, self.received.robot = status, now
        for trace in (self.trace, self.other):
            trace.progress(status.executed_seq, status.committed_seq)
        for word, watch in (("halt", self.halt_watch), ("e-stop", self.estop_watch)):
            before = watch.stage
            watch.report(status)
            if watch.stage is not before and before is HaltStage.ASKED:
                ended = "" if watch.stage is HaltStage.CONFIRMED else ", and ended by another operator"
                self.note(f"{word} confirmed after {now - watch.since:.1f} s{ended}", Tone.GOOD, now)
        self._confirm(now)

    def receive_simulation(self, status: SimulationStatus, now: float) -> None:
        """Status of the forward simulation; a new predicted conflict is recorded as a notice."""
        before = (self.simulation.conflict_kind, self.simulation.conflict_subject)
        if status.conflicts and (status.conflict_kind, status.conflict_subject) != before:
            self.note(f"conflict ahead: {status.conflict}", Tone.WARN, now)
        elif status.conflict and not status.conflicts and status.conflict != self.simulation.conflict:
            self.note(status.conflict, Tone.WARN, now)
        self.simulation, self.received.simulation = status, now

    def receive_link(self, setting: LinkSetting, now: float) -> None:
        """Settings of the emulated link."""
        self.link, self.received.link = setting, now

    def receive_peer(self, status: PeerStatus, now: float) -> None:
        """State of the link to another host; a new state is recorded as a notice."""
        before = self.peers.get(status.peer)
        if before is None and len(self.peers) >= PEERS:
            return
        if before is not None and status.state is not before.state:
            tone = Tone.GOOD if status.state is LinkState.FRESH else Tone.WARN
            self.note(f"link to {status.peer}: {status.word} {status.reason}".rstrip(), tone, now)
        self.peers[status.peer], self.received.peers = status, now

    def receive_recorder(self, status: RecorderStatus, now: float) -> None:
        """Status of the recorder; a new failure is recorded as a notice."""
        if status.failure and status.failure != self.recorder.failure:
            self.note(f"recording failed: {status.failure}", Tone.BAD, now)
        self.recorder, self.received.recorder = status, now

    def receive_input(self, status: InputStatus, now: float) -> None:
        """Status of the operator's input: the mode of control."""
        self.input, self.received.input = status, now

    def receive_plan(self, change: PlanChange) -> None:
        """A change of the recorded plan."""
        self.trace.apply(change)

    def receive_other_plan(self, change: PlanChange) -> None:
        """A change of the plan of the operator with authority: a stand-by needs to see it [US5046022 claim 28]."""
        if not self.queue.has_authority and not change.trial:
            self.other.apply(change)

    def receive_lines(self, conflicts: FloatArray, motion: FloatArray) -> None:
        """What the forward simulator draws, WORLD.

        `conflicts` (n, 2, 3) [m]: ends of the stretches in conflict. `motion` (n, 3) [m]: the tool's path in a
        simulated or practised motion.
        """
        self.conflicts = finite_array(conflicts, "conflicts").reshape(-1, 2, 3)
        self.motion_path = finite_array(motion, "motion").reshape(-1, 3)

    def receive_motion(self, joints: Sequence[float], now: float) -> None:
        """Joints [rad] of the arm in a simulated or practised motion now."""
        self.motion_joints, self.received.motion = finite_array(joints, "motion"), now

    def receive_solids(self, solids: Iterable[Solid]) -> None:
        """Every obstacle in force."""
        self.solids = tuple(solids)

    # commands out --------------------------------------------------------------------------------------------

    def ask(self, command: Command, now: float, then: Callable[[Outcome], None] | None = None) -> int:
        """Send a command; returns its ticket. The outcome is recorded as a notice and passed to `then` exactly once.

        That of a reset, tare or resume is the robot's own, not the queue's, which has only sent it.
        """
        if isinstance(command, Halt | EStop):
            self.stop(command, now)
        ticket = self.requests.open(command, now)
        if then is not None:
            self._then[ticket] = then

        def answer(outcome: Outcome, when: float) -> None:
            if not (outcome.done and Confirmation.concerns(command)):
                self._end(ticket, outcome, when)
            elif self.requests.extend(ticket, Confirmation.limit(self.queue)):
                self._confirmations[ticket] = Confirmation(command)

        if isinstance(command, Halt | EStop):
            answer(Outcome(Result.DONE, STOP_SENT), now)
        elif isinstance(command, Resume) and self.halt_watch.stage is HaltStage.ASKED:
            answer(Outcome(Result.REFUSED, "the halt is not confirmed; allowed: after the robot has confirmed it"), now)
        else:
            self._port.call(command, answer)
        return ticket

    def stop(self, command: Halt | EStop, now: float) -> None:
        """Send a halt or an e-stop at once; from any thread, if the client has a lock. `note_stop` records it."""
        (self.halt_watch if isinstance(command, Halt) else self.estop_watch).ask(command.reason, now)

    def note_stop(self, command: Halt | EStop, now: float) -> None:
        """Record a stop that was sent."""
        self.note(f"{command}: {STOP_SENT}", Tone.PLAIN, now)

    def send_pose_target(self, target: PoseTarget) -> None:
        """Send a pose target; pose targets have no answers."""
        self._port.stream(target)

    def tick(self, now: float) -> None:
        """End unanswered requests with a notice and repeat a halt that is not confirmed. Call at 10 Hz."""
        self.halt_watch.step(now)
        self.estop_watch.step(now)
        for request in self.requests.expired(now):
            sent = self._confirmations.pop(request.ticket, None) is not None
            why = f"no answer in {self.requests.limit:g} s"
            if sent:
                why = f"sent; the robot has not confirmed it in {now - request.since:.0f} s"
            self._finish(request, Outcome(Result.NO_ANSWER, why), now)

    def refuse(self, reason: str, now: float) -> None:
        """Record why a command was not sent."""
        self.note(reason, Tone.BAD, now)

    def note(self, text: str, tone: Tone, now: float) -> None:
        """Record a notice; a repeated text only renews the time of the latest one."""
        if self.notices and self.notices[-1].text == text:
            self.notices.pop()
        self.notices.append(Notice(now, text, tone))

    def _confirm(self, now: float) -> None:
        """End the requests that the robot has answered."""
        if self.received.robot is None:
            return
        for ticket, confirmation in list(self._confirmations.items()):
            outcome = confirmation.outcome(self.queue, self.robot, self.received.robot)
            if outcome is not None:
                del self._confirmations[ticket]
                self._end(ticket, outcome, now)

    def _end(self, ticket: int, outcome: Outcome, now: float) -> None:
        request = self.requests.close(ticket)
        if request is not None:
            self._finish(request, outcome, now)

    def _finish(self, request: OpenRequest, outcome: Outcome, now: float) -> None:
        text = f"{request.command}: {outcome.text}" if outcome.text else str(request.command)
        self.note(text, Tone.PLAIN if outcome.done else Tone.BAD, now)
        then = self._then.pop(request.ticket, None)
        if then is not None:
            then(outcome)
