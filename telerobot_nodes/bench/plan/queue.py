"""Benchmark of the path-plan queue's core: append, ingest, look-up, brake and delete-all, from small plans to large."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from telerobot_nodes.bench import report
from telerobot_nodes.core.protocol import ExecutorMode, OperationKind
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.plan.log import (
    ExecutorReport,
    Operation,
    PlanPoints,
    PlanReplication,
    PlanStore,
    Receiver,
    Sender,
    SenderConfig,
    Timing,
)

PERIOD = 0.02  # [s] of plan time between points
BATCH = 256  # points per append
REPEATS = 5


def run(options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return conditions, figures and goals. Options: `points` (1000,1000000), `operations` (2000)."""
    options = options or {}
    sizes = [int(size) for size in str(options.get("points", "1000,1000000")).split(",")]
    figures: dict[str, Any] = {
        "append_points_per_s": _append(sizes[-1]),
        "ingest_points_per_s": _ingest(),
        "log_operations_per_s": _log(int(options.get("operations", 2000))),
        "bytes_per_point": PlanStore(1).bytes_per_point,
        "by_points": {str(size): _costs(size) for size in sizes},
    }
    few, many = (figures["by_points"][str(size)] for size in (sizes[0], sizes[-1]))
    goals = [
        report.goal(f"append, batches of {BATCH}", figures["append_points_per_s"], "points/s", ">=", 1e6),
        report.goal(f"validated ingest, batches of {BATCH}", figures["ingest_points_per_s"], "points/s", ">=", 5e6),
        report.goal(f"brake step on {sizes[-1]} points", many["brake"]["median_us"], "us", "<=", 5.0),
        report.goal(
            f"brake step, {sizes[-1]} points to {sizes[0]}",
            many["brake"]["median_us"] / few["brake"]["median_us"],
            "-",
            "<=",
            2.0,
        ),
        report.goal(
            f"delete-all per point, {sizes[-1]} points to {sizes[0]}",
            many["delete_all_ns_per_point"] / few["delete_all_ns_per_point"],
            "-",
            "<=",
            1.0,
        ),
        report.goal(f"look-up by plan time in {sizes[-1]} points", many["lookup"]["median_us"], "us", "<=", 10.0),
    ]
    return report.result(report.conditions(seed=1), figures, goals)


def _poses(n: int) -> FloatArray:
    poses = np.zeros((n, 7))
    poses[:, 0] = 1e-6 * np.arange(n)
    poses[:, 6] = 1.0
    return poses


def _times(n: int) -> FloatArray:
    times: FloatArray = np.arange(1, n + 1, dtype=np.float64)
    return times * PERIOD


def _filled(size: int) -> PlanStore:
    store = PlanStore(size)
    store.append(np.arange(1, size + 1), _times(size), _poses(size), int(Timing.SYNCED))
    return store


def _append(size: int) -> float:
    poses, steps = _poses(BATCH), _times(BATCH)

    def fill() -> None:
        store = PlanStore(size)
        for first in range(1, size - BATCH + 2, BATCH):
            store.append(np.arange(first, first + BATCH), store.last_time + steps, poses, int(Timing.SYNCED))

    return BATCH * (size // BATCH) / _least(fill)


def _ingest() -> float:
    """Measure validation of points given as flat lists of numbers."""
    flat, times, kinds = _poses(BATCH).reshape(-1), _times(BATCH), np.zeros(BATCH, np.uint8)
    rounds = 200

    def ingest() -> None:
        for _ in range(rounds):
            PlanPoints(1, times, flat, kinds, "bench")

    return rounds * BATCH / _least(ingest)


def _log(operations: int) -> float:
    """Measure operations through both ends of the log: polled, delivered, acknowledged."""

    def through() -> None:
        sender, receiver = Sender(1, "bench", SenderConfig(copies=1)), Receiver()
        sender.submit(OperationKind.AUTHORITY)
        now = 0.0
        for _ in range(operations):
            sender.submit(OperationKind.PAUSE)
            now += 0.01
            sent: list[Operation] = sender.poll(now)
            receiver.receive(now, sent)
            sender.acknowledge(now, receiver.position.applied_number, 0, 0.0)

    return operations / _least(through)


def _costs(size: int) -> dict[str, Any]:
    """Measure controls as the queue uses them, with deletions kept until the robot's confirmation."""
    store = _filled(size)
    wanted = np.linspace(0.0, PERIOD * size, 500)
    lookups = [_seconds(lambda at=at: store.before_time(at)) for at in wanted]  # type: ignore[misc]
    replication = _handed_over(store)
    after = range(size - 2, size // 2, -2)
    steps = [_seconds(lambda seq=seq: replication.truncate(seq)) for seq in after[:200]]  # type: ignore[misc]
    left = len(store)
    delete_all = _seconds(replication.clear)
    return {
        "lookup": report.quantiles(lookups),
        "brake": report.quantiles(steps),
        "delete_all_ns_per_point": round(1e9 * delete_all / left, 2),
    }


def _handed_over(store: PlanStore) -> PlanReplication:
    """Return a replication with authority that has put every point of the store into operations."""
    replication = PlanReplication("bench", store, SenderConfig(max_unacknowledged=len(store)))
    replication.on_report(0.0, _report(0, "", 0))
    replication.on_report(0.1, _report(replication.sender.epoch, "bench", 1))
    replication.start(store.last_seq)
    return replication


def _report(epoch: int, authority: str, applied: int) -> ExecutorReport:
    return ExecutorReport(
        ExecutorMode.IDLE, "", epoch, authority, applied, 0, "", 0, 0, 0, 0, 0.0, 0.0, 0.0, 0.0, 1.0, 0, 10_000_000
    )


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _least(work: Callable[[], object]) -> float:
    return min(_seconds(work) for _ in range(REPEATS))
