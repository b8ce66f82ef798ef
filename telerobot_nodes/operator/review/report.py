"""A bag reviewed in one call, and its summary as lines to read."""

from __future__ import annotations

import math
from pathlib import Path

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.operator.devices import InputCounts
from telerobot_nodes.operator.review.review import Review, RunSummary, review
from telerobot_nodes.operator.review.run_reader import read_run


def review_bag(bag: Path, robot: str = "", namespace: str | None = None) -> Review:
    """Read and check a recording. `robot` empty: the robot named in the recording, else `arm`.

    `namespace` selects the arm of a recording with several. Raises InvalidValueError or ModelError.
    """
    run = read_run(bag, namespace)
    return review(run, load_robot(robot or run.robot or "arm"))


def summary_lines(s: RunSummary) -> list[tuple[str, str]]:
    """Name and text of each line of the report."""
    lines = [
        ("points", f"{s.points_planned} planned, {s.points_executed} executed, {s.lost} lost ({s.pending} pending)"),
        ("history", f"{s.duplicates} twice, {s.out_of_order} out of order, {s.unknown} unknown"),
        ("path error", f"{_mm(s.rms_error_m)} RMS, {_mm(s.max_error_m)} max over {s.path_samples} samples"),
        ("limits", f"{s.limit_violations} violations in {s.setpoints} setpoints; {_use(s)}"),
        ("lead", f"{_s(s.forward_sim_lead_s)} at the end of the plan, {_s(s.max_lead_s)} at most"),
        ("queue", f"{s.max_queue_length} points at most"),
        ("device", f"{s.jumps_absorbed} jumps absorbed, scale {_number(s.device_scale)}"),
        ("samples", str(_samples(s))),
        ("commands", f"{s.commands} ended, {s.commands_failed} of them not succeeded"),
        ("round trip", f"{_s(s.round_trip_s)} (median)"),
    ]
    for name, delay in (("link up", s.up_delay_s), ("link down", s.down_delay_s)):
        if delay:
            counts = f"{delay['arrived']:.0f} of {delay['sent']:.0f} arrived, {delay['twice']:.0f} twice"
            lines.append((name, f"{_s(delay['median'])} median, {_s(delay['p95'])} p95; {counts}"))
    if s.picture:
        lines.append(("picture", s.picture))
    return [*lines, *((f"refused by {name}", reason) for name, reasons in s.refusals.items() for reason in reasons)]


def _samples(s: RunSummary) -> InputCounts:
    return InputCounts(s.samples_received, s.samples_late, s.samples_worst_s, s.samples_sent, s.samples_dropped)


def _use(s: RunSummary) -> str:
    return f"at most {s.velocity_use:.0%} of speed, {s.acceleration_use:.0%} of acceleration"


def _mm(metres: float) -> str:
    return "not known" if math.isnan(metres) else f"{1e3 * metres:.3f} mm"


def _s(seconds: float) -> str:
    return "not known" if math.isnan(seconds) else f"{seconds:.3f} s"


def _number(value: float) -> str:
    return "not known" if math.isnan(value) else f"{value:.3f}"
