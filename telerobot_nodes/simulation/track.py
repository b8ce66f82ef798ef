"""Joint solutions along one path as it is laid: the plan's or the trial's.

Each point continues the solution of the one before, so there are no branch jumps. Memory is bounded; both ends are
cut in constant time.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from telerobot_nodes.core.kinematics import Kinematics
from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.errors import InvalidValueError, OutOfReachError, QueueFullError
from telerobot_nodes.simulation.conflicts import Conflict


class Track:
    """Points with plan time, joints and conflict; row 0 is the start, number 0, before any point."""

    def __init__(self, kinematics: Kinematics, start: FloatArray, capacity: int) -> None:
        self._kinematics = kinematics
        self._capacity = capacity
        dof = start.size
        self._seq = np.zeros(64, dtype=np.int64)
        self._time = np.zeros(64)
        self._q = np.zeros((64, dof))
        self._conflict = np.zeros(64, dtype=np.uint8)
        self._first = 0
        self._last = 0  # one past the last row
        self._checked = 0  # one past the last row examined for collisions and the like
        self.restart(start)

    def restart(self, q: FloatArray, time: float = 0.0) -> None:
        """Forget the points; they will start from `q` (dof,) [rad] at plan time `time` [s]."""
        self._first, self._last, self._checked = 0, 1, 1
        self._seq[0], self._time[0], self._q[0], self._conflict[0] = 0, time, q, Conflict.NONE

    def __len__(self) -> int:
        """Points held, the start not counted."""
        return self._last - self._first - 1

    @property
    def seq(self) -> npt.NDArray[np.int64]:
        """(n,) numbers, row 0 the start."""
        return self._seq[self._first : self._last]

    @property
    def time(self) -> FloatArray:
        """(n,) [s] plan times."""
        return self._time[self._first : self._last]

    @property
    def q(self) -> FloatArray:
        """(n, dof) [rad] joint solutions."""
        return self._q[self._first : self._last]

    @property
    def conflict(self) -> npt.NDArray[np.uint8]:
        """(n,) `Conflict` per point."""
        return self._conflict[self._first : self._last]

    def append(self, first_seq: int, time: FloatArray, pose: FloatArray) -> None:
        """Add points numbered from `first_seq` with plan times (n,) [s] and poses (n, 7) of the tool in WORLD.

        Unreachable points are kept and marked. Raises InvalidValueError when number or time go back, QueueFullError
        when there is no room; nothing is added then.
        """
        if first_seq <= self._seq[self._last - 1]:
            raise InvalidValueError("points.first_seq", first_seq, f"allowed: above {self._seq[self._last - 1]}")
        if len(self) and time[0] < self._time[self._last - 1]:
            raise InvalidValueError("points.time[0]", float(time[0]), f"allowed: from {self._time[self._last - 1]:g}")
        n = time.size
        if len(self) + n > self._capacity:
            raise QueueFullError(f"points (length): {n} do not fit; allowed: {self._capacity - len(self)} more")
        if len(self) == 0:
            self._time[self._last - 1] = min(self._time[self._last - 1], time[0])
        self._reserve(n)
        rows = slice(self._last, self._last + n)
        self._seq[rows] = np.arange(first_seq, first_seq + n)
        self._time[rows] = time
        self._solve(rows, pose)
        self._last += n

    def known(self, first_seq: int, time: FloatArray) -> int:
        """How many of these points, the first ones, are held already with the same number and time [s], or were."""
        n = min(int(self._seq[self._last - 1]) - first_seq + 1, time.size)
        if n <= 0 or not len(self):
            return 0
        row = int(np.searchsorted(self.seq, first_seq + n - 1))
        same = int(self.seq[row]) == first_seq + n - 1 and abs(self.time[row] - time[n - 1]) < 1e-9
        return n if same else 0

    def truncate(self, after_seq: int) -> None:
        """Drop points with number above `after_seq`."""
        keep = int(np.searchsorted(self.seq, after_seq, side="right"))
        self._last = self._first + max(keep, 1)
        self._checked = min(self._checked, self._last)

    def drop_before(self, time: float) -> None:
        """Forget points before plan time `time` [s] except the last of them."""
        behind = int(np.searchsorted(self.time, time, side="right")) - 1
        self._first += max(min(behind, len(self)), 0)
        self._checked = max(self._checked, self._first)

    def at(self, time: float) -> FloatArray:
        """(dof,) [rad] joints at plan time `time` [s], linear between points, held outside; O(log n)."""
        times, q = self.time, self.q
        i = int(np.searchsorted(times, time, side="right"))
        if i <= 0 or i >= times.size:
            return np.array(q[min(max(i - 1, 0), times.size - 1)])
        u = (time - times[i - 1]) / (times[i] - times[i - 1])
        return np.asarray(q[i - 1] + u * (q[i] - q[i - 1]))

    def unchecked(self, most: int) -> range:
        """Up to `most` rows not yet examined, which count as examined from now on."""
        first = self._checked - self._first
        last = min(first + most, self._last - self._first)
        self._checked = self._first + last
        return range(first, last)

    def uncheck(self) -> None:
        """Every point is to be examined again; what was out of reach stays so."""
        self._checked = min(self._first + 1, self._last)
        conflict = self.conflict
        conflict[conflict != Conflict.OUT_OF_REACH] = Conflict.NONE

    def _solve(self, rows: slice, pose: FloatArray) -> None:
        seed = self._q[rows.start - 1]
        self._conflict[rows] = Conflict.NONE
        try:
            self._q[rows] = self._kinematics.solve_path(pose, seed)
        except OutOfReachError:
            self._solve_one_by_one(rows, pose)

    def _solve_one_by_one(self, rows: slice, pose: FloatArray) -> None:
        for row in range(rows.start, rows.stop):
            seed = self._q[row - 1]
            try:
                self._q[row] = self._kinematics.solve_path(pose[row - rows.start : row - rows.start + 1], seed)[0]
            except OutOfReachError:
                self._q[row] = seed
                self._conflict[row] = Conflict.OUT_OF_REACH

    def _reserve(self, n: int) -> None:
        if self._last + n <= self._time.size:
            return
        held = self._last - self._first
        size = max(2 * (held + n), 64)
        for name in ("_seq", "_time", "_q", "_conflict"):
            old = getattr(self, name)
            new = np.zeros((size, *old.shape[1:]), dtype=old.dtype)
            new[:held] = old[self._first : self._last]
            setattr(self, name, new)
        self._checked -= self._first
        self._first, self._last = 0, held
