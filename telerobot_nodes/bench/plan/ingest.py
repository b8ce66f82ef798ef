"""Benchmark of the executor node: plan points per second from a publisher's message to the robot's acknowledgement."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from telerobot_nodes.bench import report
from telerobot_nodes.core.protocol import OperationKind
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.plan.log import PlanPoints, Sender, SenderConfig, Timing
from telerobot_nodes.runtime import GraphOptions, Supervisor, join_graph

if TYPE_CHECKING:
    from telerobot_nodes.nodes.probes import PlanProbe

AGENT = "bench"
PERIOD = 0.02  # [s] of plan time between points
BATCH = 128  # points per operation
RADIUS = 0.05  # [m] of the circle
LIMIT = 120.0  # [s]


def run(options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return conditions, figures and goals. Options: `points` (50000), `robot` (arm)."""
    options = options or {}
    points, robot = int(options.get("points", 50_000)), str(options.get("robot", "arm"))
    join_graph()
    graph = GraphOptions("robot", robot=robot, without=("bag_recorder",))
    supervisor = Supervisor(graph, on_line=lambda node, line: None)
    supervisor.start()
    try:
        if not supervisor.wait_ready(LIMIT):
            raise TelerobotError(f"not ready after {LIMIT:g} s: {', '.join(supervisor.waiting_for())}")
        figures = _measure(points)
    finally:
        supervisor.stop()
    goals = [report.goal("append through the node", figures["points_per_s"], "points/s", ">=", 20_000)]
    return report.result(report.conditions(), figures, goals)


def _measure(points: int) -> dict[str, Any]:
    from telerobot_nodes.nodes.probes import PlanProbe

    with PlanProbe() as probe:
        state = probe.report(lambda s: s.mode == 0 and len(probe.tool_pose) == 7, LIMIT)
        sender = Sender(state.epoch + 1, AGENT, SenderConfig(max_unacknowledged=8192, message_bytes=60_000))
        sender.submit(OperationKind.AUTHORITY)
        _push(probe, sender, lambda s: s.authority == AGENT)
        stretches = _stretches(points, probe.tool_pose)
        begun = time.monotonic()
        after = 0
        for stretch in stretches:
            sender.submit(OperationKind.APPEND, stretch, after_seq=after)
            after = stretch.last_seq
        _push(probe, sender, lambda s: s.tail_seq == points)
        seconds = time.monotonic() - begun
    return {"points": points, "seconds": round(seconds, 3), "points_per_s": round(points / seconds, 1)}


def _push(probe: PlanProbe, sender: Sender, done: Any) -> None:
    """Send operations of the log until the robot's report satisfies `done`."""
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        state = probe.state
        if state is not None and state.epoch == sender.epoch:
            sender.acknowledge(time.monotonic(), state.applied_number, state.applied_copy, state.applied_age)
            if state.refusal:
                raise TelerobotError(f"refused: {state.refusal}")
            if done(state):
                return
        while operations := sender.poll(time.monotonic()):
            probe.send(operations)
        probe.spin(0.005)
    raise TelerobotError(f"not acknowledged within {LIMIT:g} s")


def _stretches(points: int, start: FloatArray) -> list[PlanPoints]:
    """Return batches of points on a circle through `start` (7,)."""
    time_ = PERIOD * np.arange(points, dtype=np.float64)
    angle = 0.5 * time_
    pose = np.tile(start, (points, 1))
    pose[:, 0] += RADIUS * (np.cos(angle) - 1.0)
    pose[:, 1] += RADIUS * np.sin(angle)
    kind = np.full(points, Timing.FREE, dtype=np.uint8)
    parts = [slice(i, i + BATCH) for i in range(0, points, BATCH)]
    return [PlanPoints(part.start + 1, time_[part], pose[part], kind[part], AGENT) for part in parts]
