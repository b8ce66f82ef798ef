"""One robot arm as an object, for any program: a script, a notebook, a node, a panel [US5231693].

It receives on a thread of its own, or on that of the node which carries it. Every method may be called from any other
thread; no wait is longer than its limit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from threading import Condition, Event
from types import TracebackType
from typing import Any

import numpy as np
from rclpy.duration import Duration
from trajectory_msgs.msg import JointTrajectory

from telerobot_nodes.core.protocol import identity, trial_of
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.nodes.clients.discovery import QUEUE, find_prefix
from telerobot_nodes.nodes.clients.operator_client import RosPort, connect, offered
from telerobot_nodes.nodes.clients.under_way import (
    Carrier,
    Ongoing,
    OwnCarrier,
    Primitives,
    RunningPrimitive,
    RunningSequence,
    RunningText,
    Sequences,
    Texts,
)
from telerobot_nodes.nodes.messages import pose_to_array
from telerobot_nodes.operator.client import (
    Answer,
    Command,
    CommandResult,
    Confirmation,
    EStop,
    Halt,
    HaltStage,
    Move,
    MoveEnd,
    MoveGoal,
    MoveResult,
    OperatorClient,
    OperatorWords,
    Outcome,
    PlanLines,
    PoseTarget,
    PrimitiveStep,
    Result,
    RobotState,
    Solid,
    state_of,
)
from telerobot_nodes.operator.view import ConsoleView, plan_lines, view

DISPLAY_LOOK = 0.05  # [s]
STEP_PERIOD = 0.04  # [s] of motions; a halt that is not confirmed is repeated as often
DISCOVERY_LIMIT = 3.0  # [s] for a queue to be found; a robot's own host may have none
FIRST_STATES_LIMIT = 10.0  # [s] for the first states of those found
LISTEN_PERIOD = 0.1  # [s] between views for listeners
SERVED_LIMIT = 3.0  # [s] to find the node that serves a command
REQUEST_LIMIT = 10.0  # [s] for its answer
STOP_LIMIT = 10.0  # [s] for the robot to confirm a halt or an e-stop
TEXT_LIMIT = 3600.0  # [s] for a text or a primitive to end
_SENDERS = count(1)


class RunningMove(Ongoing[None, MoveResult]):
    """A motion over the plan."""

    def __init__(self, changed: Condition, goal: MoveGoal, client: OperatorClient) -> None:
        limit = goal.limit + SERVED_LIMIT
        super().__init__(changed, MoveResult(MoveEnd.SILENT, "the client's node is not spun"), limit)
        self._move, self._client = Move(goal), client

    def begin(self, now: float) -> None:
        """Take the start from the plan's end."""
        self._move.begin(self._client, now)

    def stop(self) -> None:
        """Send no more of it; the points sent stay in the plan."""
        with self._changed:
            self._move.stop(self._client)
            self.step(0.0)

    def step(self, now: float) -> None:
        """Send the next target, on the graph's side."""
        target = self._move.step(self._client, now)
        if target is not None:
            self._client.send_pose_target(target)
        if self._move.result is not None:
            self.finish(self._move.result)


class _Port(RosPort):
    """Sends as RosPort does; the answers come under the lock of the robot."""

    def __init__(self, carrier: Carrier, agent: str) -> None:
        super().__init__(carrier, "", offered("demo"), agent)
        self._guarded = carrier.guarded

    def call(self, command: Command, answer: Answer) -> None:
        super().call(command, self._guarded(answer))


class Robot(OperatorWords):
    """One arm. Made by `telerobot_nodes.client.connect`; a context manager."""

    def __init__(self, carrier: Carrier, changed: Condition, name: str) -> None:
        """Raises NoGraphError when neither plan queue nor executor is found."""
        self._carrier, self._changed = carrier, changed
        self._moves: list[RunningMove] = []
        self._waiting: list[tuple[Command, float, Ongoing[None, Outcome]]] = []  # until it is served, or the time [s]
        self._listeners: list[Callable[[ConsoleView], None]] = []
        self._told = 0.0  # [s]
        try:
            carrier.prefix = find_prefix(carrier, self._wait)
            self.agent = f"{identity(name)}.{next(_SENDERS)}"  # each robot of a process numbers its own halts
            self._port = _Port(carrier, self.agent)
            with changed:
                self._client = connect(carrier, self._port, REQUEST_LIMIT)
                self._texts = Texts(carrier, changed, self.agent)
                self._primitives = Primitives(carrier, changed, self.agent)
                self._sequences = Sequences(carrier, changed, self.agent)
                self._camera_pose: FloatArray = np.empty(0)
                self._motions = carrier.publisher("forward_simulator/motion")
            carrier.subscribe("camera/pose", self._on_camera_pose)
            carrier.every(STEP_PERIOD, self._step)
            self._wait_for_first_states()
        except BaseException:
            carrier.close()
            raise

    # what is known ---------------------------------------------------------------------------------------------

    @property
    def state(self) -> RobotState:
        """State of robot, queue and simulation, as received until now."""
        with self._changed:
            return state_of(self._client, self._carrier.now())

    @property
    def plan(self) -> PlanLines:
        """The plan: executed, committed, ahead, trial."""
        with self._changed:
            return plan_lines(self._client)

    @property
    def solids(self) -> tuple[Solid, ...]:
        """Obstacles around the arm, and bodies that its tool holds."""
        with self._changed:
            return self._client.solids

    @property
    def camera_pose(self) -> FloatArray:
        """(7,) optical frame of the camera in WORLD, with its latest picture; empty: none was received."""
        return self._camera_pose

    @property
    def tasks(self) -> dict[int, str]:
        """Tasks shown to the operator now, by number."""
        with self._changed:
            return dict(self._texts.tasks)

    def view(self) -> ConsoleView:
        """The state as texts with units."""
        with self._changed:
            return view(self._client, self._carrier.now())

    def wait_until(self, ready: Callable[[RobotState], object], limit: float) -> bool:
        """Wait for a state; False after `limit` [s]."""
        with self._changed:
            return self._changed.wait_for(lambda: bool(ready(state_of(self._client, self._carrier.now()))), limit)

    def wait_ready(self, limit: float = 30.0) -> bool:
        """Wait until the arm would follow what is added to the plan; False after `limit` [s]."""
        return self.wait_until(lambda state: state.ready, limit)

    def listen(self, listener: Callable[[ConsoleView], None]) -> Callable[[], None]:
        """Call `listener` with a view 10 times a second until what is returned is called; on the receiving thread."""
        with self._changed:
            self._listeners.append(listener)
        return lambda: self._forget(listener)

    def _forget(self, listener: Callable[[ConsoleView], None]) -> None:
        with self._changed:
            self._listeners = [other for other in self._listeners if other is not listener]

    # what it is asked ------------------------------------------------------------------------------------------

    def send(self, command: Command) -> Ongoing[None, Outcome]:
        """Send a command; its outcome is awaited or waited for.

        A halt, an e-stop, a reset, a tare and a resume end when the robot itself has confirmed or refused them.
        """
        stops = isinstance(command, (Halt, EStop))
        late = Outcome(Result.NO_ANSWER, "NOT CONFIRMED by the robot" if stops else "the client's node is not spun")
        limit = STOP_LIMIT if stops else 2.0 * REQUEST_LIMIT + Confirmation.limit(self._client.queue)
        sent: Ongoing[None, Outcome] = Ongoing(self._changed, late, limit)
        with self._changed:
            if stops:
                self._client.ask(command, self._carrier.now())
            self._waiting.append((command, self._carrier.now() + SERVED_LIMIT, sent))
            if not stops:
                self._send_waiting(self._carrier.now())
        return sent

    def ask(self, command: Command) -> Outcome:
        """Send a command and wait for its outcome."""
        return self.send(command).wait()

    def halt(self, reason: str = "program") -> Outcome:
        """Stop on the path and keep the plan; done when the robot has confirmed it. Repeated until then."""
        return self.ask(Halt(reason))

    def estop(self, reason: str = "program") -> Outcome:
        """Latch the e-stop; done when the robot has confirmed it. Repeated until then."""
        return self.ask(EStop(reason))

    def begin_move(
        self, position: object = None, orientation: object = None, speed: float = 0.1, limit: float = 120.0
    ) -> RunningMove:
        """Move the tool on a straight line over the plan; does not wait. Raises InvalidValueError.

        `position` (3,) [m] and `orientation` qx qy qz qw in WORLD, None: as at the plan's end; `speed` [m/s].
        """
        with self._changed:
            move = RunningMove(self._changed, MoveGoal(position, orientation, speed, limit), self._client)
            for other in self._moves:
                other.stop()
            move.begin(self._carrier.now())
            self._moves = [move]
            return move

    def move_to(
        self, position: object = None, orientation: object = None, speed: float = 0.1, limit: float = 120.0
    ) -> MoveResult:
        """Move the tool on a straight line over the plan, and wait until the arm is there: see `begin_move`."""
        return self.begin_move(position, orientation, speed, limit).wait()

    def aim(self, pose: FloatArray) -> None:
        """Send one target of a device of your own: tool pose (7,) in WORLD. Repeat it at 10 Hz or more."""
        with self._changed:
            self._client.send_pose_target(PoseTarget(pose))

    def primitive(self, name: str, limit: float = TEXT_LIMIT, **values: object) -> RunningPrimitive:
        """Run a primitive with parameters by name, in SI units; does not wait. docs/primitives.md lists them."""
        return self.begin_primitive(name, values, limit)

    def begin_primitive(self, name: str, values: Mapping[str, object], limit: float = TEXT_LIMIT) -> RunningPrimitive:
        """Run a primitive with parameters of any names: see `primitive`."""
        return self._primitives.begin(name, values, limit)

    def sequence(self, steps: Sequence[PrimitiveStep], name: str = "", limit: float = TEXT_LIMIT) -> RunningSequence:
        """Run primitives in order at the robot, which checks all before the first; does not wait.

        Raises InvalidValueError without a step.
        """
        return self._sequences.begin(name, steps, limit)

    def begin(self, text: str, limit: float = TEXT_LIMIT) -> RunningText:
        """Send a text to the decision unit; does not wait."""
        return self._texts.begin(text, limit)

    def run(self, text: str, limit: float = TEXT_LIMIT) -> CommandResult:
        """Send a text to the decision unit and wait for its end, or its answer."""
        return self.begin(text, limit).wait()

    def attempt(self, text: str, limit: float = TEXT_LIMIT) -> CommandResult:
        """Whether tasks would work in turn; nothing moves. `report.trial` of the result has their steps."""
        return self.run(trial_of(text), limit)

    def show_motion(self, motion: JointTrajectory) -> None:
        """Let the forward simulation draw a motion of the arm, in its own time. Nothing moves.

        Parts with one stamp continue each other, with times from the motion's begin; another stamp replaces it, and
        one without points ends it. A part has at most 2000 points, and the names of the arm's joints.
        """
        self._motions.publish(motion)

    def wait_for_display(self, limit: float = DISCOVERY_LIMIT) -> bool:
        """Wait until a forward simulation is there and has received every motion shown; False after `limit` [s]."""
        end = self._carrier.now() + limit
        found = self._wait(lambda: self._motions.get_subscription_count() > 0, limit, DISPLAY_LOOK)
        left = max(end - self._carrier.now(), 0.0)
        return found and bool(self._motions.wait_for_all_acked(Duration(seconds=left)))

    def close(self) -> None:
        """Leave the graph. Commands under way continue; motions get no further points."""
        with self._changed:
            for move in self._moves:
                move.stop()
        self._carrier.close()

    def __enter__(self) -> Robot:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    # the graph's side ------------------------------------------------------------------------------------------

    def _step(self) -> None:
        now = self._carrier.now()
        self._client.tick(now)
        self._texts.step(now)
        self._primitives.step(now)
        self._sequences.step(now)
        self._send_waiting(now)
        for move in self._moves:
            move.step(now)
        self._moves = [move for move in self._moves if not move.ended]
        if self._listeners and now - self._told >= LISTEN_PERIOD:
            self._told = now
            seen = view(self._client, now)
            for listener in self._listeners:
                listener(seen)

    def _on_camera_pose(self, message: Any) -> None:
        self._camera_pose = pose_to_array(message.pose)

    def _send_waiting(self, now: float) -> None:
        """Send what is served now; finish the halts that are confirmed."""
        waiting, self._waiting = self._waiting, []
        for command, until, sent in waiting:
            if isinstance(command, (Halt, EStop)):
                stage = (self._client.halt_watch if isinstance(command, Halt) else self._client.estop_watch).stage
                if stage is not HaltStage.ASKED:
                    sent.finish(Outcome(Result.DONE, "confirmed by the robot"))
                    continue
            elif self._port.ready(command) or now > until:
                self._client.ask(command, now, sent.finish)
                continue
            self._waiting.append((command, until, sent))

    def _wait_for_first_states(self) -> None:
        """Wait for the first states of robot and queue; of a queue that is not found, no longer than finding takes."""
        received, topic = self._client.received, self._carrier.topic_name(QUEUE)
        if self.wait_until(lambda _: received.robot is not None and received.queue is not None, DISCOVERY_LIMIT):
            return
        queued = self._carrier.node.count_publishers(topic) > 0
        self.wait_until(
            lambda _: received.robot is not None and (received.queue is not None or not queued), FIRST_STATES_LIMIT
        )

    def _wait(self, ready: Callable[[], object], limit: float, look: float) -> bool:
        """Wait for what is found in the graph, which wakes nobody."""
        end, pause = self._carrier.now() + limit, Event()
        while not ready():
            if self._carrier.now() > end:
                return False
            pause.wait(look)
        return True


def open_robot(namespace: str = "", name: str = "program", node: Any = None) -> Robot:
    """A robot on a node of its own, or on `node`, which somebody else spins. Raises NoGraphError."""
    changed = Condition()
    namespace = namespace.strip("/")
    if node is not None:
        return Robot(Carrier(node, changed, f"/{namespace}/" if namespace else ""), changed, name)
    return Robot(OwnCarrier(re.sub(r"\W", "_", name), namespace, changed), changed, name)
