"""A recorded run as arrays: the values of each topic that the review needs, on the clock of the recorder.

Every time is the receipt at the recorder [s, from the bag's start], so the clocks of two hosts need not agree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from pathlib import Path
from typing import Any

import numpy as np

from telerobot_nodes.core.protocol import ControlState, ExecutorMode, HardwareState, PrimitiveOutcome, UpdateKind
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.graph import OPERATOR_SIDE
from telerobot_nodes.operator.devices import InputCounts
from telerobot_nodes.operator.recording import BagReader

KEY_TOPIC = "path_plan_queue/plan"  # its name holds the arm's namespace
ENDED = 2  # CommandReport.msg
_OWN_PLAN = "the recorded operator's plan, beside the one in force"  # read for its trial path


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


class EventKind(Enum):
    """What an event of the timeline is about."""

    PLAN = "plan"
    CONFLICT = "conflict"
    POSITION_CLUTCH = "position clutch"
    TIME_CLUTCH = "time clutch"
    BRAKE = "time brake"
    NOTICE = "notice"
    STALE = "stale"
    HOLDER = "holder"
    ASKER = "asker"
    CONTROL = "control"
    EXECUTOR = "executor"
    HARDWARE = "hardware"
    HALT = "halt"
    LINK = "link"
    REFUSAL = "refusal"


@dataclass(frozen=True)
class Event:
    """One line of the timeline."""

    time: float  # [s] receipt
    source: str  # node
    kind: EventKind
    text: str  # for people


@dataclass
class Rows:
    """A growing table; `array(name)` gives one column."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]] = field(default_factory=list)

    def add(self, *row: Any) -> None:
        """Append one row, in the order of `columns`."""
        self.rows.append(row)

    def array(self, name: str) -> Any:
        """Column as array, (n,) or (n, dof)."""
        index = self.columns.index(name)
        return np.array([row[index] for row in self.rows])

    def __len__(self) -> int:
        return len(self.rows)


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
        default_factory=lambda: Rows(("time", "time_clutch", "position_clutch", "brake_rate", "trial_length"))
    )
    authority: Rows = field(default_factory=lambda: Rows(("time", "holder", "asker", "granted")))
    trials: list[PlanChange] = field(default_factory=list)  # of the trial path
    device: Rows = field(default_factory=lambda: Rows(("time", "position", "frame")))
    crossings: dict[tuple[str, int], list[float]] = field(default_factory=dict)  # (topic side, number) -> receipts
    commands: dict[int, str] = field(default_factory=dict)  # number -> outcome, of those that ended; no trials
    primitives: list[bool] = field(default_factory=list)  # whether each that ended succeeded
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

    def refuse(self, time: float, source: str, reason: str) -> None:
        """Record a refusal once."""
        known = self.refusals.setdefault(source, [])
        if reason and reason not in known:
            known.append(reason)
            self.events.append(Event(time, source, EventKind.REFUSAL, f"refused: {reason}"))


def read_run(path: Path, namespace: str | None = None) -> RunRecord:
    """Read a bag; `namespace` picks the arm when the bag holds several.

    Raises InvalidValueError when the bag is not readable or holds no plan topic.
    """
    with BagReader(path) as bag:
        prefix = _prefix(bag.topics, namespace, path)
        names = {f"{prefix}{name}": name for name in _READERS if name != _OWN_PLAN}
        names["/diagnostics"] = "diagnostics"
        names[f"{prefix}{KEY_TOPIC}"] = _OWN_PLAN
        names[_plan_in_force(bag, prefix)] = KEY_TOPIC
        run = RunRecord(path=path, start=bag.start, duration=bag.duration)
        for topic, time, message in bag.messages(set(names)):
            _READERS[names[topic]](run, time, message)
    return run


def _plan_in_force(bag: BagReader, prefix: str) -> str:
    """Topic with the plan of whoever was in control; without one, the operator's own plan."""
    for topic in (f"{prefix}{OPERATOR_SIDE}plan_in_force", f"{prefix}plan_in_force"):
        if bag.counts.get(topic):
            return topic
    return f"{prefix}{KEY_TOPIC}"


def _prefix(topics: Iterable[str], namespace: str | None, path: Path) -> str:
    prefixes = sorted(name[: -len(KEY_TOPIC)] for name in topics if name.endswith(KEY_TOPIC))
    if namespace is not None:
        wanted = f"/{namespace.strip('/')}/".replace("//", "/")
        prefixes = [prefix for prefix in prefixes if prefix == wanted]
    if len(prefixes) != 1:
        raise InvalidValueError(f"{path}: arms", prefixes, f"allowed: one arm with {KEY_TOPIC}; give its namespace")
    return prefixes[0]


# readers, one per topic -------------------------------------------------------------------------------------------


def _on_plan(run: RunRecord, time: float, message: Any) -> None:
    points = message.points
    pose = np.asarray(points.pose, dtype=np.float64).reshape(-1, 7)
    plan_time = np.asarray(points.time, dtype=np.float64)
    change = PlanChange(
        time, UpdateKind(message.kind), int(points.first_seq), plan_time, pose[:, :3], int(message.after_seq)
    )
    (run.trials if message.trial else run.plan).append(change)
    if message.kind and not message.trial:  # how often an update is repeated tells a person nothing
        texts = ("", f"plan truncated after point {message.after_seq}", f"plan reset to {len(plan_time)} points")
        run.changed(time, "path_plan_queue", EventKind.PLAN, texts[int(message.kind)], texts[int(message.kind)])


def _on_own_plan(run: RunRecord, time: float, message: Any) -> None:
    if message.trial:
        _on_plan(run, time, message)


def _on_executed(run: RunRecord, time: float, message: Any) -> None:
    run.executed.append(Executed(time, int(message.first_seq), int(message.last_seq)))


def _on_joints(run: RunRecord, time: float, message: Any) -> None:
    if not run.joint_names:
        run.joint_names = tuple(message.name)
    run.joints.add(time, np.asarray(message.position, dtype=np.float64))


def _state_text(kind: type[IntEnum], state: int, reason: str) -> str:
    """Name of a state and its reason; recordings of other versions may hold unknown states."""
    known = state in tuple(kind)
    name = kind(state).name.lower() if known else f"state {state}"
    return f"{name}: {reason}" if reason else name


def _on_control(run: RunRecord, time: float, message: Any) -> None:
    run.control.add(
        time,
        message.monotonic,
        int(message.steps),
        int(message.state),
        message.plan_time,
        *(message.joint_position, message.joint_velocity, message.joint_acceleration),
    )
    text = _state_text(ControlState, int(message.state), message.reason)
    run.changed(time, "gcmsf_control", EventKind.CONTROL, text, text)


def _on_setpoint(run: RunRecord, time: float, message: Any) -> None:
    run.setpoints.add(
        time, message.monotonic, int(message.number), message.position, message.velocity, message.acceleration
    )


def _on_forward(run: RunRecord, time: float, message: Any) -> None:
    run.forward.add(time, message.head_time, message.robot_time, message.lead, message.data_age)
    run.changed(time, "forward_simulator", EventKind.CONFLICT, message.conflict, message.conflict)


def _on_queue(run: RunRecord, time: float, message: Any) -> None:
    run.queue.add(time, int(message.length), message.lead, int(message.jumps), int(message.refused), message.round_trip)
    run.controls.add(time, message.time_clutch, message.position_clutch, message.brake_rate, int(message.trial_length))
    position = "engaged" if message.position_clutch else "disengaged: trial path"
    text = f"position clutch {position}"
    run.changed(time, "path_plan_queue", EventKind.POSITION_CLUTCH, message.position_clutch, text)
    brake = f"time brake at {message.brake_rate:g} plan s/s" if message.brake_rate else "time brake released"
    run.changed(time, "path_plan_queue", EventKind.BRAKE, message.brake_rate, brake)
    clutch = "time clutch engaged" if message.time_clutch else "time clutch disengaged"
    run.changed(time, "path_plan_queue", EventKind.TIME_CLUTCH, message.time_clutch, clutch)
    run.changed(time, "path_plan_queue", EventKind.NOTICE, message.notice, message.notice)
    stale = "robot's state is stale" if message.stale else "robot's state is fresh"
    run.changed(time, "path_plan_queue", EventKind.STALE, message.stale, stale)


def _on_device(run: RunRecord, time: float, message: Any) -> None:
    point = message.pose.position
    run.device.add(time, (point.x, point.y, point.z), message.header.frame_id)


def _on_executor(run: RunRecord, time: float, message: Any) -> None:
    _cross(run, "down sent", message.link.number, time)
    run.authority.add(time, message.authority, message.asker, bool(message.granted))
    holder = f"{message.authority or 'nobody'} has the plan"
    run.changed(time, "plan_executor", EventKind.HOLDER, message.authority, holder)
    asks = message.asker and f"{message.asker} {'may take' if message.granted else 'asks for'} the plan"
    run.changed(time, "plan_executor", EventKind.ASKER, asks, asks)
    text = _state_text(ExecutorMode, int(message.state), message.reason)
    run.changed(time, "plan_executor", EventKind.EXECUTOR, text, text)
    run.refuse(time, "plan_executor", message.refusal)


def _on_hardware(run: RunRecord, time: float, message: Any) -> None:
    text = _state_text(HardwareState, int(message.state), message.reason)
    run.changed(time, "hardware_interface", EventKind.HARDWARE, text, text)
    run.refuse(time, "hardware_interface", message.refusal)


def _on_report(run: RunRecord, time: float, message: Any) -> None:
    if message.kind == ENDED and message.outcome not in ("works", "fails"):
        run.commands[int(message.command)] = message.outcome


def _on_primitive(run: RunRecord, time: float, message: Any) -> None:
    if message.state != PrimitiveOutcome.RUNNING:
        run.primitives.append(message.state == PrimitiveOutcome.SUCCEEDED)


def _on_halt(run: RunRecord, time: float, message: Any) -> None:
    run.changed(time, message.agent, EventKind.HALT, message.number, f"halt {message.number}: {message.reason}")


_LINK_FIELDS = (
    *("delay", "jitter", "loss", "duplicate", "reorder", "up", "down"),
    *("up_received", "up_delivered", "up_lost", "down_received", "down_delivered", "down_lost"),
    *("up_bytes", "down_bytes"),
)


def _on_link(run: RunRecord, time: float, message: Any) -> None:
    run.link = {name: getattr(message, name) for name in _LINK_FIELDS}
    settings = tuple(run.link[name] for name in _LINK_FIELDS[:7])
    ways = ("" if message.up else ", up cut") + ("" if message.down else ", down cut")
    text = f"delay {message.delay:g} s, jitter {message.jitter:g} s, loss {message.loss:.1%}{ways}"
    run.changed(time, "link_emulator", EventKind.LINK, settings, text)


def _on_diagnostics(run: RunRecord, time: float, message: Any) -> None:
    for status in message.status:
        name = status.name.rsplit("/", 1)[-1]
        values = {entry.key: entry.value for entry in status.values}
        run.diagnostics[name] = {**values, "message": status.message}
        run.robot = run.robot or status.hardware_id
        run.refuse(time, name, values.get("last_refusal", ""))


def _cross(run: RunRecord, side: str, number: int, time: float) -> None:
    run.crossings.setdefault((side, int(number)), []).append(time)


def _crossing(side: str) -> Callable[[RunRecord, float, Any], None]:
    return lambda run, time, message: _cross(run, side, message.link.number, time)


_READERS: dict[str, Callable[[RunRecord, float, Any], None]] = {
    KEY_TOPIC: _on_plan,
    _OWN_PLAN: _on_own_plan,
    "path_plan_queue/state": _on_queue,
    "path_plan_queue/pose_target_cmds": _on_device,
    "plan_executor/executed": _on_executed,
    "plan_executor/state": _on_executor,
    "plan_executor/operations": _crossing("up arrived"),
    f"{OPERATOR_SIDE}plan_executor/operations": _crossing("up sent"),
    f"{OPERATOR_SIDE}plan_executor/state": _crossing("down arrived"),
    "gcmsf_control/state": _on_control,
    "hardware_interface/setpoint": _on_setpoint,
    "hardware_interface/state": _on_hardware,
    "forward_simulator/state": _on_forward,
    "joint_states": _on_joints,
    "halt": _on_halt,
    "rtc_decision_unit/reports": _on_report,
    "gcmsf_control/report": _on_primitive,
    "link_emulator/status": _on_link,
    "diagnostics": _on_diagnostics,
}
