"""Delay study: the same scripted operator, the same task, with and without the controls of the plan queue [US5046022].

Conditions: (a) direct teleoperation, move and wait on the delayed picture; (b) + forward simulation; (c) + time
clutch disengaged (the arm runs at its own pace); (d) + position clutch for narrow targets, and the time brake for
wrong movements. Task time runs from the first view to the moment when the operator sees the real arm at the last
target. Everything but the arm's dynamics is what the nodes run (`delay_rig.py`, `operator.py`).
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from telerobot_nodes.bench import report
from telerobot_nodes.bench.plan.delay_rig import DelayRig
from telerobot_nodes.bench.plan.operator import Act, Goal, ScriptedOperator, Strategy, View
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.plotting import draw_delay_study

CONDITIONS = {
    "a": "direct teleoperation, move and wait",
    "b": "+ forward simulation",
    "c": "+ time clutch",
    "d": "+ position clutch and brake",
}
DELAYS = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0)  # [s] round trip
NARROW, WIDE = 0.008, 0.025  # [m] target widths: pick and place; gates of the trace
TRIED_BELOW = 0.012  # [m] narrower targets are tried with the position clutch disengaged
BRAKE_RATE = 6.0  # [plan s/s]
LONGEST = 1200.0  # [s]
RATIO_GOAL = 1.3  # [-] of condition d at 4 s to zero delay


def goals_of(seed: int, start: FloatArray, check_pick: bool = False) -> list[Goal]:
    """Return the task from the tool's `start` (3,) [m]: pick, trace through eight gates, place; displaced by `seed`."""
    random = np.random.default_rng([seed, 7])
    side = np.linspace(0.13, -0.13, 8)
    gates = np.array([[0.04 * np.sin(40.0 * y), y, 0.02 + 0.03 * np.cos(12.0 * y)] for y in side])
    gates += random.uniform(-0.01, 0.01, gates.shape)
    pick, place = np.array([0.05, 0.15, -0.08]), np.array([0.05, -0.15, -0.08])
    return [
        Goal(start + pick, NARROW, check_pick),
        *(Goal(start + gate, WIDE) for gate in gates),
        Goal(start + place, NARROW),
    ]


def perform(condition: str, round_trip: float, seed: int, check_pick: bool = False) -> dict[str, float]:
    """Run one task; returns seconds until done and until the arm rests, movements, slips, points."""
    rig = DelayRig(round_trip, seed, load_robot("arm"))
    while not rig.queue.state(rig.now).has_authority or rig.now < 2.0 * round_trip + 1.0:
        rig.step(np.zeros(3))
    goals = goals_of(seed, rig.start[:3], check_pick)
    last = condition == "d"
    operator = ScriptedOperator(goals, seed, Strategy(TRIED_BELOW if last else 0.0, last))
    if condition in "cd":
        rig.queue.set_time_clutch(rig.now, False)
    begun = rig.now
    while not operator.done and rig.now - begun < LONGEST:
        _act(rig, operator.step(rig.now, _view(rig, condition)))
        rig.step(operator.hand)
    return {
        "seconds": round(rig.now - begun, 2) if operator.done else float("inf"),
        "movements": operator.movements,
        "slips": operator.slips,
        "points_executed": len(rig.executed),
    }


def run(options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return conditions, figures and goals. Options: `seeds` (3), `delays` (0,0.5,1,2,4,8), `plot` FILE.png."""
    options = options or {}
    seeds = range(1, int(options.get("seeds", 3)) + 1)
    delays = tuple(float(value) for value in str(options.get("delays", ",".join(map(str, DELAYS)))).split(","))
    runs = {c: {d: [perform(c, d, seed) for seed in seeds] for d in delays} for c in CONDITIONS}
    table = {c: [round(statistics.mean(r["seconds"] for r in runs[c][d]), 2) for d in delays] for c in CONDITIONS}
    figures: dict[str, Any] = {
        "conditions": CONDITIONS,
        "round_trip_s": delays,
        "task_seconds_mean": table,
        "runs": {c: {str(d): runs[c][d] for d in delays} for c in CONDITIONS},
    }
    goals = []
    if 0.0 in delays and 4.0 in delays:
        figures["pick_seen_before_going_on_s"] = {
            c: {str(d): perform(c, d, 1, check_pick=True)["seconds"] for d in (0.0, 4.0)} for c in CONDITIONS
        }
        for c in CONDITIONS:
            ratio = table[c][delays.index(4.0)] / table[c][delays.index(0.0)]
            figures[f"ratio_4s_to_0s_{c}"] = round(ratio, 3)
        goals.append(report.goal("task time at 4 s to 0 s, (d)", figures["ratio_4s_to_0s_d"], "-", "<=", RATIO_GOAL))
    figures["table"] = text(delays, table)
    if "plot" in options:
        draw_delay_study(delays, {f"({c}) {CONDITIONS[c]}": table[c] for c in table}, Path(str(options["plot"])))
    return report.result(report.conditions(seed=len(seeds)), figures, goals)


def text(delays: Sequence[float], table: Mapping[str, Sequence[float]]) -> str:
    """Format the main table: task time [s], a row per condition, a column per delay."""
    rows = ["round trip [s]".ljust(42) + "".join(f"{d:8.1f}" for d in delays)]
    rows += [f"({c}) {name}".ljust(42) + "".join(f"{t:8.1f}" for t in table[c]) for c, name in CONDITIONS.items()]
    return "\n".join(rows)


def _view(rig: DelayRig, condition: str) -> View:
    arm = rig.seen_arm[:3]
    if condition == "a":
        return View(arm, rig.round_trip, arm, rig.round_trip)
    return View(rig.seen_simulation[:3], 0.0, arm, rig.round_trip)


def _act(rig: DelayRig, act: Act) -> None:
    if act is Act.DISENGAGE:
        rig.disengage()
    elif act is Act.CONNECT:
        rig.connect()
    elif act is Act.BRAKE:
        rig.queue.set_brake(rig.now, BRAKE_RATE)
    elif act is Act.RELEASE:
        rig.queue.set_brake(rig.now, 0.0)
