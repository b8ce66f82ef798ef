"""Benchmark of macros: replay of learned ones, binding, the check of a long one, changes while a primitive runs."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from telerobot_nodes.bench import report
from telerobot_nodes.bench.macros.bound import BOUND, places
from telerobot_nodes.bench.macros.changed import ONE_WAY, changes
from telerobot_nodes.bench.macros.replay import MOTION, learned, replays
from telerobot_nodes.bench.review import run as review
from telerobot_nodes.core.robot import RobotModel, load_robot
from telerobot_nodes.macros import check_macro, read_macros

STARTS, SEED = 5, 3
STEPS, CHECKS = 200, 20  # of a long macro; how often it is checked
LONG_HEAD = "macro: long\nversion: 1\ndoc: Many steps.\nmotion: relative\nsteps:\n"
# Three kinds, one with expressions, for a check's time depends on what it checks
LONG_STEPS = (
    "{{step: s{0}, primitive: cartesian_guarded, values: {{tr_rel_dest: [0.01, 0, 0.02, 0, 0, 0, 1], "
    "time_vel_sel: time, time_vel_val: 1.5, acc_time: 0.3}}}}",
    "{{step: s{0}, primitive: move_to_touch, values: {{tr_tn_dest: '${{before(tool.pose, 0.1)}}', "
    "max_force_thres: 6}}, accept: [touched]}}",
    "{{step: s{0}, primitive: free_grasp, values: {{grip_width: 0.03}}, accept: [opened, blocked]}}",
)
ELSEWHERE = "telerobot bench review --option bag=FOLDER"


def run(options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return conditions, figures and goals.

    Options: `starts` and their `seed`; `bag`, a recording: the goals of the review are measured with it, by the
    benchmark `review`; without one they are measured there only.
    """
    options = options or {}
    starts, seed = int(options.get("starts", STARTS)), int(options.get("seed", SEED))
    bag = options.get("bag")
    conditions = report.conditions(seed)
    robot = load_robot("arm")
    with TemporaryDirectory() as name:
        folder, shown = learned(robot, Path(name))
        rows = replays(robot, folder, shown, starts, seed)
        (Path(name) / "bound.yaml").write_text(BOUND, encoding="utf-8")
        start = np.array(robot.home) + np.random.default_rng(seed).uniform(-0.05, 0.05, robot.dof)
        bound = places(robot, Path(name), [*sorted(folder.macros), "bound"], start)
    checked, changed = _check(robot), changes(robot)
    looked_back = review({"bag": bag}) if bag else None
    figures = {
        "replays": rows,
        "bound": bound,
        "check": checked,
        "changes": changed,
        "review": looked_back["figures"] if looked_back else f"measured by {ELSEWHERE}",
    }
    goals = [*_replay_goals(rows), *_bound_goals(bound), *_check_goals(checked), *_change_goals(changed)]
    return report.result(conditions, figures, goals + (looked_back["goals"] if looked_back else []))


def _replay_goals(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    goals = [
        report.goal("replays that did not run to their end", sum(not row["succeeded"] for row in rows), "", "==", 0)
    ]
    for motion in MOTION:
        of_motion = [row for row in rows if row["motion"] == motion]
        for what, key, unit, most in (
            ("end", "end_mm", "mm", 1.0),
            ("end", "end_deg", "deg", 0.5),
            ("path", "path_mm", "mm", 1.0),
            ("path", "path_deg", "deg", 0.5),
        ):
            worst = max(row[key] for row in of_motion)
            goals.append(report.goal(f"{motion} replay, {what}, worst", worst, unit, "<=", most))
    return goals


def _bound_goals(bound: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        report.goal(f"numbers not the same as in physics: {place}", count, "", "==", 0)
        for place, count in bound["differ"].items()
    ]


def _check(robot: RobotModel) -> dict[str, Any]:
    """Computing times [s] to read and to check a macro of STEPS steps, each time from the file."""
    text = LONG_HEAD + "".join(f"  - {LONG_STEPS[n % len(LONG_STEPS)].format(n)}\n" for n in range(STEPS))
    reading, checking = [], []
    with TemporaryDirectory() as name:
        (Path(name) / "long.yaml").write_text(text, encoding="utf-8")
        for _ in range(CHECKS):
            began = time.process_time()
            folder = read_macros(Path(name))
            read = time.process_time()
            steps = check_macro(folder, "long", robot, {})
            checking.append(time.process_time() - read)
            reading.append(read - began)
    return {
        "steps": len(steps),
        "checking": report.quantiles(np.array(checking)),
        "reading": report.quantiles(np.array(reading)),
        "both": report.quantiles(np.array(reading) + np.array(checking)),
    }


def _check_goals(checked: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        report.goal(
            f"macro of {STEPS} steps {what}, median of {CHECKS}", checked[key]["median_us"] / 1e3, "ms", "<=", 100
        )
        for what, key in (("checked", "checking"), ("read from its file and checked", "both"))
    ]


def _change_goals(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    late = max(row["in_force_s"] - ONE_WAY for row in rows)
    step = max(row["velocity_step_share"] for row in rows)
    return [
        report.goal("change in force, later than one way of 2 s", 1e3 * late, "ms", "<=", 10.0),
        report.goal("largest step of a setpoint's velocity, share of its limit", step, "", "<=", 1.0),
    ]
