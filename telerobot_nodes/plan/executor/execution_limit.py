"""The last point that may be executed: the arm comes to rest before the points after it, which are kept [US5046022].

What belongs here: where the arm waits, and why. What must never enter: collisions (the operator's side finds them),
the motion itself (`motion.py`).
"""

from __future__ import annotations

import numpy as np

from telerobot_nodes.plan.executor.path import JointPath


class ExecutionLimit:
    """Number of the last point that may be executed; 0: no limit."""

    def __init__(self) -> None:
        self.seq = 0

    def truncated(self, after_seq: int) -> None:
        """The points above `after_seq` were deleted; a limit with nothing after it ends."""
        if after_seq <= self.seq:
            self.seq = 0

    def plan_time(self, path: JointPath) -> float:
        """Plan time [s] that the motion shall not pass; inf: none.

        It is that of the point before the limit, so that no point after the limit is ever committed.
        """
        if not self._acts(path):
            return np.inf
        return float(path.times[max(path.index_of_seq(self.seq) - 1, 0)])

    def reason(self, path: JointPath) -> str:
        """Why an arm at rest does not go on; empty if no limit holds it."""
        return (
            f"waits before point {self.seq + 1}: the operator's side predicts a collision" if self._acts(path) else ""
        )

    def _acts(self, path: JointPath) -> bool:
        return 0 < self.seq < int(path.seqs[-1])
