"""Who planned and how, over time: authority, clutches, brake and trial path as bars; the trial path as lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.operator.run_record import RunRecord

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Span = tuple[float, float, str]  # from [s], to [s], what
NARROW = 0.008  # of the time drawn: shorter bars have no room for a text
Bar = tuple[float, float, str, str]  # from [s], to [s], text, colour
HOLDERS = ("#D55E00", "#009E73", "#E69F00", "#666666")  # colour of each agent, in the order they had the plan
TRIAL, BRAKE, FREE, ASKING = "#9467BD", "#CC3311", "#56B4E9", "#BBBBBB"


def spans(time: FloatArray, value: Any) -> list[Span]:
    """Stretches of one value, as (from, to, value); values are compared and told as text."""
    text = np.array([str(entry) for entry in value])
    if not len(text):
        return []
    starts = np.flatnonzero(np.concatenate(([True], text[1:] != text[:-1])))
    ends = np.concatenate((time[starts[1:]], time[-1:]))
    return [(float(time[i]), float(end), str(text[i])) for i, end in zip(starts, ends, strict=True)]


def holders(run: RunRecord) -> list[Span]:
    """When each agent had the plan; nobody is left out."""
    if not len(run.authority):
        return []
    return [span for span in spans(run.authority.array("time"), run.authority.array("holder")) if span[2]]


def holder_colours(run: RunRecord) -> dict[str, str]:
    """Colour of each agent that had the plan."""
    names = dict.fromkeys(name for _, _, name in holders(run))
    return {name: HOLDERS[n % len(HOLDERS)] for n, name in enumerate(names)}


def trial_paths(run: RunRecord) -> Iterator[FloatArray]:
    """Every trial path (n, 3) [m] as far as it was laid at its longest, the braked part left out."""
    line: list[FloatArray] = []
    numbers: list[int] = []
    for change in run.trials:
        if change.kind == 2 and line:
            yield np.array(line)
        if change.kind == 2:
            line, numbers = [], []
        if change.kind == 1:
            kept = sum(number <= change.after_seq for number in numbers)
            del line[kept:], numbers[kept:]
        line += list(change.position)
        numbers += range(change.first_seq, change.first_seq + len(change.position))
    if line:
        yield np.array(line)


def draw_controls(axes: Axes, run: RunRecord) -> None:
    """Bars over time, one row per control."""
    draw_bars(axes, [("plan of", _authority_bars(run)), ("asks", asking_bars(run)), *_control_rows(run)])
    axes.set_title("Who planned, and how")


def draw_bars(axes: Axes, rows: Sequence[tuple[str, list[Bar]]]) -> None:
    """Rows of bars, a name and its bars each."""
    rows_start = min((start for _, bars in rows for start, *_ in bars), default=0.0)
    rows_end = max((end for _, bars in rows for _, end, *_ in bars), default=0.0)
    for row, (_, bars) in enumerate(rows):
        for start, end, text, colour in bars:
            axes.barh(-row, max(end - start, 0.05), left=start, height=0.75, color=colour, alpha=0.85)
            if text and end - start >= NARROW * (rows_end - rows_start):
                axes.annotate(text, (start, -row), (3, 0), textcoords="offset points", va="center", fontsize=7)
    axes.set_yticks([-row for row in range(len(rows))], [name for name, _ in rows], fontsize=8)
    axes.set_ylim(-len(rows) + 0.4, 0.6)
    axes.grid(visible=False, axis="y")


def _authority_bars(run: RunRecord) -> list[Bar]:
    colours = holder_colours(run)
    return [(start, end, name, colours[name]) for start, end, name in holders(run)]


def asking_bars(run: RunRecord) -> list[Bar]:
    """Who asks for the plan, and whether it was granted."""
    if not len(run.authority):
        return []
    rows = zip(run.authority.array("asker"), run.authority.array("granted"), strict=True)
    told = [f"{asker}{', granted' if granted else ''}" if asker else "" for asker, granted in rows]
    return [(*span, ASKING) for span in spans(run.authority.array("time"), told) if span[2]]


def _control_rows(run: RunRecord) -> list[tuple[str, list[Bar]]]:
    if not len(run.controls):
        return []
    time = run.controls.array("time")
    free = [not engaged for engaged in run.controls.array("time_clutch")]
    trial = [not engaged for engaged in run.controls.array("position_clutch")]
    brake = [f"{rate:g} s/s" if rate else "" for rate in run.controls.array("brake_rate")]
    return [
        ("free time", [(a, b, "", FREE) for a, b, on in spans(time, free) if on == "True"]),
        ("trial path", [(a, b, "", TRIAL) for a, b, on in spans(time, trial) if on == "True"]),
        ("brake", [(a, b, text, BRAKE) for a, b, text in spans(time, brake) if text]),
    ]
