"""What must hold under a fault, judged from what an observer beside the graph has recorded.

What belongs here: functions of recorded values and times. What must never enter: ROS, clocks, a node's own claim about
something that the recording shows. Times are of one monotonic clock [s]; a time that never came is infinite.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from telerobot_nodes.core.protocol import ControlState, HardwareState, UpdateKind
from telerobot_nodes.core.robot import JointLimits
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.plan.log import EPOCH_BLOCK

STILL = 0.01  # [rad/s] a joint below it rests
SEEN = 0.02  # [s] that a recording must go on to show a rest
SLACK = 1e-6  # [-] relative, of rounding
TAKES = (HardwareState.READY, HardwareState.HOLDING)  # setpoints
REPORTED = (ControlState.STOPPING, ControlState.STOPPED, ControlState.FAULT)


class Measured(NamedTuple):
    """Measured joints at their receipt."""

    time: float
    position: FloatArray  # (dof,) [rad]
    velocity: FloatArray  # (dof,) [rad/s]


class Setpoint(NamedTuple):
    """A setpoint at its receipt."""

    time: float
    number: int
    position: FloatArray  # (dof,) [rad]
    velocity: FloatArray  # (dof,) [rad/s]
    acceleration: FloatArray  # (dof,) [rad/s^2]


class Loop(NamedTuple):
    """State of the control loop at its receipt."""

    time: float
    state: int
    steps: int
    missed: int
    halted: bool


@dataclass
class Trace:
    """What an observer on the robot's host has received since it was cleared."""

    measured: list[Measured] = field(default_factory=list)
    setpoints: list[Setpoint] = field(default_factory=list)
    loop: list[Loop] = field(default_factory=list)
    hardware: list[tuple[float, int]] = field(default_factory=list)  # time, state
    executed: list[tuple[int, int]] = field(default_factory=list)  # first and last point
    tails: list[tuple[float, int]] = field(default_factory=list)  # time, last point held
    holders: list[tuple[float, str, int]] = field(default_factory=list)  # time, agent, epoch


class Once(NamedTuple):
    """What became of a run of points."""

    lost: int
    twice: int
    out_of_order: int


class PlanChange(NamedTuple):
    """A change of the operator's plan."""

    kind: int  # UpdateKind
    after_seq: int
    first_seq: int
    places: Sequence[tuple[float, ...]]  # of the points from `first_seq` on


def points_of(executed: Iterable[tuple[int, int]]) -> set[int]:
    """All points of some ranges."""
    return {seq for begin, end in executed for seq in range(begin, end + 1)}


def replaced(changes: Iterable[PlanChange]) -> tuple[dict[int, tuple[float, ...]], dict[int, tuple[float, ...]]]:
    """The plan after all changes, and the points that it once had and has no more; places by number."""
    held: dict[int, tuple[float, ...]] = {}
    gone: dict[int, tuple[float, ...]] = {}
    for change in changes:
        if change.kind == UpdateKind.TRUNCATE:
            left = {seq: place for seq, place in held.items() if seq > change.after_seq}
        else:
            left = dict(held) if change.kind == UpdateKind.RESET else {}
        gone |= left
        held = {seq: place for seq, place in held.items() if seq not in left}
        for seq, place in enumerate(change.places, change.first_seq):
            held[seq] = place
            gone.pop(seq, None)
    return held, gone


def renumbered(changes: Iterable[PlanChange], executed: Iterable[tuple[int, int]]) -> tuple[set[int], set[int]]:
    """Numbers that the plan has no more and that were not executed: of all such points, and of those not laid again.

    What a robot that was started again has lost gets new numbers: a point of the same place and a greater number.
    """
    held, gone = replaced(changes)
    seen = points_of(executed)
    without = {seq: place for seq, place in gone.items() if seq not in seen}
    latest = {place: seq for seq, place in sorted(held.items())}
    return set(without), {seq for seq, place in without.items() if latest.get(place, 0) <= seq}


def between_plans(changes: Iterable[PlanChange], executed: Iterable[tuple[int, int]], last: int) -> set[int]:
    """Numbers up to `last` that no plan had: a plan queue that starts again goes on at the next block of numbers."""
    held, gone = replaced(changes)
    tops: dict[int, int] = {}
    for seq in (*held, *gone, *points_of(executed)):
        tops[seq // EPOCH_BLOCK] = max(tops.get(seq // EPOCH_BLOCK, 0), seq)
    blocks = sorted(block for block in tops if (block + 1) * EPOCH_BLOCK <= last)
    return {seq for block in blocks for seq in range(tops[block] + 1, (block + 1) * EPOCH_BLOCK)}


def executed_once(executed: Sequence[tuple[int, int]], first: int, last: int, dropped: Iterable[int] = ()) -> Once:
    """Count violations among points `first` to `last`, from ranges in the order of their receipt.

    `dropped`: points that need not be executed, for the operator's plan has given them up.
    """
    seen: Counter[int] = Counter()
    latest = out_of_order = 0
    for begin, end in executed:
        for seq in range(max(begin, first), min(end, last) + 1):
            out_of_order += seq < latest and not seen[seq]
            seen[seq] += 1
            latest = max(latest, seq)
    twice = sum(count - 1 for count in seen.values())
    due = set(range(first, last + 1)) - set(dropped)
    return Once(lost=len(due - set(seen)), twice=twice, out_of_order=out_of_order)


def rest_after(measured: Sequence[Measured], since: float) -> float:
    """From `since` until the arm rests, and stays at rest in the recording [s].

    Infinite when the recording ends in motion, or so soon that nobody saw the rest.
    """
    rest = math.inf
    if not measured or measured[-1].time < since + SEEN:
        return rest
    for row in measured:
        if row.time < since:
            continue
        if float(np.abs(row.velocity).max(initial=0.0)) > STILL:
            rest = math.inf
        elif rest == math.inf:
            rest = row.time - since
    return rest


def detected_after(trace: Trace, since: float) -> float:
    """From `since` until loop or hardware reports that it no longer follows [s]."""
    times = [row.time for row in trace.loop if row.time >= since and row.state in REPORTED]
    times += [time for time, state in trace.hardware if time >= since and state != HardwareState.READY]
    return min(times, default=math.inf) - since


def was_moving(measured: Sequence[Measured], at: float, within: float = 0.1) -> bool:
    """Whether a joint moved shortly before `at` [s]: a fault in a motion that was none proves nothing."""
    return any(
        at - within <= row.time <= at and float(np.abs(row.velocity).max(initial=0.0)) > STILL for row in measured
    )


def excess(setpoints: Sequence[Setpoint], limits: JointLimits) -> int:
    """Setpoints outside a limit of position, velocity or acceleration, or not finite."""
    count = 0
    for row in setpoints:
        room = SLACK * (limits.upper - limits.lower)
        inside = (
            np.all(row.position >= limits.lower - room)
            and np.all(row.position <= limits.upper + room)
            and np.all(np.abs(row.velocity) <= limits.velocity * (1.0 + SLACK))
            and np.all(np.abs(row.acceleration) <= limits.acceleration * (1.0 + SLACK))
        )
        count += not inside  # a comparison with NaN is false
    return count


def jumps(setpoints: Sequence[Setpoint], limits: JointLimits, period: float, measured: Sequence[Measured] = ()) -> int:
    """Steps between setpoints of following numbers that no motion inside the velocity limits makes.

    The time of a step is its numbers' difference times `period` [s] of the loop. A number that is not greater begins a
    new life of the loop: its first setpoint must be where the arm was `measured` last, which came to rest meanwhile.
    """
    count = 0
    times = [row.time for row in measured]
    for before, after in itertools.pairwise(setpoints):
        steps, start = after.number - before.number, before.position
        if steps <= 0:
            steps, known = 1, bisect_right(times, after.time)
            start = measured[known - 1].position if known else start
        reach = limits.velocity * period * steps * 1.05 + 1e-4
        count += not bool(np.all(np.abs(after.position - start) <= reach))
    return count


def moved_after(setpoints: Sequence[Setpoint], since: float, hardware: Sequence[tuple[float, int]] = ()) -> int:
    """Setpoints in motion after `since` [s] that the hardware takes, by its next report (time, state); without: all.

    In a fault the loop moves its setpoint to where the arm stands, and the hardware refuses it: nothing moves.
    """
    times = [time for time, _ in hardware]
    count = 0
    for row in setpoints:
        if row.time > since and float(np.abs(row.velocity).max(initial=0.0)) > STILL:
            report = bisect_left(times, row.time)
            count += report == len(times) or hardware[report][1] in TAKES
    return count


def travel(measured: Sequence[Measured], since: float) -> float:
    """Largest distance of a joint from where it was first measured after `since` [rad]; infinite without any."""
    rows = [row.position for row in measured if row.time > since]
    return max((float(np.abs(row - rows[0]).max(initial=0.0)) for row in rows), default=math.inf)


def lateness(loop: Sequence[Loop]) -> tuple[int, int, int]:
    """Control steps, missed periods, and most periods missed between two states of the recording."""
    if len(loop) < 2:
        return 0, 0, 0
    pairs = [(a, b) for a, b in itertools.pairwise(loop) if b.steps >= a.steps and b.missed >= a.missed]
    most = max((b.missed - a.missed for a, b in pairs), default=0)
    return sum(b.steps - a.steps for a, b in pairs), sum(b.missed - a.missed for a, b in pairs), most


def longest_gap(times: Sequence[float], since: float, until: float) -> float:
    """Longest pause between receipts from `since` to `until` [s], both ends included."""
    inside = [since, *(time for time in times if since < time < until), until]
    return max(b - a for a, b in itertools.pairwise(inside))


def tail_growth(tails: Sequence[tuple[float, int]], since: float, until: float) -> int:
    """Points that the robot admitted from `since` to `until` [s]."""
    inside = [tail for time, tail in tails if since <= time <= until]
    return max(inside) - inside[0] if inside else 0


def changes_of_holder(holders: Sequence[tuple[float, str, int]]) -> int:
    """How often the holder of authority, or its epoch, changed."""
    return sum(a[1:] != b[1:] for a, b in itertools.pairwise(holders))


def delays(sent: Mapping[Any, float], arrived: Mapping[Any, float]) -> list[float]:
    """From first sending to first arrival, of what arrived [s]."""
    return [arrived[name] - sent[name] for name in sent if name in arrived]


def p95(values: Sequence[float]) -> float:
    """95th percentile; infinite without values."""
    return float(np.percentile(values, 95)) if len(values) else math.inf
