"""Estimate of the robot's present state from delayed reports and the plan [US5046022, US5231693].

A report is half a round trip old when it arrives. Since then the robot has followed its plan at the commanded rate, at
most to the last point that it can have received.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

RISE = 0.15  # [s] time constant with which the executor changes its rate
HEADS = 4096  # remembered heads; older ones are merged


@dataclass(frozen=True)
class RobotReport:
    """Values of one `ExecutorState` that the estimate needs."""

    plan_time: float  # [s] of the arm
    rate: float  # [-] plan seconds per second
    rate_goal: float  # [-]
    committed_time: float  # [s] plan time where the arm comes to rest without further operations
    tail_time: float  # [s] last point that the robot held
    running: bool  # not paused, halted or in fault


@dataclass(frozen=True)
class Estimate:
    """Present plan time of the robot, as far as it can be known here."""

    plan_time: float  # [s] most likely
    earliest: float  # [s] lower bound: confirmed
    latest: float  # [s] upper bound: points received by now, and the largest rate
    age: float  # [s] of the report in use, as of now
    since_receipt: float  # [s] since that report was received


class PresentEstimator:
    """Estimates plan time from reports and heads of the plan. `max_rate` [-]: the executor's largest rate."""

    def __init__(self, max_rate: float = 10.0) -> None:
        self._max_rate = max_rate
        self._report: RobotReport | None = None
        self._received = 0.0
        self._one_way = 0.0
        self._heads: deque[tuple[float, float]] = deque(maxlen=HEADS)

    def on_report(self, now: float, report: RobotReport, round_trip: float) -> None:
        """Take a report received at `now` [s]; `round_trip` [s], negative if unknown (then 0 is assumed)."""
        self._report, self._received = report, now
        self._one_way = max(round_trip, 0.0) / 2.0

    def on_head(self, now: float, head_time: float) -> None:
        """Note that the plan's head is at `head_time` [s] from `now` [s] on; also after a truncation."""
        self._heads.append((now, head_time))

    def estimate(self, now: float) -> Estimate | None:
        """Estimate for `now` [s]; None before the first report."""
        report = self._report
        if report is None:
            return None
        since = max(now - self._received, 0.0)
        age = since + self._one_way
        latest = max(report.plan_time, self._limit(now, report))
        goal = report.rate_goal if report.running else 0.0
        run = goal * age - (goal - report.rate) * RISE * -np.expm1(-age / RISE)
        most = min(latest, report.plan_time + self._max_rate * age)
        likely = float(np.clip(report.plan_time + run, report.plan_time, most))
        return Estimate(likely, report.plan_time, most, age, since)

    def _limit(self, now: float, report: RobotReport) -> float:
        """Last plan time [s] that the robot can reach with the points received by now."""
        if not report.running:
            return report.committed_time
        arrived = now - self._one_way
        while len(self._heads) > 1 and self._heads[1][0] <= arrived:
            self._heads.popleft()
        known = self._heads[0][1] if self._heads and self._heads[0][0] <= arrived else report.tail_time
        return max(known, report.committed_time)
