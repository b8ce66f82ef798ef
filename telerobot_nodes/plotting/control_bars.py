"""Bars over time: who had authority over the plan, who requested it, and what an operator's controls were set to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.operator.review import RunRecord, holders, requests, spans
from telerobot_nodes.plotting.figure import DARK_GREY, GREEN, ORANGE, SKY, VERMILION

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NARROW = 0.008  # of the time drawn: shorter bars have no room for a text
Bar = tuple[float, float, str, str]  # from [s], to [s], text, colour
BarRow = tuple[str, list[Bar]]  # name and its bars
HOLDERS = (VERMILION, GREEN, ORANGE, DARK_GREY)  # colour of each agent, in the order they had authority
TRIAL, BRAKE, FREE, REQUESTED = "#9467BD", "#CC3311", SKY, "#BBBBBB"


def draw_bars(axes: Axes, rows: Sequence[BarRow]) -> None:
    """Rows of bars, the first on top."""
    first = min((start for _, bars in rows for start, *_ in bars), default=0.0)
    last = max((end for _, bars in rows for _, end, *_ in bars), default=0.0)
    for row, (_, bars) in enumerate(rows):
        for start, end, text, colour in bars:
            axes.barh(-row, max(end - start, 0.05), left=start, height=0.75, color=colour, alpha=0.85)
            if text and end - start >= NARROW * (last - first):
                axes.annotate(text, (start, -row), (3, 0), textcoords="offset points", va="center", fontsize=7)
    axes.set_yticks([-row for row in range(len(rows))], [name for name, _ in rows], fontsize=8)
    axes.set_ylim(-len(rows) + 0.4, 0.6)
    axes.grid(visible=False, axis="y")


def holder_colours(run: RunRecord) -> dict[str, str]:
    """Colour of each agent that had authority."""
    names = dict.fromkeys(name for _, _, name in holders(run))
    return {name: HOLDERS[n % len(HOLDERS)] for n, name in enumerate(names)}


def authority_rows(run: RunRecord) -> list[BarRow]:
    """Who had authority, and who requested it."""
    colours = holder_colours(run)
    asked = [(a, b, f"{agent}{', granted' if granted else ''}") for a, b, (agent, granted) in requests(run)]
    return [
        ("plan of", [(a, b, name, colours[name]) for a, b, name in holders(run)]),
        ("asks", [(*span, REQUESTED) for span in asked]),
    ]


def switch_bars(time: FloatArray, on: npt.NDArray[Any], colour: str, text: str = "") -> list[Bar]:
    """A bar for every stretch in which `on` (n,) is true."""
    return [(a, b, text, colour) for a, b, value in spans(time, on) if value]


def brake_bars(time: FloatArray, rate: FloatArray) -> list[Bar]:
    """A bar for every stretch of one brake rate (n,) [plan s/s] above zero."""
    return [(a, b, f"{value:g} s/s", BRAKE) for a, b, value in spans(time, rate) if value]


def control_rows(run: RunRecord) -> list[BarRow]:
    """Clutches and brake of the operator whose queue was recorded."""
    if not len(run.controls):
        return []
    time = run.controls.array("time")
    return [
        ("free time", switch_bars(time, ~run.controls.array("time_clutch"), FREE)),
        ("trial path", switch_bars(time, ~run.controls.array("position_clutch"), TRIAL)),
        ("brake", brake_bars(time, run.controls.array("brake_rate"))),
    ]
