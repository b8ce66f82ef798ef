"""Benchmark of the main task: recorded hands drive the arm over a slow link; the recordings are evaluated."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from telerobot_nodes.bench import report
from telerobot_nodes.demo import DemoSettings, run_headless
from telerobot_nodes.errors import InvalidValueError

FIGURES = (
    "points_planned",
    "points_executed",
    "duplicates",
    "lost",
    "out_of_order",
    "rms_error_m",
    "max_error_m",
    "limit_violations",
    "velocity_use",
    "acceleration_use",
    "forward_sim_lead_s",
    "max_lead_s",
    "jumps_absorbed",
    "device_scale",
)


def run(options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return conditions, figures and goals.

    Options: `hands` (folder of CSV files; default: the demo's own), `delay` (2.0 s round trip), `loss` (0.02),
    `robot` (arm), `folder` (runs/hands-TIME).
    """
    options = options or {}
    folder = Path(options.get("folder", f"runs/hands-{time.strftime('%Y%m%d-%H%M%S')}"))
    figures = {name: _one(hand, folder / name, options) for name, hand in _hands(options).items()}
    return report.result(report.conditions(), figures, _goals(list(figures.values())))


def _hands(options: Mapping[str, Any]) -> dict[str, Path | None]:
    if "hands" not in options:
        return {"demo_hand": None}
    found = {path.stem: path for path in sorted(Path(options["hands"]).glob("*.csv"))}
    if not found:
        raise InvalidValueError("hands", str(options["hands"]), "allowed: a folder with CSV files")
    return dict(found)


def _one(hand: Path | None, folder: Path, options: Mapping[str, Any]) -> dict[str, Any]:
    from telerobot_nodes.operator.review import review_bag
    from telerobot_nodes.plotting import draw_run

    settings = DemoSettings(
        folder,
        robot=str(options.get("robot", "arm")),
        hand=hand,
        round_trip=float(options.get("delay", 2.0)),
        loss=float(options.get("loss", 0.02)),
    )
    run_headless(settings, show=lambda text: None)
    summary = draw_run(review_bag(folder / "bag", settings.robot), folder / "run.png")
    summary.write(folder / "summary.json")
    print(f"{folder.name}: {'as planned' if summary.passed else 'NOT as planned'}", flush=True)
    return {name: value for name, value in asdict(summary).items() if name in FIGURES}


def _goals(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    def worst(name: str) -> float:
        return float(np.max([entry[name] for entry in runs]))

    return [
        report.goal("points executed twice, all hands", worst("duplicates"), "points", "==", 0),
        report.goal("points lost, all hands", worst("lost"), "points", "==", 0),
        report.goal("points out of order, all hands", worst("out_of_order"), "points", "==", 0),
        report.goal("path error RMS, worst hand", 1e3 * worst("rms_error_m"), "mm", "<=", 1.0),
        report.goal("path error maximum, worst hand", 1e3 * worst("max_error_m"), "mm", "<=", 3.0),
        report.goal("setpoints over a joint limit, worst hand", worst("limit_violations"), "setpoints", "==", 0),
    ]
