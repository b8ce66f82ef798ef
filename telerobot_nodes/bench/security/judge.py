"""What came of an attack, from counts and times; and what security costs, from two links measured in turns.

What belongs here: functions of recorded values. What must never enter: ROS, sockets, clocks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from telerobot_nodes.bench import report

ALARM = 1.0  # [s] after the first hostile datagram, whose way to the host takes no time here
COST = 1.2  # [-] most that security may cost, as a ratio; a figure of this bench, the design asks for the ratio only
Goal = dict[str, Any]


@dataclass(frozen=True)
class Attack:
    """What was sent to one host, and what it did with it."""

    did: str
    sent: int
    to_count: int  # of those sent, that must be counted as refused
    accepted: int  # messages delivered that no genuine sender sent, or that were delivered again
    refused: Mapping[str, int] = field(default_factory=dict)  # by reason
    alarm_s: float = math.inf  # first hostile datagram to the first report on `diagnostics`
    unfresh: int = 0  # times the link was reported as other than fresh
    lost: int = 0  # genuine messages that did not arrive meanwhile


def refusals(health: Mapping[str, str]) -> dict[str, int]:
    """Refused datagrams by reason, late messages among them, from a link's values on `diagnostics`."""
    counts: dict[str, int] = {}
    for name, value in health.items():
        reason = name.removeprefix("refused ") if name.startswith("refused ") else "late" * name.endswith(" late")
        if reason:
            counts[reason] = counts.get(reason, 0) + int(value)
    return counts


def more(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int]:
    """By how much counts have grown."""
    return {name: count - before.get(name, 0) for name, count in after.items() if count > before.get(name, 0)}


def first_alarm(reports: Sequence[tuple[float, Mapping[str, str]]], before: int, at: float) -> float:
    """From `at` [s] to the first report with more than `before` refusals [s]; infinite: none."""
    times = (time for time, health in reports if sum(refusals(health).values()) > before)
    return next(times, math.inf) - at


def accepted(sent: Mapping[int, float], arrived: Mapping[int, float], twice: int) -> int:
    """Deliveries of one topic that no genuine sending explains."""
    return len(set(arrived) - set(sent)) + twice


def goals_of(name: str, attack: Attack) -> list[Goal]:
    """What must hold of an attack."""
    return [
        report.goal(f"{name}: accepted of {attack.sent}", attack.accepted, "-", "==", 0),
        report.goal(f"{name}: counted by reason", sum(attack.refused.values()), "-", ">=", attack.to_count),
        report.goal(f"{name}: alarm", attack.alarm_s, "s", "<=", ALARM),
        report.goal(f"{name}: link not fresh, or genuine messages lost", attack.unfresh + attack.lost, "-", "==", 0),
    ]


def goals_of_takes(takes: Mapping[str, Any], sent: int) -> list[Goal]:
    """What must hold of a host with an operator's key that sent so many messages of each kind."""
    refused = sum(takes["refused"].get(reason, 0) for reason in ("other_name", "supervisors_only"))
    return [
        report.goal("TAKE of an operator's host as supervisor, delivered", takes["as_supervisor"], "-", "==", 0),
        report.goal("TAKE of an operator's host in its own name, delivered", takes["in_its_name"], "-", "==", 0),
        report.goal("TAKE of an operator's host, counted by reason", refused, "-", ">=", 2 * sent),
        report.goal("requests of the same host for control, delivered", takes["requests"], "-", "==", sent),
    ]


def figures_of(attack: Attack) -> dict[str, Any]:
    """An attack as a part of a result."""
    return {**asdict(attack), "alarm_s": round(attack.alarm_s, 3)}


def cost(on: Sequence[tuple[float, float]], off: Sequence[tuple[float, float]]) -> dict[str, float]:
    """Ratios, with security over without it, of blocks measured in turns.

    A block is the median delay of a crossing [s] and the processor time of both links [s]; the figure is the median of
    the ratios of two blocks that followed one another.
    """
    pairs = [(np.divide(a, b)) for a, b in zip(on, off, strict=True)]
    latency, cpu = np.median(pairs, axis=0)
    delays, seconds = np.median([on, off], axis=1).T
    return {
        "latency_ratio": round(float(latency), 3),
        "cpu_ratio": round(float(cpu), 3),
        "on_latency_ms": round(1e3 * float(delays[0]), 3),
        "off_latency_ms": round(1e3 * float(delays[1]), 3),
        "on_cpu_s": round(float(seconds[0]), 3),
        "off_cpu_s": round(float(seconds[1]), 3),
        "blocks": len(pairs),
    }


def goals_of_cost(figures: Mapping[str, float]) -> list[Goal]:
    """What security may cost."""
    return [
        report.goal("latency with security over without", figures["latency_ratio"], "-", "<=", COST),
        report.goal("processor time with security over without", figures["cpu_ratio"], "-", "<=", COST),
    ]
