"""The graph as it was at any time of a recording, given to an operator's client; nothing leaves the client.

Each state is the latest message of its topic. The plan is made of its changes: those that were executed long ago are
left out, and forward in time only the new ones are applied.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from telerobot_nodes.core.protocol import UpdateKind
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.graph import OPERATOR_SIDE
from telerobot_nodes.operator.client import (
    Answer,
    LastReceived,
    LinkSetting,
    OperatorClient,
    Outcome,
    PeerStatus,
    PlanChange,
    QueueStatus,
    Result,
    SimulationStatus,
    Tone,
    commands,
    lines_from_markers,
    plan_change_from_message,
    robot_from_message,
    solids_from_message,
    status_from_message,
)
from telerobot_nodes.operator.recording import BagReader, Bytes, Places
from telerobot_nodes.operator.review import Event

BEHIND = 300  # executed points shown
CHANGES_KEPT = 20_000  # decoded
EVENTS_SHOWN = 4
NOTHING_SENT = "this is a recording: nothing is sent"


class _NoGraph:
    """A port to nothing."""

    def call(self, command: commands.Command, answer: Answer) -> None:
        answer(Outcome(Result.REFUSED, NOTHING_SENT), 0.0)

    def halt(self, number: int, reason: str) -> None:
        """Sends nothing."""

    def estop(self, number: int, reason: str) -> None:
        """Sends nothing."""

    def stream(self, target: commands.PoseTarget) -> None:
        """Sends nothing."""


class RecordedClient(OperatorClient):
    """A client that shows and never asks."""

    def __init__(self) -> None:
        super().__init__(_NoGraph())
        self.at = 0.0  # [s] time of the recording that is shown

    def refuse(self, reason: str, now: float) -> None:
        """Record why nothing was sent, at the time that is shown."""
        super().refuse(reason, self.at)

    def stop(self, command: commands.Halt | commands.EStop, now: float) -> None:
        """Send nothing."""

    def note_stop(self, command: commands.Halt | commands.EStop, now: float) -> None:
        """Say that nothing was sent."""
        self.refuse(f"{command}: {NOTHING_SENT}", now)

    def ask(self, command: commands.Command, now: float, then: Callable[[Outcome], None] | None = None) -> int:
        """Refuse: there is nothing to ask."""
        self.refuse(f"{command}: {NOTHING_SENT}", now)
        return 0


class RecordedGraph:
    """Fills `client` from the topics of one arm. Raises InvalidValueError naming bag and topic.

    `joint_names`: of the robot that is drawn; a recording of another one is refused.
    """

    def __init__(self, bag: BagReader, prefix: str, joint_names: Sequence[str], events: list[Event]) -> None:
        self._bag, self._prefix, self._events = bag, prefix, events
        self.client = RecordedClient()
        self._states = [(*self._topic(name), show) for name, show in self._shows().items()]
        self._plan_topic, self._plan = self._topic("path_plan_queue/plan")
        self._change = lru_cache(maxsize=CHANGES_KEPT)(self._read_change)
        self._applied = 0  # changes in the client's plan
        self._resets = self._of_resets()
        self._shown: dict[str, int] = {}
        self._times = [event.time for event in events]
        self._told = -1
        self._check(joint_names)

    def show(self, time: float) -> None:
        """Set the client to `time` [s, from the bag's start]."""
        if any(topic in self._shown and self._latest(places, time) < 0 for topic, places, _ in self._states):
            self.client.received = LastReceived()  # before the first message of a topic
            self._shown.clear()
        for topic, places, show in self._states:
            at = self._latest(places, time)
            if at >= 0 and self._shown.get(topic) != at:
                received = float(self._bag.seconds(places[at : at + 1])[0])
                show(self._bag.decode(topic, self._message(places, at)), received)
                self._shown[topic] = at
        self._show_plan(self._latest(self._plan, time) + 1)
        self.client.at = time
        self._tell(bisect_right(self._times, time))

    def _tell(self, past: int) -> None:
        """Show the latest of the first `past` events as notices; a refusal stays until there are others."""
        if past == self._told:
            return
        self._told = past
        self.client.notices.clear()
        for event in self._events[max(0, past - EVENTS_SHOWN) : past]:
            self.client.note(f"{event.source}: {event.text}", Tone.PLAIN, event.time)

    def _shows(self) -> dict[str, Callable[[Any, float], None]]:
        client, arm = self.client, self._prefix.strip("/").replace("/", "_") or "arm"
        return {
            "path_plan_queue/state": lambda m, t: client.receive_queue(status_from_message(QueueStatus, m), t),
            "plan_executor/state": lambda m, t: client.receive_robot(robot_from_message(m), t),
            "forward_simulator/state": lambda m, t: client.receive_simulation(
                status_from_message(SimulationStatus, m), t
            ),
            "link/state": lambda m, t: client.receive_peer(status_from_message(PeerStatus, m), t),
            "link_emulator/status": lambda m, t: client.receive_link(status_from_message(LinkSetting, m), t),
            "forward_simulator/markers": lambda m, t: client.receive_lines(**vars(lines_from_markers(m))),
            "forward_simulator/simulated": lambda m, t: client.receive_motion(m.position, t),
            "cspace_planner/world": lambda m, t: client.receive_solids(solids_from_message(m, arm)),
        }

    def _topic(self, name: str) -> tuple[str, Places]:
        """A topic as the operator's side received it, where that was recorded."""
        for topic in (f"{self._prefix}{OPERATOR_SIDE}{name}", f"{self._prefix}{name}"):
            places = self._bag.index.places(topic)
            if len(places.time):
                break
        return topic, places

    def _latest(self, places: Places, time: float) -> int:
        return int(np.searchsorted(self._bag.seconds(places), time, side="right")) - 1

    def _message(self, places: Places, number: int) -> Bytes:
        return next(self._bag.index.messages(places[number : number + 1]))

    def _check(self, joint_names: Sequence[str]) -> None:
        topic = f"{self._prefix}joint_states"
        for _, data in self._bag.each(topic):
            names = list(self._bag.decode(topic, data).name)
            missing = [name for name in joint_names if name not in names]
            if missing:
                field = f"{self._bag.path}: {topic}: name"
                raise InvalidValueError(field, names, f"allowed: holding {', '.join(missing)}; give --robot")
            return

    # the plan ---------------------------------------------------------------------------------------------------

    def _of_resets(self) -> Any:
        """Numbers of the changes after which nothing older is part of plan and trial path, and first points of all."""
        table = self._bag.columns(self._plan_topic, ["kind", "trial", "points.first_seq"])
        if not table:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        plain = table["trial"] == 0
        resets = np.flatnonzero(plain & (table["kind"] == UpdateKind.RESET))
        first = np.where(plain, table["points.first_seq"].astype(np.int64), 0)
        return resets, np.maximum.accumulate(first)

    def _show_plan(self, end: int) -> None:
        """Apply changes 0 .. end - 1, without those that no longer matter."""
        start = self._start(end)
        if end < self._applied or start > self._applied:
            for trial in (False, True):
                self.client.receive_plan(PlanChange(UpdateKind.RESET, trial=trial))
            self._applied = start
        for number in range(self._applied, end):
            self.client.receive_plan(self._change(number))
        self._applied = end

    def _start(self, end: int) -> int:
        resets, first = self._resets
        reset = int(np.searchsorted(resets, end)) - 1
        executed = int(np.searchsorted(first[:end], self.client.robot.executed_seq - BEHIND))
        return max(executed, int(resets[reset]) if reset >= 0 else 0)

    def _read_change(self, number: int) -> PlanChange:
        return plan_change_from_message(self._bag.decode(self._plan_topic, self._message(self._plan, number)))
