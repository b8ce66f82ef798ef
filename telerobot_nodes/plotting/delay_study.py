"""The picture of the delay study: task time over round-trip delay, a panel per task, a line per condition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import fill

from telerobot_nodes.plotting.figure import picture

COLUMNS = 3

Line = Sequence[Sequence[float]]  # mean and interval [s], one per delay
Panel = tuple[Sequence[float], Mapping[str, Line]]  # delays [s], lines by their labels


def draw_delay_study(panels: Mapping[str, Panel], file: Path) -> None:
    """Write task times over delays as PNG; `panels` by the titles of the tasks."""
    columns = min(COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    with picture(file, (4.2 * columns, 3.6 * rows), dpi=120) as figure:
        grid = list(figure.subplots(rows, columns, squeeze=False).flat)
        for axes, (title, (delays, lines)) in zip(grid, panels.items(), strict=False):
            for label, cells in lines.items():
                mean, low, high = zip(*cells, strict=True)
                (drawn,) = axes.plot(delays, mean, marker="o", markersize=3, label=label)
                axes.fill_between(delays, low, high, alpha=0.2, color=drawn.get_color(), linewidth=0)
            axes.set_title(fill(title, 42), fontsize=9)
            axes.set(xlabel="round trip [s]", ylabel="task time [s]")
            axes.set_ylim(bottom=0.0)
        for axes in grid[len(panels) :]:
            axes.set_visible(False)
        figure.axes[0].legend(fontsize=7)
