"""A picture of who planned when, for several operators of one robot: authority, controls, leads, points, tracking.

What belongs here: the robot's recording and each operator's, on one time axis. Recordings of several hosts are put
together by their recorders' clocks: as far apart as these are, so are the operators' rows from the robot's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.operator.bags import BagReader
from telerobot_nodes.operator.control_timeline import (
    ASKING,
    BRAKE,
    FREE,
    TRIAL,
    Bar,
    asking_bars,
    draw_bars,
    holder_colours,
    holders,
    spans,
)
from telerobot_nodes.operator.history import laid_over_time
from telerobot_nodes.operator.review import Review
from telerobot_nodes.operator.run_record import RunRecord
from telerobot_nodes.operator.summary_plot import ACTUAL, MARK, PLAN, curve_of, picture, span_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STATE = "path_plan_queue/state"
_MOTION = ("", "moves", "stopping", "stopped", "fault")  # by ControlState


@dataclass(frozen=True)
class Side:
    """One operator's queue over time."""

    agent: str
    time: FloatArray  # (n,) [s] ROS time of receipt
    lead: FloatArray  # (n,) [s] plan time laid ahead of the robot
    free: FloatArray  # (n,) 1: time clutch disengaged
    trial: FloatArray  # (n,) 1: position clutch disengaged, in control
    aside: FloatArray  # (n,) 1: the hand moves a simulated tool, another is in control
    brake: FloatArray  # (n,) [plan s/s]


def read_sides(bags: Sequence[Path]) -> list[Side]:
    """Every operator whose queue is in one of the recordings, in the order they are found.

    Raises InvalidValueError naming the path of what is not a recording.
    """
    rows: dict[str, list[tuple[float, ...]]] = {}
    for path in bags:
        with BagReader(path) as bag:
            names = {name for name in bag.topics if name.endswith("/" + STATE)}
            for _, time, m in bag.messages(names):
                out = not m.position_clutch
                row = (bag.start + time, m.lead, not m.time_clutch, out and m.has_authority)
                rows.setdefault(m.agent, []).append((*row, out and not m.has_authority, m.brake_rate))
    return [Side(agent, *np.array(sorted(table), dtype=np.float64).T) for agent, table in rows.items()]


def draw_timeline(run: RunRecord, found: Review, sides: Sequence[Side], file: Path) -> None:
    """Write the picture as PNG."""
    with picture(file, (11.0, 8.2)) as figure:
        _layout(figure, run, found, sides)


def _layout(figure: Figure, run: RunRecord, found: Review, sides: Sequence[Side]) -> None:
    summary = found.summary
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
            if event.text.startswith("halt "):
                axes.axvline(event.time, color=BRAKE, lw=1.0, ls=":")
    panels[0].set_xlim(*span_of(run, found))
    panels[-1].set_xlabel("time since the robot's recording began [s]")


def _draw_bars(axes: Axes, run: RunRecord, sides: Sequence[Side]) -> None:
    colours = holder_colours(run)
    robot = spans(run.control.array("time"), [_motion(state) for state in run.control.array("state")])
    rows: list[tuple[str, list[Bar]]] = [
        ("plan of", [(a, b, name, colours[name]) for a, b, name in holders(run)]),
        ("asks", asking_bars(run)),
        ("robot", [(a, b, text, ACTUAL if text == "moves" else ASKING) for a, b, text in robot if text]),
    ]
    for side in sides:
        time = side.time - run.start
        clutches = [(a, b, "trial path", TRIAL) for a, b, on in spans(time, side.trial > 0) if on == "True"]
        aside = [(a, b, "simulated tool", ASKING) for a, b, on in spans(time, side.aside > 0) if on == "True"]
        free = [(a, b, "", FREE) for a, b, on in spans(time, side.free > 0) if on == "True"]
        brake = [f"{rate:g} s/s" if rate else "" for rate in side.brake]
        rows += [
            (f"{side.agent}: free time", free),
            (f"{side.agent}: position clutch out", clutches + aside),
            (f"{side.agent}: brake", [(a, b, text, BRAKE) for a, b, text in spans(time, brake) if text]),
        ]
    draw_bars(axes, [(name, bars) for name, bars in rows if bars])
    axes.set_title("Who has the plan, and what each operator does")


def _motion(state: int) -> str:
    return _MOTION[state] if state < len(_MOTION) else f"state {state}"


def _draw_leads(axes: Axes, run: RunRecord, sides: Sequence[Side]) -> None:
    axes.set_title("Lead of each operator: plan laid ahead of the robot, as the operator's console tells it")
    axes.set_ylabel("[s]")
    colours = holder_colours(run)
    for side in sides:
        axes.plot(side.time - run.start, side.lead, color=colours.get(side.agent, MARK), label=side.agent)
    axes.set_ylim(bottom=0.0)
    if sides:
        axes.legend(loc="upper left")


def _draw_points(axes: Axes, run: RunRecord) -> None:
    axes.set_title("Points: laid and not taken back; executed")
    axes.plot(*laid_over_time(run.plan, run.executed), color=PLAN, drawstyle="steps-post", label="laid")
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
    axes.plot(*curve_of(executed.time, 1e3 * executed.error), color=ACTUAL, lw=0.8)
    axes.set_ylim(bottom=0.0)
