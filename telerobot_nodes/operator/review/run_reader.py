"""A bag read as a run: topics with many messages by columns, the others message by message.

An hour holds three million messages: those of the control loop are cut by NumPy, and of a state only its changes are
looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from telerobot_nodes.core.protocol import (
    ControlState,
    ExecutorMode,
    HardwareState,
    PrimitiveOutcome,
    UpdateKind,
    role_of,
)
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.graph import OPERATOR_SIDE
from telerobot_nodes.operator.recording import BagReader
from telerobot_nodes.operator.review.command_log import lines_of
from telerobot_nodes.operator.review.run_record import Ended, Event, EventKind, Executed, PlanChange, RunRecord

KEY_TOPIC = "path_plan_queue/plan"  # its name holds the arm's namespace
ENDED = 2  # CommandReport.msg
TRIALS = ("works", "fails")  # outcomes of a `try`
TOUCH = 5.0  # [N] a force above is an event
RELEASED = 3.0  # [N] below, the next one is another event
NEWEST = 100  # diagnostics at the end that are all read: every node is among them
_REFUSAL = b"last_refusal\x00"

Columns = dict[str, npt.NDArray[Any]]


def read_run(path: Path, namespace: str | None = None) -> RunRecord:
    """Read a bag; `namespace` picks the arm when the bag holds several.

    Raises InvalidValueError when the bag is not readable or is empty, or holds no plan topic.
    """
    with BagReader(path) as bag:
        prefix = arm_prefix(bag.topics, namespace, path)
        if not any(bag.counts.values()):
            raise InvalidValueError("bag", str(path), "allowed: a recording with messages; this one is empty")
        run = RunRecord(path=path, start=bag.start, duration=bag.duration)
        _read_tables(run, bag, prefix, _BY_COLUMN)
        _read_joint_names(run, bag, f"{prefix}joint_states")
        for topic, on_message in _by_message(bag, prefix):
            for time, data in bag.each(topic):
                on_message(run, time, bag.decode(topic, data))
        _read_diagnostics(run, bag)
    run.finish(bag.closed)
    return run


def read_events(bag: BagReader, prefix: str) -> list[Event]:
    """What a person did and was told, in order: without the topics of the control loop, which hold most messages."""
    run = RunRecord(path=bag.path)
    _read_tables(run, bag, prefix, _TOLD)
    for name, on_message in _READERS.items():
        if name not in _TRACED:
            for time, data in bag.each(f"{prefix}{name}"):
                on_message(run, time, bag.decode(f"{prefix}{name}", data))
    return sorted(run.events, key=lambda event: event.time)


def arm_prefix(topics: Iterable[str], namespace: str | None, path: Path) -> str:
    """What the names of an arm's topics begin with. Raises InvalidValueError naming the bag and the arms in it."""
    prefixes = sorted(name[: -len(KEY_TOPIC)] for name in topics if name.endswith(KEY_TOPIC))
    if namespace is not None:
        wanted = f"/{namespace.strip('/')}/".replace("//", "/")
        prefixes = [prefix for prefix in prefixes if prefix == wanted]
    if len(prefixes) != 1:
        raise InvalidValueError(f"{path}: arms", prefixes, f"allowed: one arm with {KEY_TOPIC}; give its namespace")
    return prefixes[0]


def _by_message(bag: BagReader, prefix: str) -> Iterator[tuple[str, Callable[[RunRecord, float, Any], None]]]:
    own, in_force = f"{prefix}{KEY_TOPIC}", plan_in_force(bag.counts, prefix)
    yield in_force, _on_plan
    if own != in_force:
        yield own, _on_own_plan  # for its trial path
    for name, read in _READERS.items():
        yield f"{prefix}{name}", read


def plan_in_force(counts: dict[str, int], prefix: str) -> str:
    """Topic with the plan of whoever was in control; without one, the operator's own plan."""
    for topic in (f"{prefix}{OPERATOR_SIDE}plan_in_force", f"{prefix}plan_in_force"):
        if counts.get(topic):
            return topic
    return f"{prefix}{KEY_TOPIC}"


# by column ---------------------------------------------------------------------------------------------------------


def changes(table: Columns, *names: str) -> Iterator[dict[str, Any]]:
    """The rows in which one of the columns `names` differs from the row before, and the first."""
    differs = np.zeros(len(table["time"]), bool)
    differs[:1] = True
    for name in names:
        differs[1:] |= table[name][1:] != table[name][:-1]
    rows = np.flatnonzero(differs)
    picked = {name: table[name][rows].tolist() for name in ("time", *names)}
    for values in zip(*picked.values(), strict=True):
        yield dict(zip(picked, values, strict=True))


def _read_tables(run: RunRecord, bag: BagReader, prefix: str, names: Iterable[str]) -> None:
    for name in names:
        fields, read = _BY_COLUMN[name]
        table, odd = bag.usual_columns(f"{prefix}{name}", fields)
        run.leave_out(name, odd)
        if table:
            read(run, table)


def _read_control(run: RunRecord, table: Columns) -> None:
    joints = {name: table[f"joint_{name}"] for name in ("position", "velocity", "acceleration")}
    run.control.fill(**{**table, "number": table["steps"].astype(np.int64)}, **joints)
    for row in changes(table, "state", "reason"):
        text = _state_text(ControlState, row["state"], row["reason"])
        run.changed(row["time"], "gcmsf_control", EventKind.CONTROL, text, text)


def _read_setpoints(run: RunRecord, table: Columns) -> None:
    run.setpoints.fill(**{**table, "number": table["number"].astype(np.int64)})


def _read_joints(run: RunRecord, table: Columns) -> None:
    run.joints.fill(**table)


def _read_joint_names(run: RunRecord, bag: BagReader, topic: str) -> None:
    for _, data in bag.each(topic):
        run.joint_names = tuple(bag.decode(topic, data).name)
        return


def _read_forward(run: RunRecord, table: Columns) -> None:
    run.forward.fill(**table)
    for row in changes(table, "conflict"):
        run.changed(row["time"], "forward_simulator", EventKind.CONFLICT, row["conflict"], row["conflict"])


def _read_queue(run: RunRecord, table: Columns) -> None:
    table = {**table, **{name: table[name].astype(bool) for name in (*_CLUTCHES, "stale")}}
    run.assume(EventKind.ORIENTATION_CLUTCH, True)
    run.assume(EventKind.HAND_SCALE, (1.0, 1.0))
    run.queue.fill(**table)
    run.controls.fill(**table)
    for row in changes(table, *_CLUTCHES, *_SETTINGS, "brake_rate", "gripper", "notice", "stale", "agent"):
        who = role_of(row["agent"]) or "path_plan_queue"
        for kind, value, text in _of_controls(row):
            run.changed(row["time"], who, kind, value, text)
        run.changed(row["time"], "path_plan_queue", EventKind.NOTICE, row["notice"], row["notice"])
        stale = "robot's state is stale" if row["stale"] else "robot's state is fresh"
        run.changed(row["time"], "path_plan_queue", EventKind.STALE, row["stale"], stale)


def _of_controls(row: dict[str, Any]) -> Iterator[tuple[EventKind, Any, str]]:
    position = "engaged" if row["position_clutch"] else "disengaged: trial path"
    yield EventKind.POSITION_CLUTCH, row["position_clutch"], f"position clutch {position}"
    rate, opening = row["brake_rate"], row["gripper"]
    yield EventKind.BRAKE, rate, f"time brake at {rate:g} plan s/s" if rate else "time brake released"
    yield EventKind.TIME_CLUTCH, row["time_clutch"], f"time clutch {'' if row['time_clutch'] else 'dis'}engaged"
    turns = row["orientation_clutch"]
    yield EventKind.ORIENTATION_CLUTCH, turns, f"orientation clutch {'' if turns else 'dis'}engaged"
    yield EventKind.RATIO, row["time_ratio"], f"time ratio {row['time_ratio']:g}"
    linear, angular = row["linear_scale"], row["angular_scale"]
    yield EventKind.HAND_SCALE, (linear, angular), f"the tool moves {linear:g} and turns {angular:g} times the hand"
    yield EventKind.GRIPPER, opening, f"gripper {1e3 * opening:.0f} mm" if opening >= 0.0 else ""


def _read_executor(run: RunRecord, table: Columns) -> None:
    _read_crossings("down sent")(run, table)
    run.authority.fill(
        time=table["time"], holder=table["authority"], asker=table["asker"], granted=table["granted"].astype(bool)
    )
    for row in changes(table, "authority", "asker", "granted", "state", "reason", "refusal"):
        time, holder, asker = row["time"], row["authority"], row["asker"]
        run.changed(time, "plan_executor", EventKind.HOLDER, holder, f"{holder or 'nobody'} has the plan")
        asks = asker and f"{asker} {'may take' if row['granted'] else 'asks for'} the plan"
        run.changed(time, "plan_executor", EventKind.ASKER, asks, asks)
        text = _state_text(ExecutorMode, row["state"], row["reason"])
        run.changed(time, "plan_executor", EventKind.EXECUTOR, text, text)
        run.refuse(time, "plan_executor", row["refusal"])


def _read_hardware(run: RunRecord, table: Columns) -> None:
    for row in changes(table, "state", "reason", "refusal"):
        text = _state_text(HardwareState, row["state"], row["reason"])
        run.changed(row["time"], "hardware_interface", EventKind.HARDWARE, text, text)
        run.refuse(row["time"], "hardware_interface", row["refusal"])


def _read_wrench(run: RunRecord, table: Columns) -> None:
    vectors = {
        name: np.column_stack([table[f"wrench.{name}.{axis}"] for axis in "xyz"]) for name in ("force", "torque")
    }
    run.wrench.fill(time=table["time"], **vectors)
    force = np.linalg.norm(vectors["force"], axis=1)
    for start, end in touches(force):
        peak = start + int(np.argmax(force[start:end]))
        text = f"force above {TOUCH:g} N for {table['time'][end - 1] - table['time'][start]:.1f} s, {force[peak]:.1f} N"
        run.events.append(Event(float(table["time"][start]), "sensor", EventKind.FORCE, f"{text} at most"))


def touches(force: npt.NDArray[np.float64]) -> list[tuple[int, int]]:
    """Stretches (first, after the last) in which the force (n,) [N] rose above TOUCH, until it is below RELEASED."""
    found: list[tuple[int, int]] = []
    end = 0
    free = np.flatnonzero(~(force >= RELEASED))
    for start in np.flatnonzero(force > TOUCH).tolist():
        if start < end:
            continue
        after = int(np.searchsorted(free, start))
        end = int(free[after]) if after < len(free) else len(force)
        found.append((start, end))
    return found


def _state_text(kind: type[IntEnum], state: int, reason: str) -> str:
    """Name of a state and its reason; recordings of other versions may hold unknown states."""
    known = state in tuple(kind)
    name = kind(state).name.lower() if known else f"state {state}"
    return f"{name}: {reason}" if reason else name


def _read_crossings(side: str) -> Callable[[RunRecord, Columns], None]:
    def read(run: RunRecord, table: Columns) -> None:
        for number, time in zip(table["link.number"].tolist(), table["time"].tolist(), strict=True):
            run.crossings.setdefault((side, number), []).append(time)

    return read


_JOINTS = ("position", "velocity", "acceleration")
_AXES = [f"wrench.{name}.{axis}" for name in ("force", "torque") for axis in "xyz"]
_CLUTCHES = ("time_clutch", "position_clutch", "orientation_clutch")
_SETTINGS = ("time_ratio", "linear_scale", "angular_scale")
_QUEUE = ("length", "lead", "jumps", "refused", "round_trip", "brake_rate", *_CLUTCHES, *_SETTINGS)

# fields and reader of each topic with many messages
_BY_COLUMN: dict[str, tuple[list[str], Callable[[RunRecord, Columns], None]]] = {
    "gcmsf_control/state": (
        ["monotonic", "steps", "state", "reason", "plan_time", *(f"joint_{name}" for name in _JOINTS)],
        _read_control,
    ),
    "hardware_interface/setpoint": (["monotonic", "number", *_JOINTS], _read_setpoints),
    "hardware_interface/state": (["state", "reason", "refusal"], _read_hardware),
    "hardware_interface/wrench": (_AXES, _read_wrench),
    "joint_states": (["position"], _read_joints),
    "forward_simulator/state": (["head_time", "robot_time", "lead", "data_age", "conflict"], _read_forward),
    "path_plan_queue/state": ([*_QUEUE, "trial_length", "gripper", "notice", "stale", "agent"], _read_queue),
    "plan_executor/state": (
        ["link.number", "authority", "asker", "granted", "state", "reason", "refusal"],
        _read_executor,
    ),
    "plan_executor/operations": (["link.number"], _read_crossings("up arrived")),
    f"{OPERATOR_SIDE}plan_executor/operations": (["link.number"], _read_crossings("up sent")),
    f"{OPERATOR_SIDE}plan_executor/state": (["link.number"], _read_crossings("down arrived")),
}


# message by message ------------------------------------------------------------------------------------------------


def _on_plan(run: RunRecord, time: float, message: Any) -> None:
    if message.kind == UpdateKind.TIP:
        return
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


def _on_device(run: RunRecord, time: float, message: Any) -> None:
    point = message.pose.position
    run.device.add(time, (point.x, point.y, point.z), message.header.frame_id)


def _told(kind: str, event: EventKind) -> Callable[[RunRecord, float, Any], None]:
    def read(run: RunRecord, time: float, message: Any) -> None:
        run.events += [Event(time, who.strip(), event, text) for who, text in lines_of(kind, message)]

    return read


def _on_report(run: RunRecord, time: float, message: Any) -> None:
    if message.kind == ENDED and message.outcome not in TRIALS:
        run.commands[int(message.command)] = message.outcome
        start = max(0.0, time - message.elapsed)
        run.ended.append(Ended(start, time, f"command {message.command}", message.outcome == "succeeded"))
    _told("reports", EventKind.COMMAND)(run, time, message)


def _on_primitive(run: RunRecord, time: float, message: Any) -> None:
    if message.state != PrimitiveOutcome.RUNNING:
        succeeded = message.state == PrimitiveOutcome.SUCCEEDED
        run.primitives.append(Ended(max(0.0, time - message.elapsed), time, message.name, succeeded))
    _told("", EventKind.PRIMITIVE)(run, time, message)


def _on_stop(kind: EventKind) -> Callable[[RunRecord, float, Any], None]:
    def read(run: RunRecord, time: float, message: Any) -> None:
        text = f"{kind.value} {message.number}: {message.reason}"
        run.changed(time, role_of(message.agent), kind, (message.agent, message.number), text)

    return read


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


_READERS: dict[str, Callable[[RunRecord, float, Any], None]] = {
    "path_plan_queue/pose_target_cmds": _on_device,
    "plan_executor/executed": _on_executed,
    "halt": _on_stop(EventKind.HALT),
    "estop": _on_stop(EventKind.ESTOP),
    "rtc_decision_unit/commands": _told("commands", EventKind.COMMAND),
    "rtc_decision_unit/tasks": _told("tasks", EventKind.COMMAND),
    "rtc_decision_unit/reports": _on_report,
    "gcmsf_control/report": _on_primitive,
    "link_emulator/status": _on_link,
}


_TOLD = ("path_plan_queue/state", "plan_executor/state")
_TRACED = ("path_plan_queue/pose_target_cmds", "plan_executor/executed")  # hold no events


def robot_of(bag: BagReader) -> str:
    """Name of the robot, from the diagnostics; empty: not recorded."""
    for _, data in bag.each("/diagnostics"):
        for status in bag.decode("/diagnostics", data).status:
            if status.hardware_id:
                return str(status.hardware_id)
    return ""


def _read_diagnostics(run: RunRecord, bag: BagReader) -> None:
    """The newest of every node, and each new refusal; the numbers between are read by nothing."""
    topic = "/diagnostics"
    known: set[bytes] = set()
    newest = bag.counts.get(topic, 0) - NEWEST
    for number, (time, data) in enumerate(bag.each(topic)):
        refusal = _refusal(bytes(data))
        if number < newest and refusal in known and run.robot:
            continue
        known.add(refusal)
        for status in bag.decode(topic, data).status:
            name = status.name.rsplit("/", 1)[-1]
            values = {entry.key: entry.value for entry in status.values}
            run.diagnostics[name] = {**values, "message": status.message}
            run.robot = run.robot or status.hardware_id
            run.refuse(time, name, values.get("last_refusal", ""))


def _refusal(data: bytes) -> bytes:
    """The text of the last refusal in serialized diagnostics; empty: none."""
    at = data.find(_REFUSAL)
    if at < 0:
        return b""
    start = at + len(_REFUSAL) + (-(at + len(_REFUSAL))) % 4
    return data[start + 4 : start + 4 + int.from_bytes(data[start : start + 4], "little")]
