"""View model: the client's values as texts with units, for console and terminal.

A source without a message for STALE_AFTER is shown as stale. What must never enter: widgets, colours (`Tone` only).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from telerobot_nodes.core.protocol import DeviceState, ExecutorMode
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.operator.client.client import Notice, OperatorClient, Tone
from telerobot_nodes.operator.client.plan_trace import PlanLines
from telerobot_nodes.operator.client.requests import HaltStage
from telerobot_nodes.operator.client.status import LinkSetting, RobotStatus
from telerobot_nodes.operator.client.surroundings import Solid

STALE_AFTER = 0.5  # [s] without a message
STALE_LINK_AFTER = 2.0  # [s] the emulator publishes twice a second
STALE_SLOW_AFTER = 2.5  # [s] recorder and operator's input publish once a second
LITTLE_ROOM = 1e9  # [B] above the free space at which a recording is closed
MANY_UNACKNOWLEDGED = 25  # [-] operations, a second of them at 25 Hz


@dataclass(frozen=True)
class Row:
    """One line of the status block."""

    label: str
    text: str
    tone: Tone = Tone.PLAIN


class Light(Enum):
    """The recording light; the values are its form, so that it needs no colour."""

    ON = "\u25cf"  # a full circle
    OFF = "\u25cb"  # an empty one
    FAILED = "\u2716"  # a cross
    UNKNOWN = "?"


@dataclass(frozen=True)
class Controls:
    """Values in force, as confirmed by the nodes; None: not known."""

    time_clutch: bool | None
    position_clutch: bool | None
    collision_stop: bool | None
    pass_singularities: bool | None
    time_ratio: float | None
    orientation_clutch: bool | None
    linear_scale: float | None
    angular_scale: float | None
    brake_rate: float | None
    gripper: float | None  # [m]
    link: LinkSetting | None
    halt: HaltStage
    recording: bool | None
    mode: str | None  # of control


@dataclass(frozen=True)
class ConsoleView:
    """All texts of a console at one instant."""

    banner: Row
    rows: tuple[Row, ...]
    controls: Controls
    notices: tuple[Row, ...]  # newest first; label: age
    light: Light  # of the row "recording"


@dataclass(frozen=True)
class SceneView:
    """What to draw; None or empty: hidden. Joints [rad], poses x y z [m], qx qy qz qw in WORLD."""

    robot: FloatArray | None
    robot_stale: bool
    estimate: FloatArray | None
    head: FloatArray | None
    trial: FloatArray | None
    tool_pose: FloatArray | None
    head_pose: FloatArray | None
    target_pose: FloatArray | None
    wrench: FloatArray | None
    lead: float
    plan_version: int
    executed_seq: int
    conflicts: FloatArray = field(default_factory=lambda: np.empty((0, 2, 3)))  # [m] stretches of the plan in conflict
    motion: FloatArray | None = None  # of a simulated or practised motion
    motion_path: FloatArray = field(default_factory=lambda: np.empty((0, 3)))  # [m] of its tool
    solids: tuple[Solid, ...] = ()  # what stands around the arm, and what its tool holds


def view(client: OperatorClient, now: float) -> ConsoleView:
    """The texts now."""
    queue_fresh = fresh(client.received.queue, now, STALE_AFTER)
    link_fresh = fresh(client.received.link, now, STALE_LINK_AFTER)
    light, recording = _recording(client, now)
    return ConsoleView(
        banner=_banner(client, now),
        rows=(
            *_robot_rows(client, now),
            *_mode_rows(client, now),
            *_queue_rows(client, queue_fresh),
            *_node_rows(client, now),
            recording,
        ),
        controls=Controls(
            time_clutch=client.queue.time_clutch if queue_fresh else None,
            position_clutch=client.queue.position_clutch if queue_fresh else None,
            collision_stop=client.queue.stop_before_collision if queue_fresh else None,
            pass_singularities=client.queue.pass_singularities if queue_fresh else None,
            time_ratio=client.queue.time_ratio if queue_fresh else None,
            orientation_clutch=client.queue.orientation_clutch if queue_fresh else None,
            linear_scale=client.queue.linear_scale if queue_fresh else None,
            angular_scale=client.queue.angular_scale if queue_fresh else None,
            brake_rate=client.queue.brake_rate if queue_fresh else None,
            gripper=client.queue.gripper if queue_fresh and client.queue.gripper >= 0.0 else None,
            link=client.link if link_fresh else None,
            halt=client.halt_watch.stage,
            recording=None if light is Light.UNKNOWN else light is Light.ON,
            mode=client.input.mode.word if _input_fresh(client, now) else None,
        ),
        notices=tuple(_notice_row(notice, now) for notice in (*_waiting(client, now), *reversed(client.notices))),
        light=light,
    )


def scene(client: OperatorClient, now: float) -> SceneView:
    """What to draw now."""
    simulated = fresh(client.received.simulation, now, STALE_AFTER)
    robot, simulation = client.robot, client.simulation
    return SceneView(
        robot=_some(robot.joint_position),
        robot_stale=not fresh(client.received.robot, now, STALE_AFTER),
        estimate=_some(simulation.estimate_position) if simulated else None,
        head=_some(simulation.head_position) if simulated else None,
        trial=_some(simulation.trial_position) if simulated else None,
        tool_pose=_some(robot.tool_pose),
        head_pose=_some(simulation.head_pose) if simulated else None,
        target_pose=_some(client.queue.target_pose),
        wrench=_some(robot.wrench),
        lead=client.queue.lead,
        plan_version=client.trace.version + client.other.version,
        conflicts=client.conflicts,
        motion=_some(client.motion_joints) if fresh(client.received.motion, now, STALE_AFTER) else None,
        motion_path=client.motion_path,
        solids=client.solids,
        executed_seq=robot.executed_seq,
    )


def plan_lines(client: OperatorClient) -> PlanLines:
    """The plan as lines; expensive, so call it only when `plan_version` has changed."""
    return client.trace.lines()


def other_plan(client: OperatorClient) -> FloatArray:
    """Vertices (n, 3) [m] ahead in the plan of another operator with authority; empty: there is none."""
    lines = client.other.lines()
    return np.concatenate((lines.committed[:-1], lines.ahead))  # they share a joint


def fresh(received: float | None, now: float, bound: float) -> bool:
    """True when `received` is at most `bound` [s] ago."""
    return received is not None and now - received <= bound


def seconds(value: float) -> str:
    """A duration [s] as text."""
    if value < 0.0:
        return "not known"
    if value < 10.0:
        return f"{value:.1f} s"
    return f"{value:.0f} s" if value < 120.0 else f"{value / 60.0:.0f} min"


def size(value: float) -> str:
    """A number of bytes as text."""
    for unit, bytes_each in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if value >= bytes_each:
            return f"{value / bytes_each:.1f} {unit}"
    return f"{value:.0f} B"


def _some(array: FloatArray) -> FloatArray | None:
    return array if array.size else None


_MODES = {
    ExecutorMode.IDLE: ("IDLE", Tone.PLAIN),
    ExecutorMode.RUNNING: ("RUNNING", Tone.GOOD),
    ExecutorMode.PAUSED: ("PAUSED", Tone.WARN),
    ExecutorMode.HALTED: ("HALTED", Tone.BAD),
    ExecutorMode.FAULT: ("FAULT", Tone.BAD),
    ExecutorMode.STARTING: ("STARTING", Tone.WARN),
}


def _banner(client: OperatorClient, now: float) -> Row:
    heard, robot, halt = client.received.robot, client.robot, client.halt_watch
    asked = f"HALT ASKED {seconds(now - halt.since)} ago, NOT CONFIRMED" if halt.stage is HaltStage.ASKED else ""
    if heard is None:
        return Row("robot", asked or "NO ROBOT DATA YET", Tone.BAD if asked else Tone.WARN)
    if now - heard > STALE_AFTER:
        silent = f"ROBOT SILENT FOR {seconds(now - heard)}"
        return Row("robot", f"{asked}; {silent}" if asked else silent, Tone.BAD)
    if robot.estop:
        return Row("robot", "E-STOP LATCHED", Tone.BAD)
    if asked:
        return Row("robot", asked, Tone.WARN)
    word, tone = _MODES[robot.mode]
    reason = f": {robot.reason}" if robot.reason else ""
    return Row("robot", word + reason, tone)


def _robot_rows(client: OperatorClient, now: float) -> tuple[Row, ...]:
    heard, robot, queue = client.received.robot, client.robot, client.queue
    age = -1.0 if heard is None else now - heard
    stale = heard is None or age > STALE_AFTER
    old = Tone.QUIET if stale else Tone.PLAIN
    motion = f"moving, stops in {robot.stopping_time:.1f} s" if robot.moving else "at rest"
    delay = f", round trip {queue.round_trip:.2f} s" if queue.round_trip >= 0.0 else ", round trip not measured"
    age_text = "none yet" if heard is None else f"received {seconds(age)} ago"
    return (
        Row("lead", *_lead(client, now)),
        Row("robot data", age_text + delay, Tone.BAD if stale else Tone.PLAIN),
        Row("arm", "not known" if heard is None else f"{motion}, {robot.rate:.2f} plan s/s", old),
        Row("plan time", f"robot {robot.plan_time:.1f} s, plan ends {queue.head_time:.1f} s", old),
        Row("executed", f"{robot.executed_seq} of {queue.head_seq}, committed to {robot.committed_seq}", old),
        *_readings(robot, old),
    )


def _readings(robot: RobotStatus, tone: Tone) -> Iterator[Row]:
    """Tool position, force and torque, where they are known."""
    if robot.tool_pose.size:
        yield Row("tool", "x {:.3f}, y {:.3f}, z {:.3f} m".format(*robot.tool_pose[:3]), tone)
    if robot.wrench.size:
        force, torque = robot.wrench[:3], robot.wrench[3:]
        sizes = f"{np.linalg.norm(force):.1f} N, {np.linalg.norm(torque):.2f} N m"
        yield Row("force, torque", f"{sizes} ({', '.join(f'{part:.1f}' for part in force)} N)", tone)


def _input_fresh(client: OperatorClient, now: float) -> bool:
    return fresh(client.received.input, now, STALE_SLOW_AFTER)


def _mode_rows(client: OperatorClient, now: float) -> Iterator[Row]:
    """The mode of control, where this graph has the node that serves it."""
    if client.received.input is None:
        return
    state = client.input
    moved = "lays the plan" if state.plan else "moves the primitive" if state.primitive else "moves nothing"
    known = _input_fresh(client, now)
    text = f"{state.mode.word}: the device {moved}" if known else "NOT KNOWN: the operator's input is silent"
    yield Row("mode of control", text, Tone.PLAIN if known else Tone.BAD)


def _lead(client: OperatorClient, now: float) -> tuple[str, Tone]:
    if client.received.queue is None:
        return "not known", Tone.QUIET
    known = fresh(client.received.queue, now, STALE_AFTER)
    return f"{client.queue.lead:.1f} s", Tone.PLAIN if known else Tone.QUIET


_DEVICES = {
    DeviceState.IDLE: ("idle", Tone.QUIET),
    DeviceState.TRACKING: ("tracking", Tone.GOOD),
    DeviceState.HELD: ("held", Tone.WARN),
}


def _queue_rows(client: OperatorClient, known: bool) -> tuple[Row, ...]:
    queue = client.queue
    if not known:
        return ()
    device, tone = _DEVICES[queue.device]
    held = f": {queue.notice}" if queue.device is DeviceState.HELD and queue.notice else ""
    full = queue.capacity > 0 and queue.length >= 0.9 * queue.capacity
    clutch = "engaged" if queue.time_clutch else "disengaged, order only"
    rows = [
        Row("queue", f"{queue.length} of {queue.capacity} points", Tone.WARN if full else Tone.PLAIN),
        Row("time clutch", f"{clutch}, ratio {queue.time_ratio:.2f}"),
        Row("synchronised", queue.display_mode.value),
        Row("device", device + held + _jumps(queue.jumps), tone),
        _authority_row(client),
    ]
    if queue.unacknowledged:
        many = queue.unacknowledged > MANY_UNACKNOWLEDGED
        rows.append(Row("on the way", f"{queue.unacknowledged} operations", Tone.WARN if many else Tone.PLAIN))
    if not queue.position_clutch:
        rows.append(Row("position clutch", f"disengaged, trial of {queue.trial_length} points", Tone.WARN))
    if not queue.orientation_clutch:
        rows.append(Row("orientation clutch", "disengaged: the hand does not turn the tool", Tone.WARN))
    if (queue.linear_scale, queue.angular_scale) != (1.0, 1.0):
        scales = f"the tool moves {queue.linear_scale:.2f} and turns {queue.angular_scale:.2f} times the hand"
        rows.append(Row("hand scale", scales))
    if not queue.stop_before_collision:
        rows.append(Row("collision stop", "off: the robot executes points that collide", Tone.WARN))
    if queue.pass_singularities:
        rows.append(Row("singularities", "may be passed: joints turn fast and the arm slows there", Tone.WARN))
    if queue.brake_rate > 0.0:
        rows.append(Row("time brake", f"{queue.brake_rate:.1f} plan s/s", Tone.WARN))
    conflicts, conflict = client.simulation.conflicts, client.simulation.conflict
    if conflict:
        rows.append(Row("conflicts", f"{conflicts}: {conflict}" if conflicts else conflict, Tone.BAD))
    return tuple(rows)


def _jumps(count: int) -> str:
    return f", {count} jump{'s' if count > 1 else ''} of the tracker absorbed" if count else ""


def _authority_row(client: OperatorClient) -> Row:
    queue, robot = client.queue, client.robot
    silent = ", silent" if robot.holder_silent else ""
    if queue.has_authority:
        asks = f"; {robot.asker} {'may take it' if robot.granted else 'asks: grant or refuse'}" if robot.asker else ""
        asks += f"; then {', '.join(robot.waiting)}" if robot.waiting else ""
        return Row("authority", f"{queue.agent or 'this operator'} (here){asks}", Tone.WARN if asks else Tone.PLAIN)
    return Row("authority", f"{robot.authority or 'nobody'}, not here{silent}{_asking(client)}", Tone.WARN)


def _asking(client: OperatorClient) -> str:
    robot, agent = client.robot, client.queue.agent
    if agent in robot.waiting:
        before = [name for name in (robot.asker, *robot.waiting[: robot.waiting.index(agent)]) if name]
        return f"; asked, your turn is after {', '.join(before)}" if before else "; it is your turn"
    if not robot.asker:
        return ""
    if robot.asker != agent:
        return f"; {robot.asker} {'may take it' if robot.granted else 'asks'}"
    if not robot.granted:
        return "; asked, waiting for consent"
    return "; granted by a supervisor" if robot.forced else "; granted: bring the simulated tool to the plan"


def _node_rows(client: OperatorClient, now: float) -> tuple[Row, ...]:
    sources = (("plan queue", client.received.queue), ("simulation", client.received.simulation))
    return tuple(
        Row(name, "no data yet" if heard is None else f"silent for {seconds(now - heard)}", Tone.BAD)
        for name, heard in sources
        if not fresh(heard, now, STALE_AFTER)
    )


def _recording(client: OperatorClient, now: float) -> tuple[Light, Row]:
    """The recording light, and its words."""
    heard, recorder = client.received.recorder, client.recorder
    if heard is None:
        return Light.UNKNOWN, Row("recording", "NO RECORDER REPORTS", Tone.QUIET)
    if not fresh(heard, now, STALE_SLOW_AFTER):
        return Light.UNKNOWN, Row("recording", f"RECORDER SILENT FOR {seconds(now - heard)}: NOT KNOWN", Tone.BAD)
    if recorder.failure:
        return Light.FAILED, Row("recording", f"FAILED: {recorder.failure}", Tone.BAD)
    if not recorder.recording:
        return Light.OFF, Row("recording", "NOT RECORDING")
    text, room = f"RECORDING {seconds(recorder.duration)}, {size(recorder.size)}", recorder.free - recorder.reserve
    trouble = f", {recorder.dropped} messages dropped" if recorder.dropped else ""
    trouble += f", room for {size(max(room, 0))} more" if room < LITTLE_ROOM else ""
    return Light.ON, Row("recording", text + trouble, Tone.WARN if trouble else Tone.GOOD)


def _waiting(client: OperatorClient, now: float) -> tuple[Notice, ...]:
    return tuple(
        Notice(request.since, f"{request.command}: waiting for the answer", Tone.WARN)
        for request in client.requests.pending
        if now - request.since > 0.3
    )


def _notice_row(notice: Notice, now: float) -> Row:
    return Row(seconds(float(np.floor(max(now - notice.time, 0.0)))).replace(".0", ""), notice.text, notice.tone)
