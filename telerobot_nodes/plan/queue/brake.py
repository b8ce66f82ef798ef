"""The time brake: deletes points from the tail at a rate of plan time [US5046022 claims 14, 15, 18].

What belongs here: up to which plan time a path is deleted by now. What must never enter: stores, the link. The
forward simulation follows the path's head and so runs backward along it.
"""

from __future__ import annotations

from telerobot_nodes.core.protocol import ExecutorMode
from telerobot_nodes.core.values import in_range
from telerobot_nodes.plan.log import ExecutorReport


class TimeBrake:
    """Rate of deletion inside an allowed range; 0: released."""

    def __init__(self, low: float, high: float) -> None:
        self._low = low
        self._high = high
        self._since = 0.0
        self._head_time = 0.0
        self.rate = 0.0  # [plan s/s]

    @property
    def engaged(self) -> bool:
        """True while points are deleted."""
        return self.rate > 0.0

    def check(self, rate: float) -> None:
        """Raise InvalidValueError when the rate is neither 0 nor in range."""
        if rate != 0.0:
            in_range(rate, "brake_rate", self._low, self._high, "plan s/s, or 0 to release")

    def set(self, now: float, rate: float, head_time: float) -> None:
        """Engage at `rate` [plan s/s] from the path's head at plan time [s]; 0 releases.

        Raises as `check`; then nothing changes.
        """
        self.check(rate)
        self._since, self._head_time, self.rate = now, head_time, float(rate)

    def release(self) -> None:
        """Stop deleting."""
        self.rate = 0.0

    def cutoff(self, now: float) -> float:
        """Plan time [s] after which every point is deleted by now."""
        return self._head_time - self.rate * max(now - self._since, 0.0)


def committed_on_arrival(report: ExecutorReport, age: float, round_trip: float, margin: float) -> float:
    """Plan time [s] up to which the robot will be committed when an operation sent now arrives.

    `age` [s] since the report was received. The report is one delay older; the operation arrives one delay later.
    """
    if report.mode not in (ExecutorMode.RUNNING, ExecutorMode.IDLE):
        return report.committed_time
    rate = max(report.rate, report.rate_goal)
    return report.committed_time + rate * (age + max(round_trip, 0.0) + margin)
