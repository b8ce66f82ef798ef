"""From a bag to its summary, JSON, picture and lines to read, in one call."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from pathlib import Path

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.operator.review import RunSummary, review
from telerobot_nodes.operator.run_record import Event, read_run


def review_bag(
    bag: Path,
    robot: str = "",
    namespace: str | None = None,
    json: Path | None = None,
    picture: Path | None = None,
    timeline: Path | None = None,
    others: Sequence[Path] = (),
) -> tuple[RunSummary, list[Event]]:
    """Review a recording, write JSON and pictures where asked; the summary and the timeline.

    `others`: recordings of further operators of the same robot, for the picture `timeline`.

    `robot` empty: the one the recording tells, else `arm`. Raises InvalidValueError or ModelError.
    """
    run = read_run(bag, namespace)
    model = load_robot(robot or run.robot or "arm")
    found = review(run, model)
    summary = found.summary
    if picture is not None:
        from telerobot_nodes.operator.summary_plot import draw_run

        draw_run(run, found, model.limits, picture)
        summary = dataclasses.replace(summary, picture=str(picture))
    if timeline is not None:
        from telerobot_nodes.operator.timeline_plot import draw_timeline, read_sides

        draw_timeline(run, found, read_sides([bag, *others]), timeline)
    if json is not None:
        json.parent.mkdir(parents=True, exist_ok=True)
        json.write_text(summary.to_json() + "\n", encoding="utf-8")
    return summary, run.events


def summary_lines(s: RunSummary) -> list[tuple[str, str]]:
    """Name and text of each line a person wants to read."""
    lines = [
        ("points", f"{s.points_planned} planned, {s.points_executed} executed, {s.lost} lost ({s.pending} pending)"),
        ("history", f"{s.duplicates} twice, {s.out_of_order} out of order, {s.unknown} unknown"),
        ("path error", f"{_mm(s.rms_error_m)} RMS, {_mm(s.max_error_m)} max over {s.path_samples} samples"),
        ("limits", f"{s.limit_violations} violations in {s.setpoints} setpoints; {_use(s)}"),
        ("lead", f"{_s(s.forward_sim_lead_s)} at the end of the plan, {_s(s.max_lead_s)} at most"),
        ("queue", f"{s.max_queue_length} points at most"),
        ("device", f"{s.jumps_absorbed} jumps absorbed, scale {_number(s.device_scale)}"),
        ("round trip", f"{_s(s.round_trip_s)} (median)"),
    ]
    for name, delay in (("link up", s.up_delay_s), ("link down", s.down_delay_s)):
        if delay:
            counts = f"{delay['arrived']:.0f} of {delay['sent']:.0f} arrived, {delay['twice']:.0f} twice"
            lines.append((name, f"{_s(delay['median'])} median, {_s(delay['p95'])} p95; {counts}"))
    if s.picture:
        lines.append(("picture", s.picture))
    return [*lines, *((f"refused by {name}", reason) for name, reasons in s.refusals.items() for reason in reasons)]


def _use(s: RunSummary) -> str:
    return f"at most {s.velocity_use:.0%} of speed, {s.acceleration_use:.0%} of acceleration"


def _mm(metres: float) -> str:
    return "not known" if math.isnan(metres) else f"{1e3 * metres:.3f} mm"


def _s(seconds: float) -> str:
    return "not known" if math.isnan(seconds) else f"{seconds:.3f} s"


def _number(value: float) -> str:
    return "not known" if math.isnan(value) else f"{value:.3f}"
