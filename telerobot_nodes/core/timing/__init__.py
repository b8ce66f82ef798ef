"""Time along a path: interpolation, velocity profiles, time parameterization inside the limits."""

from __future__ import annotations

from telerobot_nodes.core.timing.path_timing import TimedPath, time_path
from telerobot_nodes.core.timing.timing import AbsoluteTimer, Histogram, PeriodStatistics

__all__ = [
    "AbsoluteTimer",
    "Histogram",
    "PeriodStatistics",
    "TimedPath",
    "time_path",
]
