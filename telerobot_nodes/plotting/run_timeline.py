"""The picture of who planned when, for several operators of one robot: authority, controls, leads, points, tracking.

All recordings are drawn on one time axis by the clocks of their recorders: an offset between the clocks of two hosts
shifts the rows of that operator.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from telerobot_nodes.core.protocol import ControlState
from telerobot_nodes.operator.review import EventKind, Review, RunRecord, Side, holders, laid_over_time, spans
from telerobot_nodes.plotting.control_bars import (
    BRAKE,
    FREE,
    REQUESTED,
    TRIAL,
    BarRow,
    authority_rows,
    brake_bars,
    draw_bars,
    holder_colours,
    switch_bars,
)
from telerobot_nodes.plotting.figure import picture, thin
from telerobot_nodes.plotting.run_summary import ACTUAL, MARK, PLAN, span_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_timeline(found: Review, sides: Sequence[Side], file: Path) -> None:
    """Write the picture as PNG."""
    with picture(file, (11.0, 8.2)) as figure:
        _layout(figure, found, sides)


def _layout(figure: Figure, found: Review, sides: Sequence[Side]) -> None:
    run, summary = found.run, found.summary
    link = f", link {summary.link['delay']:g} s and {summary.link['loss']:.0%} loss each way" if summary.link else ""
    figure.suptitle(
        f"{summary.points_executed} of {summary.points_planned} points executed{link}", x=0.01, ha="left", fontsize=11
    )
    panels = figure.subplots(4, 1, sharex=True, height_ratios=(0.6 + 0.24 * (3 + 2 * len(sides)), 1.3, 1.3, 1.0))
    _draw_bars(panels[0], run, sides)
    _draw_leads(panels[1], run, sides)
    _draw_points(panels[2], run)
    _draw_tracking(panels[3], found)
    colours = holder_colours(run)
    for axes in panels:
        for start, _, name in holders(run):
            axes.axvline(start, color=colours[name], lw=1.0, ls=":")
        for event in run.events:
            if event.kind is EventKind.HALT:
                axes.axvline(event.time, color=BRAKE, lw=1.0, ls=":")
    panels[0].set_xlim(*span_of(found))
    panels[-1].set_xlabel("time since the robot's recording began [s]")


def _draw_bars(axes: Axes, run: RunRecord, sides: Sequence[Side]) -> None:
    robot = spans(run.control.array("time"), [_motion(state) for state in run.control.array("state")])
    rows = authority_rows(run)
    rows.append(("robot", [(a, b, text, ACTUAL if text == "moves" else REQUESTED) for a, b, text in robot if text]))
    for side in sides:
        rows += _side_rows(side, run.start)
    draw_bars(axes, [(name, bars) for name, bars in rows if bars])
    axes.set_title("Who has the plan, and what each operator does")


def _side_rows(side: Side, start: float) -> list[BarRow]:
    time = side.time - start
    out = switch_bars(time, side.trial, TRIAL, "trial path")
    out += switch_bars(time, side.aside, REQUESTED, "simulated tool")
    return [
        (f"{side.agent}: free time", switch_bars(time, side.free, FREE)),
        (f"{side.agent}: position clutch out", out),
        (f"{side.agent}: brake", brake_bars(time, side.brake)),
    ]


def _motion(state: int) -> str:
    """Text of a control state; empty: at rest."""
    if state == ControlState.HOLDING:
        return ""
    return "moves" if state == ControlState.TRACKING else ControlState(state).name.lower()


def _draw_leads(axes: Axes, run: RunRecord, sides: Sequence[Side]) -> None:
    axes.set_title("Lead of each operator: plan time recorded ahead of the robot, as the operator's queue reports it")
    axes.set_ylabel("[s]")
    colours = holder_colours(run)
    for side in sides:
        axes.plot(side.time - run.start, side.lead, color=colours.get(side.agent, MARK), label=side.agent)
    axes.set_ylim(bottom=0.0)
    if sides:
        axes.legend(loc="upper left")


def _draw_points(axes: Axes, run: RunRecord) -> None:
    axes.set_title("Points: recorded and not deleted; executed")
    axes.plot(*laid_over_time(run.plan, run.executed), color=PLAN, drawstyle="steps-post", label="recorded")
    laid = {seq for change in run.plan for seq in range(change.first_seq, change.first_seq + len(change.plan_time))}
    done = [sum(seq in laid for seq in range(entry.first_seq, entry.last_seq + 1)) for entry in run.executed]
    time = [entry.time for entry in run.executed]
    axes.plot(time, np.cumsum(done), color=ACTUAL, label="executed")
    axes.set_ylim(bottom=0.0)
    axes.legend(loc="upper left")


def _draw_tracking(axes: Axes, found: Review) -> None:
    axes.set_title("Tracking: measured tool to planned path")
    axes.set_ylabel("[mm]")
    executed = found.executed
    axes.plot(thin(executed.time), 1e3 * thin(executed.error), color=ACTUAL, lw=0.8)
    axes.set_ylim(bottom=0.0)
