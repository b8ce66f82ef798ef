"""Estimate of the robot's present from delayed reports and the plan it must be following [US5046022, US5231693].

A report is half a round trip old when it arrives. Since then the robot went on along the plan it held, at the rate
asked for, at most to the last point that can have reached it.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

RISE = 0.15  # [s] time constant with which the executor takes up a rate
HEADS = 4096  # remembered heads; older ones are merged


@dataclass(frozen=True)
class RobotReport:
    """What the estimate needs of one `ExecutorState`."""

    plan_time: float  # [s] of the arm
    rate: float  # [-] plan seconds per second
    rate_goal: float  # [-]
    committed_time: float  # [s] where the arm would come to rest with no further operation
    tail_time: float  # [s] last point the robot held
    running: bool  # not paused, halted or at fault


@dataclass(frozen=True)
class Estimate:
    """The robot's present, as far as it can be known here."""

    plan_time: float  # [s] most likely
    earliest: float  # [s] confirmed: it is not before
    latest: float  # [s] it cannot be beyond: what can have reached it, and the largest rate
    age: float  # [s] of the report the estimate rests on, as of now
    since_receipt: float  # [s] since that report came


class PresentEstimator:
    """Reports and heads in, estimate out. `max_rate` [-]: the executor's largest rate."""

    def __init__(self, max_rate: float = 10.0) -> None:
        self._max_rate = max_rate
        self._report: RobotReport | None = None
        self._received = 0.0
        self._one_way = 0.0
        self._heads: deque[tuple[float, float]] = deque(maxlen=HEADS)

    def on_report(self, now: float, report: RobotReport, round_trip: float) -> None:
        """A report came at `now` [s]; `round_trip` [s] measured, negative: unknown, taken as 0."""
        self._report, self._received = report, now
        self._one_way = max(round_trip, 0.0) / 2.0

    def on_head(self, now: float, head_time: float) -> None:
        """The plan's head is at plan time `head_time` [s] since `now` [s]; also after a truncation."""
        self._heads.append((now, head_time))

    def estimate(self, now: float) -> Estimate | None:
        """Where the robot must be at `now` [s]; None before the first report."""
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
        """[s] last plan time the robot can reach with what it held or can have received since."""
        if not report.running:
            return report.committed_time
        arrived = now - self._one_way
        while len(self._heads) > 1 and self._heads[1][0] <= arrived:
            self._heads.popleft()
        known = self._heads[0][1] if self._heads and self._heads[0][0] <= arrived else report.tail_time
        return max(known, report.committed_time)
