"""Table and picture of a delay study, from task times by subject: seeds of the scripted operator, or people.

What belongs here: numbers and their texts. What must never enter: who performed the tasks, and how.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from telerobot_nodes.plotting import draw_delay_study
from telerobot_nodes.study.design import CONDITIONS, DIRECT, STUDIED, WARM_UP
from telerobot_nodes.study.results.intervals import Interval, mean_interval, ratio_interval

DIGITS = 3
TITLES = {name: task.title for name, task in {**STUDIED, **WARM_UP}.items()}
NOT_DONE = (float("nan"),) * 3  # a gap in the picture

Cell = tuple[float, float, float] | None  # estimate and interval; None: nobody has done it
Times = Mapping[tuple[str, float], Mapping[Any, float]]  # condition, round trip [s]: task time [s] by subject


def time_rows(delays: Sequence[float], times: Times) -> dict[str, dict[str, list[Cell]]]:
    """Means [s] and, where 0 s is among the `delays` [s], ratios to direct teleoperation at 0 s.

    Each condition is a row, each delay a column. A ratio is drawn in pairs: of the subjects who did both.
    """
    rows = {"seconds": {c: [_mean(times.get((c, d), {})) for d in delays] for c in CONDITIONS}}
    direct = times.get((DIRECT, 0.0), {})
    if 0.0 in delays and direct:
        rows["to_direct_at_0_s"] = {c: [_ratio(times.get((c, d), {}), direct) for d in delays] for c in CONDITIONS}
    return rows


def text(name: str, delays: Sequence[float], rows: Mapping[str, Any]) -> str:
    """Task time [s] with half the width of its interval, a row per condition, a column per delay."""
    lines = [f"{name}: {TITLES[name]}", "round trip [s]".ljust(42) + "".join(f"{d:14.1f}" for d in delays)]
    for condition, title in CONDITIONS.items():
        shown = "".join(_shown(cell) for cell in rows["seconds"][condition])
        lines.append(f"({condition}) {title}".ljust(42) + shown)
    return "\n".join(lines)


def draw(tables: Mapping[str, tuple[Sequence[float], Mapping[str, Any]]], file: Path) -> None:
    """Write the picture; `tables`: delays [s] and rows by task."""
    draw_delay_study({TITLES[name]: (delays, _lines(rows)) for name, (delays, rows) in tables.items()}, file)


def _lines(rows: Mapping[str, Any]) -> dict[str, Sequence[Sequence[float]]]:
    seconds = rows["seconds"]
    return {f"({c}) {CONDITIONS[c]}": [cell or NOT_DONE for cell in seconds[c]] for c in CONDITIONS if any(seconds[c])}


def _shown(cell: Cell) -> str:
    if cell is None:
        return "-".rjust(14)
    mean, low, high = cell
    return f"{mean:8.1f} +-{0.5 * (high - low):4.1f}"


def _mean(times: Mapping[Any, float]) -> Cell:
    return _rounded(mean_interval(list(times.values()))) if times else None


def _ratio(upper: Mapping[Any, float], lower: Mapping[Any, float]) -> Cell:
    both = [subject for subject in upper if subject in lower]
    if not both:
        return None
    return _rounded(ratio_interval(np.array([upper[s] for s in both]), np.array([lower[s] for s in both])))


def _rounded(interval: Interval) -> tuple[float, float, float]:
    estimate, low, high = interval
    return round(estimate, DIGITS), round(low, DIGITS), round(high, DIGITS)
