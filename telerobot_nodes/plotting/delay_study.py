"""The picture of the delay study: task time over round-trip delay, one line per condition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from telerobot_nodes.plotting.figure import picture


def draw_delay_study(delays: Sequence[float], seconds: Mapping[str, Sequence[float]], file: Path) -> None:
    """Write task times `seconds` (label -> one per delay) [s] over `delays` [s] as PNG."""
    with picture(file, (7.0, 4.5), dpi=150) as figure:
        axes = figure.subplots()
        for label, times in seconds.items():
            axes.plot(delays, times, marker="o", label=label)
        axes.set(xlabel="round trip [s]", ylabel="task time [s]")
        axes.set_ylim(bottom=0.0)
        axes.legend()
