"""Benchmark of halts through the graph: from the operator's message leaving its process to setpoints at rest.

The arm moves, twenty commands are under way, another process says a thousand commands a second. Halts go in turn as a
text on the command topic and as a message on the halt topic. Times are taken in this process, on the receipt of the
setpoints that go to the hardware interface, at its priority: the transport of both ways is in the figures.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from telerobot_nodes.bench import report
from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.launching import GraphOptions
from telerobot_nodes.supervisor import NODE_ENVIRONMENT, Supervisor

if TYPE_CHECKING:
    from telerobot_nodes.nodes.halt_probe import HaltProbe

LIMIT = 100.0  # [s] for the graph to be ready
PARALLEL = 20  # commands under way, the arm's among them
FLOOD = 1000  # commands per second
SPEED = 0.02  # [m/s] of the tool: a motion near things
GOES = 0.5  # [s] the arm moves before it is halted
MOVES = 1e-3  # [rad/s]
REST = 0.5  # [s] after the halt: longer than the robot is deaf to what was on its way
MOTION_LIMIT = 10.0  # [s]
HALT_LIMIT = 2.0  # [s] after which a halt has failed
TEXTS = ("move right_arm to dock", "where module", "move nothing to dock", "try lift box with right_arm")


@dataclass
class _Halt:
    """One halt: seconds after it was sent."""

    kind: str
    reacted: float  # the first setpoint slower than the one before the halt
    rested: float  # the first setpoint at rest
    commanded: float  # the control step that made it
    speed: float  # [rad/s] fastest joint when it was sent


@dataclass
class _Run:
    halts: list[_Halt] = field(default_factory=list)
    failed: int = 0
    rested_before: int = 0  # no motion to halt: it never began, or was over


def run(options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Conditions, figures, goals. Options: `halts` (100), `flood` (1000) [1/s], `speed` (0.02) [m/s], `parallel`."""
    options = options or {}
    halts, flood = int(options.get("halts", 100)), float(options.get("flood", FLOOD))
    speed, parallel = float(options.get("speed", SPEED)), int(options.get("parallel", PARALLEL))
    os.environ.update(NODE_ENVIRONMENT)
    graph = GraphOptions("robot", without=("bag_recorder", "cspace_planner"))
    supervisor = Supervisor(graph, on_line=lambda node, line: None)
    supervisor.start()
    noise = multiprocessing.get_context("spawn").Process(target=_say_much, args=(flood,), daemon=True)
    try:
        if not supervisor.wait_ready(LIMIT):
            raise TelerobotError(f"not ready after {LIMIT:g} s: {', '.join(supervisor.waiting_for())}")
        figures = _measure(halts, speed, parallel, flood, noise if flood else None)
    finally:
        if noise.is_alive():
            noise.terminate()
        supervisor.stop()
    return report.result(report.conditions(), figures, _goals(figures))


def _goals(figures: dict[str, Any]) -> list[dict[str, Any]]:
    rested = figures["sent_to_rest"]
    return [
        report.goal("halts obeyed", figures["obeyed"] / (figures["halts"] - figures["at_rest_before"]), "-", ">=", 1.0),
        report.goal("halt sent to zero commanded velocity, p99", rested["p99_us"] / 1000.0, "ms", "<=", 20.0),
        report.goal("halt sent to zero commanded velocity, worst", rested["max_us"] / 1000.0, "ms", "<=", 50.0),
    ]


def _measure(halts: int, speed: float, parallel: int, flood: float, noise: Any) -> dict[str, Any]:
    from telerobot_nodes.nodes.halt_probe import HaltProbe

    done = _Run()
    with HaltProbe() as probe:
        if not probe.wait(lambda: probe.rests and probe.connected, LIMIT):
            raise TelerobotError(f"the arm does not rest, or nobody listens, after {LIMIT:g} s")
        if noise is not None:
            noise.start()
            time.sleep(3.0)  # it starts up
        for number in range(halts):
            _one(probe, done, "text" if number % 2 else "topic", number, speed, parallel)
    if not done.halts:
        raise TelerobotError("no halt was obeyed")
    return _figures(done, halts, speed, parallel, flood)


def _one(probe: HaltProbe, done: _Run, kind: str, number: int, speed: float, parallel: int) -> None:
    """Begin everything, halt, watch the setpoints come to rest."""
    for _ in range(parallel - 1):
        probe.say("wait for 1000 s")
    up = "up" if number % 4 < 2 else "down"
    probe.say(f"move left_arm by 10 cm {up} speed {speed} m/s")
    if not probe.wait(lambda: probe.speed > MOVES, MOTION_LIMIT):
        done.rested_before += 1
        probe.halt_by_topic()
        probe.spin(REST)
        return
    probe.spin(GOES)
    before = probe.speed
    if before <= MOVES:
        done.rested_before += 1  # nothing to measure
        probe.halt_by_topic()
        probe.spin(REST)
        return
    sent = probe.halt_by_text() if kind == "text" else probe.halt_by_topic()
    if not probe.wait(lambda: probe.rested_at > sent, HALT_LIMIT):
        done.failed += 1
        return
    done.halts.append(_Halt(kind, probe.slower_at - sent, probe.rested_at - sent, probe.commanded_at - sent, before))
    probe.spin(REST)


def _figures(done: _Run, halts: int, speed: float, parallel: int, flood: float) -> dict[str, Any]:
    def rows(kind: str, name: str) -> list[float]:
        return [getattr(halt, name) for halt in done.halts if kind in ("", halt.kind)]

    return {
        "halts": halts,
        "obeyed": len(done.halts),
        "failed": done.failed,
        "at_rest_before": done.rested_before,
        "parallel_commands": parallel,
        "flood_per_s": flood,
        "tool_speed_m_per_s": speed,
        "joint_speed_rad_per_s": round(float(np.median(rows("", "speed"))), 4),
        "sent_to_rest": report.quantiles(rows("", "rested")),
        "sent_to_rest_in_the_control_step": report.quantiles(rows("", "commanded")),
        "sent_to_slower": report.quantiles(rows("", "reacted")),
        **{
            f"{kind}_to_{word}": report.quantiles(rows(kind, name))
            for kind in ("text", "topic")
            for word, name in (("rest", "rested"), ("slower", "reacted"))
            if rows(kind, name)
        },
    }


def _say_much(rate: float) -> None:
    """Another process: says commands at a steady rate for ever."""
    from telerobot_nodes.nodes.halt_probe import flood

    flood(rate, TEXTS)
