"""Setpoints, control loop and stops while the graph is disturbed, from what an observer has recorded.

What belongs here: functions of recorded values and times. What must never enter: ROS, clocks, processes.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from telerobot_nodes.bench import report
from telerobot_nodes.bench.faults import Loop, lateness
from telerobot_nodes.core.protocol import ControlState, HardwareState

PERIOD, EVERY = (
    0.002,
    2,
)  # [s] of the control loop by default; steps between two setpoints, which bear the step's number
GAP = 0.020  # [s] largest between two setpoints
LATE = 2  # periods of the loop
STOPS = (ControlState.STOPPING, ControlState.STOPPED, ControlState.FAULT)
Goal = dict[str, Any]


class Setpoint(NamedTuple):
    """A setpoint: when the observer received it, when the loop made it, its number."""

    received: float  # [s]
    made: float  # [s]
    number: int


@dataclass
class Record:
    """What the observer received of the robot."""

    setpoints: list[Setpoint] = field(default_factory=list)
    loop: list[Loop] = field(default_factory=list)
    hardware: list[tuple[float, int]] = field(default_factory=list)  # time [s], HardwareState

    def between(self, since: float, until: float) -> Record:
        """The part of it that was received from `since` to `until` [s]."""
        return Record(
            [one for one in self.setpoints if since <= one.received <= until],
            [one for one in self.loop if since <= one.time <= until],
            [one for one in self.hardware if since <= one[0] <= until],
        )


def gaps(times: Sequence[float]) -> list[float]:
    """Pauses between times that follow one another [s]."""
    return [after - before for before, after in itertools.pairwise(times)]


def gaps_made(setpoints: Sequence[Setpoint]) -> list[float]:
    """Pauses of the loop between setpoints [s]: those that the observer did not receive lay between them in time."""
    pauses = gaps([one.made for one in setpoints])
    return [pause - max(0, steps - EVERY) * PERIOD for pause, steps in zip(pauses, _steps(setpoints), strict=True)]


def figures_of(record: Record) -> dict[str, Any]:
    """Counts and times of a record, as a part of a result."""
    steps, missed, most = lateness(record.loop)
    at_loop, at_observer = gaps_made(record.setpoints), gaps([one.received for one in record.setpoints])
    return {
        "setpoints": len(record.setpoints),
        "not_received": sum(max(0, steps // EVERY - 1) for steps in _steps(record.setpoints)),
        "gap_made_ms": round(1e3 * max(at_loop, default=float("nan")), 2),
        "gap_received_ms": round(1e3 * max(at_observer, default=float("nan")), 2),
        "gaps_over_20_ms_received": sum(gap > GAP for gap in at_observer),
        "steps": steps,
        "missed": missed,
        "most_missed_at_once": most,
        "stops": stops(record),
    }


def _steps(setpoints: Sequence[Setpoint]) -> list[int]:
    return [after.number - before.number for before, after in itertools.pairwise(setpoints)]


def stops(record: Record) -> int:
    """How often the loop came to a stop, or the hardware was no longer ready, after the first report of each."""
    loop = [one.state in STOPS for one in record.loop]
    hardware = [state != HardwareState.READY for _, state in record.hardware]
    return sum(_begins(loop)) + sum(_begins(hardware))


def _begins(flags: Sequence[bool]) -> list[bool]:
    return [flag and not before for before, flag in itertools.pairwise(flags)]


def goals_of(name: str, figures: dict[str, Any]) -> list[Goal]:
    """What must hold of a part."""
    return [
        report.goal(f"{name}: stops", figures["stops"], "-", "==", 0),
        report.goal(f"{name}: longest gap of setpoints, as made", figures["gap_made_ms"], "ms", "<=", 1e3 * GAP),
        report.goal(f"{name}: longest gap, as received", figures["gap_received_ms"], "ms", "<=", 1e3 * GAP),
        report.goal(f"{name}: most periods missed at once", figures["most_missed_at_once"], "-", "<=", LATE),
    ]
