"""The plan in memory: flat arrays that grow at the tail and are dropped at both ends [US5046022 claims 1, 6, 14, 16].

What belongs here: points in order, found by number or plan time. What must never enter: the origin of points,
clutches, the link. 81 bytes per point. Append costs amortised O(appended), dropping at either end and look-up cost
O(log n). Numbers increase but may have gaps: a deleted number is never used again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.core.protocol import GRIPPER_UNCHANGED
from telerobot_nodes.errors import InvalidValueError, QueueFullError
from telerobot_nodes.plan.log.points import MIN_STEP, PlanPoints

FIRST_SIZE = 1024


def _nothing() -> None:
    pass


@dataclass(frozen=True)
class PointBlock:
    """Consecutive points of a store, numbers included; read-only views or copies."""

    seq: npt.NDArray[np.int64]  # (n,)
    time: FloatArray  # (n,) [s]
    pose: FloatArray  # (n, 7)
    timing: npt.NDArray[np.uint8]  # (n,)
    gripper: FloatArray  # (n,) [m], GRIPPER_UNCHANGED: unchanged

    def __len__(self) -> int:
        return int(self.seq.size)

    def first(self, n: int) -> PointBlock:
        """The first n points; views."""
        return PointBlock(self.seq[:n], self.time[:n], self.pose[:n], self.timing[:n], self.gripper[:n])

    def last(self, n: int) -> PointBlock:
        """The last n points; views."""
        rows = slice(len(self) - n, None)
        return PointBlock(self.seq[rows], self.time[rows], self.pose[rows], self.timing[rows], self.gripper[rows])

    def copy(self) -> PointBlock:
        """The same points, independent of the store."""
        return PointBlock(self.seq.copy(), self.time.copy(), self.pose.copy(), self.timing.copy(), self.gripper.copy())


class PlanStore:
    """Points in order of number and of plan time, at most `capacity` of them."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self._start = 0
        self._end = 0
        self._cut = 0  # end of the rows that were truncated and not written over
        self.before_overwriting: Callable[[], None] = _nothing  # last call for who needs truncated rows
        self._allocate(FIRST_SIZE)

    def __len__(self) -> int:
        return self._end - self._start

    @property
    def bytes_per_point(self) -> int:
        """Memory of one point [B], spare room apart."""
        columns = (self._seq, self._time, self._pose, self._timing, self._gripper)
        return sum(c.itemsize * int(np.prod(c.shape[1:])) for c in columns)

    @property
    def first_seq(self) -> int:
        """Number of the oldest point; 0 when empty."""
        return int(self._seq[self._start]) if len(self) else 0

    @property
    def last_seq(self) -> int:
        """Number of the newest point; 0 when empty."""
        return int(self._seq[self._end - 1]) if len(self) else 0

    @property
    def first_time(self) -> float:
        """Plan time of the oldest point [s]; 0 when empty."""
        return float(self._time[self._start]) if len(self) else 0.0

    @property
    def last_time(self) -> float:
        """Plan time of the newest point [s]; 0 when empty."""
        return float(self._time[self._end - 1]) if len(self) else 0.0

    @property
    def last_gripper(self) -> float:
        """Opening of the newest point [m]; GRIPPER_UNCHANGED if it has none, or if empty."""
        return float(self._gripper[self._end - 1]) if len(self) else GRIPPER_UNCHANGED

    def append(
        self,
        seq: npt.NDArray[np.int64],
        time: FloatArray,
        pose: FloatArray,
        timing: int,
        gripper: float = GRIPPER_UNCHANGED,
    ) -> None:
        """Append points that follow the last one in number and time.

        Raises QueueFullError when they do not fit, InvalidValueError when they do not follow; then nothing changes.
        """
        n = len(seq)
        if not n:
            return  # what was truncated can still be restored
        if len(self) + n > self.capacity:
            raise QueueFullError(f"plan: {len(self)} + {n} points; allowed: {self.capacity}")
        self._check_follows(seq, time)
        if self._cut > self._end:
            self.before_overwriting()
        self._reserve(n)
        rows = slice(self._end, self._end + n)
        self._seq[rows] = seq
        self._time[rows] = time
        self._pose[rows] = pose
        self._timing[rows] = timing
        self._gripper[rows] = gripper
        self._end += n
        self._cut = self._end

    def extend(self, block: PointBlock, truncated_as: int | None = None) -> None:
        """Append points that were taken from a store; raises like `append`.

        `truncated_as`: number of their last point, if they were truncated here with other numbers. What was truncated
        after that point can still be restored.
        """
        if not len(block):
            return
        rest = self._truncated_after(int(block.seq[-1]) if truncated_as is None else truncated_as)
        self.append(block.seq, block.time, block.pose, 0)
        start = self._end - len(block)
        self._timing[start : self._end] = block.timing
        self._gripper[start : self._end] = block.gripper
        self._keep_truncated(rest)

    def clear(self) -> None:
        """Drop every point."""
        self.before_overwriting()
        self._start = self._end = self._cut = 0

    def truncate(self, after_seq: int) -> int:
        """Drop every point with a number above `after_seq`; returns how many. Costs O(log n)."""
        end = self._end_of(after_seq)
        dropped = self._end - end
        if self._cut < self._end:
            self._cut = self._end
        self._end = end
        return dropped

    def truncated(self) -> PointBlock:
        """What `truncate` has dropped from the end since the last append: the points after the newest; copies."""
        return self.rows(slice(self._end, self._cut)).copy()

    def truncated_rows(self, n: int) -> slice:
        """Rows of the first `n` of `truncated()`, for `rows`; they hold until `before_overwriting` is called."""
        return slice(self._end, self._end + n)

    def _truncated_after(self, seq: int) -> PointBlock:
        """Of what was truncated, the points after this one; none if it is not among them."""
        block = self.truncated()
        known = int(block.seq.searchsorted(seq, side="right"))
        return block.last(len(block) - known if known and int(block.seq[known - 1]) == seq else 0)

    def _keep_truncated(self, block: PointBlock) -> None:
        self._reserve(len(block))
        rows = slice(self._end, self._end + len(block))
        self._seq[rows], self._time[rows], self._pose[rows] = block.seq, block.time, block.pose
        self._timing[rows], self._gripper[rows] = block.timing, block.gripper
        self._cut = rows.stop

    def forget(self, before_seq: int) -> int:
        """Drop every point with a number below `before_seq`; returns how many. Costs O(log n)."""
        dropped = int(self._seq[self._start : self._end].searchsorted(before_seq, side="left"))
        self._start += dropped
        return dropped

    def contains(self, seq: int) -> bool:
        """True when the point of this number is held."""
        i = int(self._seq[self._start : self._end].searchsorted(seq))
        return i < len(self) and int(self._seq[self._start + i]) == seq

    def after(self, seq: int, limit: int | None = None) -> PointBlock:
        """The points with numbers above `seq`, oldest first, at most `limit` of them; views."""
        return self.rows(self._after(seq, self._end if limit is None else limit))

    def rows(self, rows: slice) -> PointBlock:
        """The points of these rows; views."""
        columns = (self._seq[rows], self._time[rows], self._pose[rows], self._timing[rows], self._gripper[rows])
        for column in columns:
            column.setflags(write=False)
        return PointBlock(*columns)

    def before_time(self, time: float) -> int:
        """Number of the last point at or before plan time [s]; 0 when there is none."""
        i = int(self._time[self._start : self._end].searchsorted(time, side="right"))
        return int(self._seq[self._start + i - 1]) if i else 0

    def previous(self, seq: int) -> int:
        """Number of the point before the one with number `seq`; 0 when there is none."""
        i = int(self._seq[self._start : self._end].searchsorted(seq, side="left"))
        return int(self._seq[self._start + i - 1]) if i else 0

    def count_after(self, seq: int) -> int:
        """How many points have numbers above `seq`."""
        return len(self) - int(self._seq[self._start : self._end].searchsorted(seq, side="right"))

    def last_pose(self) -> FloatArray:
        """Pose of the newest point: (7,), a copy."""
        return np.array(self._pose[self._end - 1])

    def _check_follows(self, seq: npt.NDArray[np.int64], time: FloatArray) -> None:
        if not len(self) or not len(seq):
            return
        if int(seq[0]) <= self.last_seq:
            raise InvalidValueError("point.seq", int(seq[0]), f"allowed: above {self.last_seq}")
        if float(time[0]) < self.last_time + MIN_STEP * (1.0 - 1e-6):
            raise InvalidValueError(
                "point.time", float(time[0]), f"allowed: {self.last_time + MIN_STEP:g} [s] or later"
            )

    def _end_of(self, seq: int) -> int:
        """Row after the point with this number, or after the last one below it."""
        if self._end > self._start:
            guess = self._end - self._seq.item(self._end - 1) + seq  # numbers near the tail have rarely a gap
            if self._start < guess <= self._end and self._seq.item(guess - 1) == seq:
                return guess
        return self._start + int(self._seq[self._start : self._end].searchsorted(seq, side="right"))

    def _after(self, seq: int, limit: int) -> slice:
        first = self._start + int(self._seq[self._start : self._end].searchsorted(seq, side="right"))
        return slice(first, min(self._end, first + limit))

    def _allocate(self, size: int) -> None:
        self._seq = np.empty(size, dtype=np.int64)
        self._time = np.empty(size)
        self._pose = np.empty((size, 7))
        self._timing = np.empty(size, dtype=np.uint8)
        self._gripper = np.empty(size)

    def _reserve(self, n: int) -> None:
        """Room for n more: move to the front when half is free there, grow to twice the size otherwise."""
        if self._end + n <= len(self._seq):
            return
        held = self.rows(slice(self._start, self._end)).copy()
        if 2 * (len(held) + n) > len(self._seq):
            self._allocate(max(2 * (len(held) + n), 2 * len(self._seq)))
        self._start, self._end = 0, len(held)
        rows = slice(0, len(held))
        self._seq[rows], self._time[rows], self._pose[rows] = held.seq, held.time, held.pose
        self._timing[rows], self._gripper[rows] = held.timing, held.gripper


def as_points(block: PointBlock, author: str) -> PlanPoints:
    """Plan points of a block without gaps. Raises InvalidValueError when its numbers have gaps."""
    if int(block.seq[-1]) - int(block.seq[0]) != len(block) - 1:
        raise InvalidValueError("points.seq", [int(block.seq[0]), int(block.seq[-1])], "allowed: without gaps")
    gripper = block.gripper if block.gripper[0] >= 0.0 else np.empty(0)
    return PlanPoints(int(block.seq[0]), block.time, block.pose, block.timing, author, gripper)


def gapless(block: PointBlock) -> PointBlock:
    """Longest start of a block that fits one `PlanPoints`: no gap in numbers, gripper commanded or not."""
    breaks = np.flatnonzero((np.diff(block.seq) != 1) | (np.diff(block.gripper >= 0.0)))
    return block.first(int(breaks[0]) + 1 if breaks.size else len(block))
