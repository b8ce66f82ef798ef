"""The plan as a line to draw: positions by point number, from the updates of the queue."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from telerobot_nodes.core.protocol import UpdateKind
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.operator.client.status import PlanChange

HISTORY = 3000  # executed points kept
CAPACITY = 200_000  # most points kept; the oldest go first
MAX_VERTICES = 600  # per drawn line: two arms then take less than 300 kB/s to a page


@dataclass(frozen=True)
class PlanLines:
    """Vertices [m] in WORLD: executed, committed, and ahead with the timing kind of each vertex."""

    executed: FloatArray  # (n, 3)
    committed: FloatArray  # (n, 3)
    ahead: FloatArray  # (n, 3)
    ahead_timing: npt.NDArray[np.uint8]  # (n,)
    trial: FloatArray  # (n, 3)


class _Line:
    """Points in order of their numbers, in arrays that grow by doubling."""

    def __init__(self) -> None:
        self.seq = np.empty(1024, np.int64)
        self.position = np.empty((1024, 3))
        self.timing = np.empty(1024, np.uint8)
        self.size = 0

    def append(self, change: PlanChange) -> None:
        n = len(change.position)
        first = max(change.first_seq, int(self.seq[self.size - 1]) + 1 if self.size else 1)
        skip = first - change.first_seq  # points received before
        if skip >= n:
            return
        self._reserve(self.size + n - skip)
        fresh = slice(self.size, self.size + n - skip)
        self.seq[fresh] = np.arange(first, change.first_seq + n)
        self.position[fresh] = change.position[skip:]
        self.timing[fresh] = change.timing[skip:]
        self.size = fresh.stop

    def truncate(self, after_seq: int) -> None:
        self.size = self.index(after_seq)

    def index(self, seq: int) -> int:
        """Number of points whose number is at most `seq`."""
        return int(np.searchsorted(self.seq[: self.size], seq, side="right"))

    def forget(self, count: int) -> None:
        if count > 0:
            for array in (self.seq, self.position, self.timing):
                array[: self.size - count] = array[count : self.size].copy()
            self.size -= count

    def _reserve(self, size: int) -> None:
        while size > len(self.seq):
            self.seq = np.concatenate((self.seq, np.empty_like(self.seq)))
            self.position = np.concatenate((self.position, np.empty_like(self.position)))
            self.timing = np.concatenate((self.timing, np.empty_like(self.timing)))


class PlanTrace:
    """Plan and trial path; `version` changes with everything drawn."""

    def __init__(self) -> None:
        self._plan = _Line()
        self._trial = _Line()
        self._executed_seq = 0
        self._committed_seq = 0
        self.version = 0

    def __len__(self) -> int:
        return self._plan.size

    def apply(self, change: PlanChange) -> None:
        """Take in a change of the plan or of the trial path."""
        if change.kind is UpdateKind.TIP:
            return  # no points: the forward simulation shows it
        line = self._trial if change.trial else self._plan
        if change.kind is UpdateKind.RESET:
            line.size = 0
        if change.kind is UpdateKind.TRUNCATE:
            line.truncate(change.after_seq)
        else:
            line.append(change)
        line.forget(line.size - CAPACITY)
        self.version += 1

    def progress(self, executed_seq: int, committed_seq: int) -> None:
        """Take in the progress of the robot; executed points beyond HISTORY are dropped."""
        if (executed_seq, committed_seq) == (self._executed_seq, self._committed_seq):
            return
        self._executed_seq, self._committed_seq = executed_seq, max(executed_seq, committed_seq)
        done = self._plan.index(executed_seq)
        if done > 2 * HISTORY:
            self._plan.forget(done - HISTORY)
        self.version += 1

    def lines(self) -> PlanLines:
        """Lines to draw; neighbouring lines share a vertex."""
        plan = self._plan
        done, committed = plan.index(self._executed_seq), plan.index(self._committed_seq)
        start = max(committed - 1, 0)
        ahead = _thin(start, plan.size)
        return PlanLines(
            executed=plan.position[_thin(0, done)].copy(),
            committed=plan.position[_thin(max(done - 1, 0), committed)].copy(),
            ahead=plan.position[ahead].copy(),
            ahead_timing=plan.timing[ahead].copy(),
            trial=self._trial.position[_thin(0, self._trial.size)].copy(),
        )


def _thin(start: int, stop: int) -> npt.NDArray[np.int64]:
    """Indices of at most MAX_VERTICES points of [start, stop), both ends included, on a fixed grid."""
    if stop - start <= MAX_VERTICES:
        return np.arange(start, stop, dtype=np.int64)
    stride = -(-(stop - start) // (MAX_VERTICES - 2))
    inner = np.arange(-(-(start + 1) // stride) * stride, stop - 1, stride, dtype=np.int64)
    return np.concatenate(([start], inner, [stop - 1]))
