"""The picture of a reviewed run: planned and measured path, path error, lead, and use of the joint limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from telerobot_nodes.core.robot import JointLimits
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.operator.review import Review, Rows, RunRecord, RunSummary, holders, trial_paths
from telerobot_nodes.plotting.control_bars import TRIAL, authority_rows, control_rows, draw_bars, holder_colours
from telerobot_nodes.plotting.figure import BLUE, CYCLE, GREEN, GREY, PURPLE, VERMILION, frame_cube, note, picture, thin

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PLAN, ACTUAL, DEVICE, MARK, QUEUE = BLUE, VERMILION, GREY, PURPLE, GREEN


def draw_run(found: Review, file: Path) -> RunSummary:
    """Write the picture as PNG; returns the summary with the name of the picture in it."""
    with picture(file, (14.0, 9.0)) as figure:
        _layout(figure, found)
    return replace(found.summary, picture=str(file))


def _layout(figure: Figure, found: Review) -> None:
    run = found.run
    figure.suptitle(_title(found), x=0.01, ha="left", fontsize=11)
    grid = figure.add_gridspec(10, 3, width_ratios=(1.15, 1.0, 1.2))
    _draw_space(figure.add_subplot(grid[0:5, 0], projection="3d"), found)
    _draw_plane(figure.add_subplot(grid[5:10, 0]), found)
    _draw_side(figure.add_subplot(grid[0:5, 1]), found)
    _draw_device(figure.add_subplot(grid[5:10, 1]), found)
    draws: tuple[Callable[[Axes], None], ...] = (
        lambda axes: _draw_controls(axes, run),
        lambda axes: _draw_progress(axes, run),
        lambda axes: _draw_lead(axes, run),
        lambda axes: _draw_error(axes, found),
        lambda axes: _draw_use(axes, run.setpoints if len(run.setpoints) else run.control, found.limits),
    )
    first = None
    for row, draw in enumerate(draws):
        axes = figure.add_subplot(grid[2 * row : 2 * row + 2, 2], sharex=first)
        first = first or axes
        draw(axes)
        axes.set_xlim(*span_of(found))
        axes.tick_params(labelbottom=row == len(draws) - 1)
    axes.set_xlabel("time since recording began [s]")


def _title(found: Review) -> str:
    s = found.summary
    verdict = "every point once, in order, inside the limits" if s.passed else "NOT as planned"
    error = f"error {1e3 * s.rms_error_m:.2f} mm RMS, {1e3 * s.max_error_m:.2f} mm max"
    delay = f", link delay {s.link['delay']:g} s one way, loss {s.link['loss']:.0%}" if s.link else ""
    lead = (
        "or robot never reached the end"
        if np.isnan(s.forward_sim_lead_s)
        else f"{s.forward_sim_lead_s:.1f} s ahead at the end"
    )
    return (
        f"{s.robot}: {s.points_executed} of {s.points_planned} points executed ({verdict})\n"
        f"{error}; forward simulation {lead}{delay}"
    )


def span_of(found: Review) -> tuple[float, float]:
    """Time to draw [s]: from 1 s before the first point is recorded until 1 s after the last motion."""
    laid, moved = found.path.laid_at, found.executed.time
    start = float(laid[0]) - 1.0 if len(laid) else 0.0
    end = max(float(moved[-1]) if len(moved) else 0.0, float(laid[-1]) if len(laid) else found.run.duration) + 1.0
    return max(0.0, start), max(end, start + 1.0)


def _draw_space(axes: Any, found: Review) -> None:
    plan = found.path.position
    axes.set_title("Tool path, WORLD")
    axes.plot(*plan.T, color=PLAN, lw=3.0, alpha=0.35)
    for trial in trial_paths(found.run):
        axes.plot(*trial.T, color=TRIAL, lw=1.0, ls=":")
    for _, colour, actual in _measured_by_holder(found):
        axes.plot(*actual.T, color=colour, lw=1.0)
    if len(plan):
        center = 0.5 * (plan.max(axis=0) + plan.min(axis=0))
        frame_cube(axes, center, max(0.55 * float(np.ptp(plan, axis=0).max()), 0.01))
    axes.set_box_aspect((1.0, 1.0, 1.0), zoom=0.9)
    axes.locator_params(nbins=5)


def _draw_controls(axes: Axes, run: RunRecord) -> None:
    axes.set_title("Who planned, and how")
    draw_bars(axes, [*authority_rows(run), *control_rows(run)])


def _draw_plane(axes: Axes, found: Review) -> None:
    axes.set_title("From above")
    _draw_paths(axes, found, 0, 1)
    axes.set_xlabel("x [m]")
    axes.set_ylabel("y [m]")
    if not len(found.path.position):
        note(axes, f"no plan in {found.run.path.name}")


def _draw_side(axes: Axes, found: Review) -> None:
    axes.set_title("From the side")
    _draw_paths(axes, found, 1, 2)
    axes.set_xlabel("y [m]")
    axes.set_ylabel("z [m]")
    axes.legend(loc="best")


def _draw_paths(axes: Axes, found: Review, across: int, up: int) -> None:
    plan = found.path.position
    axes.plot(plan[:, across], plan[:, up], color=PLAN, lw=4.0, alpha=0.35, label="planned")
    for k, trial in enumerate(trial_paths(found.run)):
        axes.plot(trial[:, across], trial[:, up], color=TRIAL, lw=1.0, ls=":", label="" if k else "trial path")
    for name, colour, actual in _measured_by_holder(found):
        axes.plot(actual[:, across], actual[:, up], color=colour, lw=1.0, label=name)
    if len(plan):
        axes.plot(plan[0, across], plan[0, up], "o", color=PLAN, ms=6, label="start")
        axes.plot(plan[-1, across], plan[-1, up], "s", color=PLAN, ms=6, label="end")
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.08)
    axes.locator_params(nbins=6)


def _measured_by_holder(found: Review) -> list[tuple[str, str, FloatArray]]:
    """Label, colour and measured path (n, 3) of each stretch of one agent's plan."""
    colours, executed = holder_colours(found.run), found.executed
    if len(colours) < 2:
        return [("measured", ACTUAL, thin(executed.position))]
    parts: list[tuple[str, str, FloatArray]] = []
    for start, end, name in holders(found.run):
        inside = (executed.time >= start) & (executed.time <= end)
        if np.any(inside):
            label = f"measured, plan of {name}"
            known = any(label == other for other, _, _ in parts)
            parts.append(("_" if known else label, colours[name], thin(executed.position[inside])))
    return parts


def _draw_device(axes: Axes, found: Review) -> None:
    """The device poses as received, jumps included, in the device's frame."""
    axes.set_title(f"Device, raw (jumps absorbed: {found.summary.jumps_absorbed})")
    axes.set_xlabel("time since recording began [s]")
    axes.set_ylabel("from its start [m]")
    run = found.run
    if not len(run.device):
        note(axes, "no device poses recorded")
        return
    time, position = run.device.array("time"), run.device.array("position")
    for i, (name, colour) in enumerate(zip("xyz", CYCLE, strict=False)):
        axes.plot(time, position[:, i] - position[0, i], color=colour, lw=1.0, label=name)
    for k, at in enumerate(_jump_times(run.queue)):
        axes.axvline(at, color=MARK, lw=1.0, ls=":", label="jump absorbed" if k == 0 else None)
    axes.set_xlim(time[0] - 0.5, time[-1] + 0.5)
    axes.legend(loc="best")


def _jump_times(queue: Rows) -> list[float]:
    """When the queue reported one more absorbed jump [s]."""
    if not len(queue):
        return []
    more = np.diff(queue.array("jumps"), prepend=0) > 0
    return [float(at) for at in queue.array("time")[more]]


def _draw_progress(axes: Axes, run: RunRecord) -> None:
    axes.set_title("Plan time reached")
    axes.set_ylabel("[s]")
    if len(run.forward):
        axes.plot(*_curve(run.forward, "head_time"), color=PLAN, label="forward simulation")
    if len(run.control):
        axes.plot(*_curve(run.control, "plan_time"), color=ACTUAL, label="robot")
    axes.legend(loc="upper left")


def _draw_lead(axes: Axes, run: RunRecord) -> None:
    axes.set_title("Lead and queue")
    axes.set_ylabel("lead [s]", color=PLAN)
    if len(run.forward):
        axes.plot(*_curve(run.forward, "lead"), color=PLAN)
    other = axes.twinx()
    other.grid(visible=False)
    other.spines["right"].set_visible(True)
    other.set_ylabel("points queued", color=QUEUE)
    if len(run.queue):
        other.plot(*_curve(run.queue, "length"), color=QUEUE)
    axes.set_ylim(bottom=0.0)
    other.set_ylim(bottom=0.0)


def _draw_error(axes: Axes, found: Review) -> None:
    axes.set_title("Measured tool to planned path")
    axes.set_ylabel("[mm]")
    executed = found.executed
    if len(executed.error):
        axes.plot(thin(executed.time), 1e3 * thin(executed.error), color=ACTUAL, lw=0.8)
        axes.axhline(1e3 * found.summary.rms_error_m, color=MARK, lw=1.0, ls="--", label="RMS")
        axes.legend(loc="upper right")
    axes.set_ylim(bottom=0.0)


def _draw_use(axes: Axes, rows: Rows, limits: JointLimits) -> None:
    axes.set_title("Commanded joint speed per its limit (thin: acceleration)")
    axes.set_ylabel("[-]")
    axes.axhline(1.0, color="black", lw=1.0, ls="--")
    axes.axhline(-1.0, color="black", lw=1.0, ls="--")
    axes.set_ylim(-1.15, 1.6)  # room for the legend
    if not len(rows):
        return
    time = thin(rows.array("time"))
    speed = thin(rows.array("velocity")) / limits.velocity
    acceleration = thin(rows.array("acceleration")) / limits.acceleration
    for joint in range(speed.shape[1]):
        colour = CYCLE[joint % len(CYCLE)]
        axes.plot(time, acceleration[:, joint], color=colour, lw=0.4, alpha=0.4)
        axes.plot(time, speed[:, joint], color=colour, lw=1.2, label=f"{joint + 1}")
    axes.legend(loc="upper right", ncols=7, handlelength=1.0, columnspacing=0.8)


def _curve(rows: Rows, column: str) -> tuple[FloatArray, FloatArray]:
    return thin(rows.array("time")), thin(rows.array(column))
