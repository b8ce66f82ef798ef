"""The picture of a whole recording on one time axis: controls, commands, primitives, force, refusals, and who."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.operator.review import Ended, EventKind, Review, RunRecord
from telerobot_nodes.plotting.control_bars import BRAKE, Bar, authority_rows, control_rows, draw_bars
from telerobot_nodes.plotting.figure import BLUE, GREEN, ORANGE, PURPLE, VERMILION, note, picture, thin

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS = 2000  # stretches of time, each with its lowest and highest value
MARKS = {  # events drawn as marks, in rows below the bars
    EventKind.REFUSAL: VERMILION,
    EventKind.HALT: BRAKE,
    EventKind.ESTOP: BRAKE,
    EventKind.FORCE: PURPLE,
    EventKind.CONFLICT: ORANGE,
}


def draw_events(found: Review, file: Path) -> None:
    """Write the picture as PNG."""
    with picture(file, (14.0, 7.6)) as figure:
        _layout(figure, found.run)


def _layout(figure: Figure, run: RunRecord) -> None:
    rows = [*authority_rows(run), *control_rows(run)]
    rows += [("commands", _bars(run.ended)), ("primitives", _bars(run.primitives))]
    rows += [(kind.value, _marks(run, kind)) for kind in MARKS]
    rows = [(name, bars) for name, bars in rows if bars]
    panels = figure.subplots(4, 1, sharex=True, height_ratios=(0.4 + 0.22 * len(rows), 0.8, 0.8, 1.2))
    panels[0].set_title("Who had the plan, what the operator set, what ran, what was refused")
    draw_bars(panels[0], rows)
    _draw_setting(panels[1], run, "time_ratio", "Time ratio [-]", BLUE)
    _draw_setting(panels[2], run, "gripper", "Gripper asked for [m]", GREEN)
    _draw_force(panels[3], run)
    panels[0].set_xlim(0.0, max(run.duration, 1.0))
    panels[-1].set_xlabel("time since recording began [s]")


def _bars(entries: Iterable[Ended]) -> list[Bar]:
    return [
        (entry.start, max(entry.end, entry.start), entry.name, GREEN if entry.succeeded else VERMILION)
        for entry in entries
    ]


def _marks(run: RunRecord, kind: EventKind) -> list[Bar]:
    width = run.duration / COLUMNS
    return [(event.time, event.time + width, "", MARKS[kind]) for event in run.events if event.kind is kind]


def _draw_setting(axes: Axes, run: RunRecord, name: str, title: str, colour: str) -> None:
    axes.set_title(title)
    if len(run.controls):
        time, values = thin(run.controls.array("time")), thin(run.controls.array(name))
        axes.plot(time, np.where(values < 0.0, np.nan, values), color=colour, drawstyle="steps-post")
    else:
        note(axes, "no state of a plan queue in the recording")


def _draw_force(axes: Axes, run: RunRecord) -> None:
    axes.set_title("Force at the sensor, lowest and highest [N]")
    if not len(run.wrench):
        note(axes, "no wrench in the recording")
        return
    force = np.linalg.norm(run.wrench.array("force"), axis=1)
    time, low, high = extremes(run.wrench.array("time"), force)
    axes.fill_between(time, low, high, color=PURPLE, lw=0.8)
    axes.set_ylim(bottom=0.0)


def extremes(time: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Times, lowest and highest value of at most COLUMNS stretches of `values` (n,): no peak is thinned away."""
    starts = np.unique(np.linspace(0, len(values), COLUMNS, endpoint=False).astype(np.int64))
    return time[starts], np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)
