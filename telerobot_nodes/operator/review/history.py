"""Offline check of the plan: every point recorded and not deleted is executed exactly once and in order."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate, takewhile

import numpy as np
import numpy.typing as npt

from telerobot_nodes.core.protocol import UpdateKind
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.operator.review.run_record import Executed, PlanChange

Sequence = npt.NDArray[np.int64]
_Points = dict[int, tuple[float, FloatArray, float]]  # number -> plan time [s], position [m], receipt [s]


@dataclass(frozen=True)
class PlannedPath:
    """The points that were recorded and not deleted, in order."""

    seq: Sequence  # (n,)
    plan_time: FloatArray  # (n,) [s]
    position: FloatArray  # (n, 3) [m] WORLD
    laid_at: FloatArray  # (n,) [s] receipt


@dataclass(frozen=True)
class History:
    """What became of the points of a plan."""

    planned: int
    executed: int
    duplicates: int
    lost: int  # never reported executed
    pending: int  # of the lost: after the last one executed
    out_of_order: int
    unknown: int  # executed and never recorded


def planned_path(changes: Iterable[PlanChange], executed: Iterable[Executed] = ()) -> PlannedPath:
    """The plan after all `changes`. A reset keeps the points in `executed` before it."""
    states = deque(_replay(changes, executed), maxlen=1)
    points = states[0][1] if states else {}
    order = sorted(points)
    return PlannedPath(
        seq=np.array(order, dtype=np.int64),
        plan_time=np.array([points[seq][0] for seq in order], dtype=np.float64),
        position=np.array([points[seq][1] for seq in order], dtype=np.float64).reshape(-1, 3),
        laid_at=np.array([points[seq][2] for seq in order], dtype=np.float64),
    )


def laid_over_time(changes: Iterable[PlanChange], executed: Iterable[Executed] = ()) -> tuple[FloatArray, FloatArray]:
    """Number of points recorded and not deleted: receipts (n,) [s] and counts (n,) after each update."""
    counts = [(time, float(len(points))) for time, points in _replay(changes, executed)]
    table = np.array(counts, dtype=np.float64).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def _replay(changes: Iterable[PlanChange], executed: Iterable[Executed]) -> Iterator[tuple[float, _Points]]:
    reached = sorted((entry.time, entry.last_seq) for entry in executed)
    times = [time for time, _ in reached]
    highest = [0, *accumulate((last for _, last in reached), max)]
    points: _Points = {}
    for change in changes:
        if change.kind == UpdateKind.TRUNCATE:
            _delete_above(points, change.after_seq)
        if change.kind == UpdateKind.RESET:
            _delete_above(points, highest[bisect_right(times, change.time)])
        for i, plan_time in enumerate(change.plan_time):
            points[change.first_seq + i] = (float(plan_time), change.position[i], change.time)
        yield change.time, points


def _delete_above(points: _Points, after_seq: int) -> None:
    """Delete the points above a number; numbers increase in the order of the points."""
    for seq in list(takewhile(lambda seq: seq > after_seq, reversed(points))):
        del points[seq]


def check_history(path: PlannedPath, changes: Iterable[PlanChange], executed: Iterable[Executed]) -> History:
    """Count violations of exactly-once and in-order execution.

    ExecutedPoints holds ranges of numbers. Numbers inside a range that were deleted or never recorded are gaps in the
    numbering, unless the range consists of such numbers only.
    """
    kept = set(path.seq.tolist())
    laid = {seq for change in changes for seq in range(change.first_seq, change.first_seq + len(change.plan_time))}
    seen: dict[int, int] = {}
    latest = out_of_order = unknown = 0
    for entry in executed:
        numbers = [seq for seq in range(entry.first_seq, entry.last_seq + 1) if seq in kept]
        if not numbers and not any(seq in laid for seq in range(entry.first_seq, entry.last_seq + 1)):
            unknown += entry.last_seq - entry.first_seq + 1
        for seq in numbers:
            out_of_order += seq < latest and seq not in seen
            seen[seq] = seen.get(seq, 0) + 1
            latest = max(latest, seq)
    return History(
        planned=len(kept),
        executed=len(seen),
        duplicates=sum(count - 1 for count in seen.values()),
        lost=len(kept) - len(seen),
        pending=sum(seq > latest for seq in kept),
        out_of_order=out_of_order,
        unknown=unknown,
    )
