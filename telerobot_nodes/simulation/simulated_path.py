"""Joint solutions along one path: the plan's or the trial's.

Each point continues the solution of the one before, so there are no branch jumps. Memory is bounded; both ends are
cut in constant time.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from telerobot_nodes.core.protocol import ConflictKind
from telerobot_nodes.core.robot import Kinematics, Posture
from telerobot_nodes.core.values import FloatArray, GrowableArray
from telerobot_nodes.errors import InvalidValueError, OutOfReachError, QueueFullError

NO_HINTS: FloatArray = np.empty((0, 0))


class SimulatedPath:
    """Points with plan time, joints and conflict; row 0 is the start, with number 0 or that of a dropped point."""

    def __init__(self, kinematics: Kinematics, start: FloatArray, capacity: int) -> None:
        """`start` (dof,) [rad]; at most `capacity` points."""
        self._kinematics = kinematics
        self._capacity = capacity
        self._seq, self._time = GrowableArray(dtype=np.int64), GrowableArray()
        self._q, self._conflict = GrowableArray((start.size,)), GrowableArray(dtype=np.uint8)
        self._columns = (self._seq, self._time, self._q, self._conflict)
        self.rest = start  # (dof,) [rad] posture that pulls the elbow where points have no hint
        self._checked = 0  # rows examined for collisions and other conflicts
        self.restart(start)

    def restart(self, q: FloatArray, time: float = 0.0, rest: FloatArray | None = None) -> None:
        """Delete the points; the next ones start from `q` (dof,) [rad] at plan time `time` [s].

        `rest` (dof,) [rad]: posture where the plan began; None: `q`.
        """
        self.rest = np.array(q if rest is None else rest)
        for column in self._columns:
            column.clear()
        self._extend(np.zeros(1, dtype=np.int64), np.array([time]), q.reshape(1, -1), np.zeros(1, dtype=np.uint8))
        self._checked = 1

    def __len__(self) -> int:
        """Number of points, without the start."""
        return len(self._seq) - 1

    @property
    def seq(self) -> npt.NDArray[np.int64]:
        """(n,) numbers, row 0 the start."""
        return self._seq.view

    @property
    def time(self) -> FloatArray:
        """(n,) [s] plan times."""
        return self._time.view

    @property
    def q(self) -> FloatArray:
        """(n, dof) [rad] joint solutions."""
        return self._q.view

    @property
    def conflict(self) -> npt.NDArray[np.uint8]:
        """(n,) `Conflict` of each point."""
        return self._conflict.view

    def append(self, first_seq: int, time: FloatArray, pose: FloatArray, hints: FloatArray = NO_HINTS) -> None:
        """Append points numbered from `first_seq` with plan times (n,) [s] and poses (n, 7) of the tool in WORLD.

        `hints` (n, dof) [rad]: posture of each point, or empty. Joints are those that the executor finds. Unreachable
        points are kept and marked. Raises InvalidValueError when number or time decreases, QueueFullError when there
        is no room; then nothing is added.
        """
        last_seq, last_time, n = int(self.seq[-1]), float(self.time[-1]), time.size
        if first_seq <= last_seq:
            raise InvalidValueError("points.first_seq", first_seq, f"allowed: above {last_seq}")
        if len(self) and time[0] < last_time:
            raise InvalidValueError("points.time[0]", float(time[0]), f"allowed: from {last_time:g}")
        if len(self) + n > self._capacity:
            raise QueueFullError(f"points (length): {n} do not fit; allowed: {self._capacity - len(self)} more")
        if len(self) == 0:
            self.time[-1] = min(last_time, time[0])
        posture = Posture.of(self.rest, hints, time, last_time if last_seq else None)
        self._extend(np.arange(first_seq, first_seq + n), time, *self._solve(pose, posture))

    def follow(self, time: FloatArray, joints: FloatArray) -> None:
        """Append the next points with times (n,) [s] and joints (n, dof) [rad] that somebody else has found."""
        first = int(self.seq[-1]) + 1
        unmarked = np.zeros(time.size, dtype=np.uint8)
        self._extend(np.arange(first, first + time.size), time, joints, unmarked)

    def known(self, first_seq: int, time: FloatArray) -> int:
        """Number of these points, counted from the first, that the path has or had with the same plan time [s]."""
        n = min(int(self.seq[-1]) - first_seq + 1, time.size)
        if n <= 0 or not len(self):
            return 0
        row = int(np.searchsorted(self.seq, first_seq + n - 1))
        same = int(self.seq[row]) == first_seq + n - 1 and abs(self.time[row] - time[n - 1]) < 1e-9
        return n if same else 0

    def truncate(self, after_seq: int) -> None:
        """Delete the points above `after_seq`."""
        keep = max(int(np.searchsorted(self.seq, after_seq, side="right")), 1)
        for column in self._columns:
            column.cut(keep)
        self._checked = min(self._checked, keep)

    def drop_before(self, time: float) -> None:
        """Forget the points before plan time `time` [s], except the last of them."""
        behind = max(min(int(np.searchsorted(self.time, time, side="right")) - 1, len(self)), 0)
        for column in self._columns:
            column.drop(behind)
        self._checked = max(self._checked - behind, 1)

    def at(self, time: float) -> FloatArray:
        """Joints (dof,) [rad] at plan time `time` [s], linear between points, held outside; O(log n)."""
        times, q = self.time, self.q
        i = int(np.searchsorted(times, time, side="right"))
        if i <= 0 or i >= times.size:
            return np.array(q[min(max(i - 1, 0), times.size - 1)])
        u = (time - times[i - 1]) / (times[i] - times[i - 1])
        return np.asarray(q[i - 1] + u * (q[i] - q[i - 1]))

    def unchecked(self, most: int) -> range:
        """Up to `most` rows not yet examined; they count as examined from now on."""
        first = self._checked
        self._checked = min(first + most, len(self._seq))
        return range(first, self._checked)

    @property
    def examined_seq(self) -> int:
        """Every point up to this number was examined."""
        return int(self.seq[self._checked - 1])

    def uncheck(self) -> None:
        """Mark every point as not examined; points out of reach stay so."""
        self._checked = min(1, len(self._seq))
        conflict = self.conflict
        conflict[conflict != ConflictKind.OUT_OF_REACH] = ConflictKind.NONE

    def _extend(self, *values: npt.NDArray[np.generic]) -> None:
        for column, value in zip(self._columns, values, strict=True):
            column.extend(len(value))[:] = value

    def _solve(self, pose: FloatArray, posture: Posture) -> tuple[FloatArray, npt.NDArray[np.uint8]]:
        """Joints (n, dof) [rad] and conflicts (n,) of poses (n, 7), continuing the last solution."""
        seed = self.q[-1]
        conflict = np.zeros(len(pose), dtype=np.uint8)
        try:
            return self._kinematics.follow(pose, seed, posture=posture), conflict
        except OutOfReachError:
            joints = np.empty((len(pose), seed.size))
        for row in range(len(pose)):
            try:
                one = posture.from_row(row)
                joints[row] = self._kinematics.follow(pose[row : row + 1], seed, posture=one)[0]
            except OutOfReachError:
                joints[row] = seed
                conflict[row] = ConflictKind.OUT_OF_REACH
            seed = joints[row]
        return joints, conflict
