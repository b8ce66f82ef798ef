"""Rows about the robot: what it does, where it is, how old that is, who moves it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from telerobot_nodes.core.protocol import ExecutorMode, LinkState
from telerobot_nodes.operator.client import HaltStage, OperatorClient, RobotStatus, Tone
from telerobot_nodes.operator.view.rows import STALE_AFTER, STALE_SLOW_AFTER, Row, fresh, seconds

_MODES = {
    ExecutorMode.IDLE: ("IDLE", Tone.PLAIN),
    ExecutorMode.RUNNING: ("RUNNING", Tone.GOOD),
    ExecutorMode.PAUSED: ("PAUSED", Tone.WARN),
    ExecutorMode.HALTED: ("HALTED", Tone.BAD),
    ExecutorMode.FAULT: ("FAULT", Tone.BAD),
    ExecutorMode.STARTING: ("STARTING", Tone.WARN),
}


def banner(client: OperatorClient, now: float) -> Row:
    """What the robot does, in a few words; an open halt or a silent robot before all else."""
    heard, robot, halt = client.received.robot, client.robot, client.halt_watch
    asked = f"HALT ASKED {seconds(now - halt.since)} ago, NOT CONFIRMED" if halt.stage is HaltStage.ASKED else ""
    if heard is None:
        return Row("robot", asked or f"NO ROBOT DATA YET{_cause(client)}", Tone.BAD if asked else Tone.WARN)
    if now - heard > STALE_AFTER:
        silent = f"ROBOT SILENT FOR {seconds(now - heard)}{_cause(client)}"
        return Row("robot", f"{asked}; {silent}" if asked else silent, Tone.BAD)
    if robot.estop:
        return Row("robot", "E-STOP LATCHED", Tone.BAD)
    if asked:
        return Row("robot", asked, Tone.WARN)
    word, tone = _MODES[robot.mode]
    reason = f": {robot.reason}" if robot.reason else ""
    return Row("robot", word + reason, tone)


def _cause(client: OperatorClient) -> str:
    """The first link that may be why the robot is silent."""
    broken = (peer for peer in client.peers.values() if peer.state is not LinkState.FRESH)
    return next((f": link to {peer.peer} {peer.word}" for peer in broken), "")


def robot_rows(client: OperatorClient, now: float) -> tuple[Row, ...]:
    """Lead, age of the robot's data, and what the robot reported last."""
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
        Row("arm", "not known" if heard is None else f"{motion}, rate {robot.rate:.2f} plan s/s", old),
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


def _lead(client: OperatorClient, now: float) -> tuple[str, Tone]:
    if client.received.queue is None:
        return "not known", Tone.QUIET
    known = fresh(client.received.queue, now, STALE_AFTER)
    return f"{client.queue.lead:.1f} s", Tone.PLAIN if known else Tone.QUIET


def input_fresh(client: OperatorClient, now: float) -> bool:
    """True while the node of the operator's input reports."""
    return fresh(client.received.input, now, STALE_SLOW_AFTER)


def mode_rows(client: OperatorClient, now: float) -> Iterator[Row]:
    """The mode of control, where this graph has the node that serves it."""
    if client.received.input is None:
        return
    state = client.input
    moved = "lays the plan" if state.plan else "moves the primitive" if state.primitive else "moves nothing"
    known = input_fresh(client, now)
    text = f"{state.mode.word}: the device {moved}" if known else "NOT KNOWN: the operator's input is silent"
    yield Row("mode of control", text, Tone.PLAIN if known else Tone.BAD)
