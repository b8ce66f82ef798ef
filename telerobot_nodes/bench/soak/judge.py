"""What grows in a long run, and which periods of the control loop nobody was told of.

What belongs here: functions of recorded samples. What must never enter: ROS, clocks, files.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from telerobot_nodes.bench import report
from telerobot_nodes.bench.faults import Loop
from telerobot_nodes.bench.soak.usage import Sample, Usage

WARM_UP = 0.25  # [-] of the samples: what is loaded and allocated once is no growth
LEAST = 8  # samples
ENDS = 100  # states of the loop at each end of the run
ROUNDING = 1.0  # [periods]
MEMORY, SHARED = 50.0, 20.0  # [MB] most growth in a run: of a process, of /dev/shm
Goal = dict[str, Any]


class Growth(NamedTuple):
    """A quantity over time."""

    first: float  # after the warm-up
    last: float
    per_hour: float  # least squares

    def in_run(self, seconds: float) -> float:
        """What the slope makes of so long a run."""
        return self.per_hour * seconds / 3600.0


def growth(times: Sequence[float], values: Sequence[float]) -> Growth:
    """Of samples without those of the warm-up; NaN when too few are left."""
    begin = math.ceil(WARM_UP * len(times))
    time, value = np.asarray(times[begin:], dtype=float), np.asarray(values[begin:], dtype=float)
    if len(time) < LEAST:
        return Growth(math.nan, math.nan, math.nan)
    slope = np.polyfit(time - time[0], value, 1)[0]
    return Growth(float(value[0]), float(value[-1]), 3600.0 * float(slope))


def growths(samples: Sequence[Sample]) -> dict[str, dict[str, Growth]]:
    """Memory [MB], descriptors and threads of every process that lived all the time, and /dev/shm."""
    times = [sample.time for sample in samples]
    names = set.intersection(*(set(sample.processes) for sample in samples)) if samples else set()
    found = {name: _of_process(times, [sample.processes[name] for sample in samples]) for name in sorted(names)}
    found["/dev/shm"] = {
        "memory": growth(times, [sample.shared for sample in samples]),
        "files": growth(times, [sample.shared_files for sample in samples]),
    }
    return found


def _of_process(times: Sequence[float], rows: Sequence[Usage]) -> dict[str, Growth]:
    return {name: growth(times, [getattr(row, name) for row in rows]) for name in Usage._fields}


def untold(loop: Sequence[Loop], period: float) -> float:
    """Periods of the control loop that it neither stepped nor counted as missed, from its states as received.

    A state that waited on its way is no miss: of both ends of the run, those that came soonest count.
    """
    rows = [row for row in loop if row.steps >= loop[0].steps]
    if len(rows) < 2:
        return math.nan
    begin, end = rows[:ENDS], rows[-ENDS:]
    due = min(map(_offset(period), end)) - min(map(_offset(period), begin))
    return max(0.0, due / period - ROUNDING)


def _offset(period: float) -> Callable[[Loop], float]:
    return lambda row: row.time - period * (row.steps + row.missed)


def figures_of(found: dict[str, dict[str, Growth]]) -> dict[str, Any]:
    """Growths as a part of a result."""
    return {
        name: {
            quantity: {key: round(value, 3) for key, value in one._asdict().items()} for quantity, one in row.items()
        }
        for name, row in found.items()
    }


def goals_of(found: dict[str, dict[str, Growth]], seconds: float) -> list[Goal]:
    """What must not grow. Bounds of megabytes are those of the design's faults; a run this long is all they judge."""
    processes = {name: row for name, row in found.items() if name != "/dev/shm"}
    most = {
        quantity: max((row[quantity].in_run(seconds) for row in processes.values()), default=math.nan)
        for quantity in Usage._fields
    }
    shared = found["/dev/shm"]["memory"].in_run(seconds)
    return [
        report.goal("most growth of a process's memory", most["memory"], "MB", "<=", MEMORY),
        report.goal("most growth of a process's open files", most["descriptors"], "-", "<=", 1.0),
        report.goal("most growth of a process's threads", most["threads"], "-", "<=", 1.0),
        report.goal("growth of /dev/shm", shared, "MB", "<=", SHARED),
    ]
