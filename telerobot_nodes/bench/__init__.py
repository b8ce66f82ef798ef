"""Measurements: `telerobot bench NAME`."""

from __future__ import annotations

from telerobot_nodes.bench import report
from telerobot_nodes.bench.options import BENCHMARKS, Kind, benchmark_named, checked_options, chosen, is_on

__all__ = [
    "BENCHMARKS",
    "Kind",
    "benchmark_named",
    "checked_options",
    "chosen",
    "is_on",
    "report",
]
