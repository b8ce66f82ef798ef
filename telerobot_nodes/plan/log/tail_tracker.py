"""Detects that the robot lost points which it had taken: its executor was restarted."""

from __future__ import annotations

from collections import deque

from telerobot_nodes.plan.log.operations import ExecutorReport


class TailTracker:
    """Compares the reported tail with the tail that the applied operations leave."""

    def __init__(self) -> None:
        self._expected: deque[tuple[int, int]] = deque()  # operation, tail that it leaves
        self._held_seq = 0  # the robot holds the plan up to this point, or has executed it
        self.lost = False  # it does not

    def expect(self, number: int, tail_seq: int) -> None:
        """Operation `number` leaves `tail_seq` as the robot's tail, or more when points are committed."""
        self._expected.append((number, tail_seq))

    def follow(self, report: ExecutorReport, refused: bool) -> None:
        """Take a report; `refused`: the robot refused an operation since the report before."""
        while self._expected and self._expected[0][0] <= report.applied_number:
            tail_seq = self._expected.popleft()[1]
            if not refused or tail_seq < self._held_seq:
                self._held_seq = tail_seq
        self.lost = self.lost or report.tail_seq < self._held_seq
        self._held_seq = report.tail_seq

    def reset(self) -> None:
        """Start anew from the next report."""
        self._expected.clear()
        self._held_seq, self.lost = 0, False
