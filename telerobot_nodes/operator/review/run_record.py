"""A recorded run as arrays: the values of each topic that the review needs, on the clock of the recorder.

Every time is the receipt at the recorder [s, from the bag's start], so the clocks of two hosts need not agree.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np

from telerobot_nodes.core.protocol import UpdateKind
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.operator.devices import InputCounts

NOT_CLOSED = "the recording was not closed: what came after its last whole chunk is missing"


@dataclass(frozen=True)
class PlanChange:
    """One PlanUpdate of the plan (not of the trial path)."""

    time: float  # [s] receipt
    kind: UpdateKind
    first_seq: int
    plan_time: FloatArray  # (n,) [s]
    position: FloatArray  # (n, 3) [m] tool in WORLD
    after_seq: int


@dataclass(frozen=True)
class Executed:
    """One ExecutedPoints: points first_seq .. last_seq were reached."""

    time: float  # [s] receipt
    first_seq: int
    last_seq: int


@dataclass(frozen=True)
class Ended:
    """A command or primitive that ended."""

    start: float  # [s]
    end: float  # [s] receipt of its report
    name: str
    succeeded: bool


class EventKind(Enum):
    """What an event of the timeline is about."""

    PLAN = "plan"
    CONFLICT = "conflict"
    POSITION_CLUTCH = "position clutch"
    TIME_CLUTCH = "time clutch"
    ORIENTATION_CLUTCH = "orientation clutch"
    RATIO = "time ratio"
    HAND_SCALE = "hand scale"
    GRIPPER = "gripper"
    BRAKE = "time brake"
    NOTICE = "notice"
    STALE = "stale"
    HOLDER = "holder"
    ASKER = "asker"
    CONTROL = "control"
    EXECUTOR = "executor"
    HARDWARE = "hardware"
    HALT = "halt"
    ESTOP = "e-stop"
    COMMAND = "command"
    PRIMITIVE = "primitive"
    FORCE = "force"
    LINK = "link"
    REFUSAL = "refusal"


@dataclass(frozen=True)
class Event:
    """One line of the timeline."""

    time: float  # [s] receipt
    source: str  # who: operator or node
    kind: EventKind
    text: str  # for people


@dataclass
class Rows:
    """A table that grows by rows or is filled by columns; `array(name)` gives one column."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]] = field(default_factory=list)
    _filled: dict[str, Any] = field(default_factory=dict)

    def add(self, *row: Any) -> None:
        """Append one row, in the order of `columns`."""
        self.rows.append(row)

    def fill(self, **arrays: Any) -> None:
        """Set every column, each (n,) or (n, dof)."""
        self._filled = {name: arrays[name] for name in self.columns}

    def array(self, name: str) -> Any:
        """Column as array, (n,) or (n, dof)."""
        if self._filled:
            return self._filled[name]
        index = self.columns.index(name)
        return np.array([row[index] for row in self.rows])

    def lengths(self, name: str) -> set[int]:
        """Different lengths of the arrays in a column."""
        if self._filled:
            return {self._filled[name].shape[1]}
        return {len(row[self.columns.index(name)]) for row in self.rows}

    def __len__(self) -> int:
        return len(self._filled[self.columns[0]]) if self._filled else len(self.rows)


@dataclass
class RunRecord:
    """Values of a run that checks and plots read; unchanged after `read_run`."""

    path: Path
    start: float = 0.0  # [s] ROS time of the first receipt
    duration: float = 0.0  # [s]
    robot: str = ""  # name from the nodes' diagnostics; empty: not recorded
    plan: list[PlanChange] = field(default_factory=list)
    executed: list[Executed] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    joint_names: tuple[str, ...] = ()
    joints: Rows = field(default_factory=lambda: Rows(("time", "position")))
    control: Rows = field(
        default_factory=lambda: Rows(
            ("time", "monotonic", "number", "state", "plan_time", "position", "velocity", "acceleration")
        )
    )
    setpoints: Rows = field(
        default_factory=lambda: Rows(("time", "monotonic", "number", "position", "velocity", "acceleration"))
    )
    forward: Rows = field(default_factory=lambda: Rows(("time", "head_time", "robot_time", "lead", "data_age")))
    queue: Rows = field(default_factory=lambda: Rows(("time", "length", "lead", "jumps", "refused", "round_trip")))
    controls: Rows = field(  # of the operator whose queue was recorded
        default_factory=lambda: Rows(
            (
                *("time", "time_clutch", "position_clutch", "orientation_clutch", "time_ratio"),
                *("linear_scale", "angular_scale", "brake_rate", "trial_length", "gripper"),
            )
        )
    )
    wrench: Rows = field(default_factory=lambda: Rows(("time", "force", "torque")))  # (n, 3) [N], [N m] SENSOR
    authority: Rows = field(default_factory=lambda: Rows(("time", "holder", "asker", "granted")))
    trials: list[PlanChange] = field(default_factory=list)  # of the trial path
    device: Rows = field(default_factory=lambda: Rows(("time", "position", "frame")))
    crossings: dict[tuple[str, int], list[float]] = field(default_factory=dict)  # (topic side, number) -> receipts
    commands: dict[int, str] = field(default_factory=dict)  # number -> outcome, of those that ended; no trials
    primitives: list[Ended] = field(default_factory=list)
    ended: list[Ended] = field(default_factory=list)  # commands
    link: dict[str, Any] = field(default_factory=dict)  # latest LinkStatus
    diagnostics: dict[str, dict[str, str]] = field(default_factory=dict)  # node -> latest values
    refusals: dict[str, list[str]] = field(default_factory=dict)  # node -> distinct refusals
    _latest: dict[EventKind, Any] = field(default_factory=dict)

    @property
    def device_samples(self) -> InputCounts:
        """Samples of the device, as the latest diagnostics count them."""
        return InputCounts.of(self.diagnostics.get("path_plan_queue", {}), self.diagnostics.get("operator_input", {}))

    def changed(self, time: float, source: str, kind: EventKind, value: Any, text: str) -> None:
        """Append an event when the value of its kind has changed; a change without a text is not shown."""
        if self._latest.get(kind) != value:
            self._latest[kind] = value
            if text:
                self.events.append(Event(time, source, kind, text))

    def assume(self, kind: EventKind, value: Any) -> None:
        """Take a value as known from the start: no event until it is another."""
        self._latest.setdefault(kind, value)

    def refuse(self, time: float, source: str, reason: str) -> None:
        """Record a refusal once."""
        known = self.refusals.setdefault(source, [])
        if reason and reason not in known:
            known.append(reason)
            self.events.append(Event(time, source, EventKind.REFUSAL, f"refused: {reason}"))

    def leave_out(self, topic: str, count: int) -> None:
        """Note messages that no node could take."""
        if count:
            self.refuse(
                self.duration, topic, f"{count} messages, for their arrays are not as long as those of the others"
            )

    def finish(self, closed: bool) -> None:
        """Put the events in order; at the end of a recording that was not `closed` there is one more."""
        if not closed:
            self.events.append(Event(self.duration, "bag_recorder", EventKind.NOTICE, NOT_CLOSED))
        self.events.sort(key=lambda event: event.time)
