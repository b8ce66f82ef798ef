"""Benchmark of halts through the graph: from the operator's message leaving its process to setpoints at rest.

The arm moves at one of several speeds, twenty commands are under way, another process says a thousand texts a second,
some of which keep the workers busy. Halts go at random times, a third of them while the motion is being bound, prepared
and begun; in turn as a text and as a message on the halt topic. Times are taken in this process, on the receipt of the
setpoints that go to the hardware interface, at its priority: the transport of both ways is in the figures.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from telerobot_nodes.bench import report
from telerobot_nodes.bench.rtc.halt_rig import halt_probe, noise, robot_graph, setpoints
from telerobot_nodes.bench.rtc.halt_trace import HaltTimes, Outcome, judge
from telerobot_nodes.core.robot import RobotModel, load_robot

if TYPE_CHECKING:
    from telerobot_nodes.nodes.probes import HaltProbe

PARALLEL = 20  # commands under way, the arm's among them
FLOOD = 1000  # texts per second
SPEEDS = "0.02,0.2,0.5"  # [m/s] of the tool
GOAL_SPEED = "0.2"
STROKE = 0.2  # [m]
LATEST = 0.3  # [s] after the command, or after the motion began, a halt is sent
EARLY = 1.0 / 3.0  # share of the halts that count from the command
MOVES = 1e-3  # [rad/s]
BEGIN_LIMIT = 5.0  # [s]
REST = 0.15  # [s] of rest after the halt in which nothing may begin
HALT_LIMIT = 2.0  # [s] after which a halt has failed
RELEASE_LIMIT = 2.0  # [s]
MOVED = (Outcome.STOPPED, Outcome.BEGINNING)
OBEYED = (*MOVED, Outcome.ENDING, Outcome.RESTED)


def run(options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Conditions, figures, goals.

    Options: `halts` (100) of each speed, `speeds` [m/s], `flood` (1000) [1/s], `parallel` (20), `seed` (1).
    """
    options = options or {}
    halts, parallel = int(options.get("halts", 100)), int(options.get("parallel", PARALLEL))
    flood, seed = float(options.get("flood", FLOOD)), int(options.get("seed", 1))
    speeds = str(options.get("speeds", SPEEDS)).split(",")
    bench = _Bench(load_robot("arm"), parallel, random.Random(seed))
    with robot_graph(("bag_recorder", "cspace_planner")), halt_probe() as probe, noise(flood, probe):
        times = {speed: bench.halts(probe, halts, speed) for speed in speeds}
    figures = {speed: _figures(rows) for speed, rows in times.items()}
    conditions = {**report.conditions(seed), "halts": halts, "parallel_commands": parallel, "flood_per_s": flood}
    return report.result(conditions, {"by_speed_m_per_s": figures}, _goals(times))


class _Bench:
    """Halts of one arm, one after the other."""

    def __init__(self, robot: RobotModel, parallel: int, chance: random.Random) -> None:
        self._robot, self._parallel, self._chance = robot, parallel, chance
        self._middle: float | None = None  # [m] height around which the tool goes up and down

    def halts(self, probe: HaltProbe, count: int, speed: str) -> list[tuple[str, HaltTimes]]:
        """`count` halts while the tool goes at `speed` [m/s]: kind and times."""
        return [self._one(probe, ("text", "topic")[number % 2], speed) for number in range(count)]

    def _one(self, probe: HaltProbe, kind: str, speed: str) -> tuple[str, HaltTimes]:
        probe.release(RELEASE_LIMIT)
        height = float(probe.state.tool_pose[2])
        self._middle = height + 0.5 * STROKE if self._middle is None else self._middle
        for _ in range(self._parallel - 1):
            probe.send_text("wait for 1000 s")
        way = "up" if height < self._middle else "down"
        probe.send_text(f"move left_arm by {100 * STROKE:g} cm {way} speed {speed} m/s")
        if self._chance.random() > EARLY:
            probe.wait(lambda: probe.speed > MOVES, BEGIN_LIMIT)
        probe.spin(self._chance.uniform(0.0, LATEST))
        probe.record()
        sent = probe.send_text("halt") if kind == "text" else probe.send_halt(reason="benchmark")
        probe.wait(lambda: sent + REST < probe.rests_since + REST < probe.now(), HALT_LIMIT)
        probe.spin(REST)
        return kind, judge(self._robot, sent, setpoints(probe))


def _figures(rows: Sequence[tuple[str, HaltTimes]]) -> dict[str, Any]:
    """Counts, and quantiles over the halts that met a motion."""
    moved = [(kind, times) for kind, times in rows if times.outcome in MOVED]
    figures: dict[str, Any] = {"outcomes": dict(Counter(times.outcome.name.lower() for _, times in rows))}
    if not moved:
        return figures
    for kind in ("", "text", "topic"):
        chosen = [times for other, times in moved if kind in ("", other)]
        if chosen:
            prefix = f"{kind}_" if kind else ""
            figures[f"{prefix}sent_to_decelerating"] = report.quantiles([times.slower for times in chosen])
            figures[f"{prefix}sent_to_rest"] = report.quantiles([times.rest for times in chosen])
    figures["sent_to_rest_in_the_control_step"] = report.quantiles([times.made for _, times in moved])
    millimetres = sorted(1e3 * times.distance for _, times in moved)
    figures["stopping_distance_mm"] = {
        "median": round(millimetres[len(millimetres) // 2], 3),
        "worst": round(millimetres[-1], 3),
    }
    figures["tool_speed_when_sent_m_per_s"] = round(max(times.speed for _, times in moved), 4)
    return figures


def _goals(times: Mapping[str, Sequence[tuple[str, HaltTimes]]]) -> list[dict[str, Any]]:
    everything = [row for _, rows in times.items() for _, row in rows]

    def share(chosen: Callable[[HaltTimes], bool]) -> float:
        return sum(map(chosen, everything)) / len(everything)

    goals = [
        report.goal("halts obeyed", share(lambda row: row.outcome in OBEYED), "-", ">=", 1.0),
        report.goal(
            "motions that begin after a halt", sum(row.outcome is Outcome.CREPT for row in everything), "-", "==", 0
        ),
    ]
    slower = [1e6 * row.slower for _, row in times.get(GOAL_SPEED, ()) if row.outcome in MOVED]
    if slower:
        found = report.quantiles([1e-6 * value for value in slower])
        what = f"halt sent to first decelerating setpoint at {GOAL_SPEED} m/s"
        goals.append(report.goal(f"{what}, p99", found["p99_us"] / 1e3, "ms", "<=", 10.0))
        goals.append(report.goal(f"{what}, worst", found["max_us"] / 1e3, "ms", "<=", 20.0))
    return goals
