"""One path that is being recorded: its points, their numbers and the updates published for displays.

The queue has two: the plan, and the trial path, recorded while the position clutch is disengaged (the "second memory
means" of [US5046022 claims 8, 11]).
"""

from __future__ import annotations

import numpy as np

from telerobot_nodes.core.protocol import GRIPPER_UNCHANGED
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import QueueFullError
from telerobot_nodes.plan.log import EPOCH_BLOCK, PlanFeed, PlanStore, PlanUpdate, PointBlock, Timing
from telerobot_nodes.plan.shaping import SampledPoints


class RecordedPath:
    """Points in order, with numbers that are never used twice."""

    def __init__(self, capacity: int, author: str, trial: bool = False) -> None:
        self.store = PlanStore(capacity)
        self.feed = PlanFeed(author, trial)
        self._next_seq = 1
        self._pending_gripper: float | None = None  # [m] opening for the next point

    def __len__(self) -> int:
        return len(self.store)

    @property
    def head_pose(self) -> FloatArray:
        """Pose of the newest point: (7,)."""
        return self.store.last_pose()

    @property
    def gripper(self) -> float:
        """Opening of the next points [m], or GRIPPER_UNCHANGED."""
        return self.store.last_gripper if self._pending_gripper is None else self._pending_gripper

    def set_gripper(self, opening: float) -> None:
        """Set the opening [m] from the next point on."""
        self._pending_gripper = opening if opening != self.store.last_gripper else None

    @property
    def gripper_pending(self) -> bool:
        """True when an opening waits for a point."""
        return self._pending_gripper is not None

    def thinned(self, after_seq: int, most: int) -> FloatArray:
        """Poses (n, 7) of the points after a number, evenly thinned to `most` or fewer, with the last one."""
        pose: FloatArray = self.store.after(after_seq).pose
        step = max(1, -(-len(pose) // most))
        return pose[::-1][::step][::-1]

    def begin(self, time: float, pose: FloatArray, gripper: float = GRIPPER_UNCHANGED) -> None:
        """Start anew with one point: plan time [s], `pose` (7,), opening [m]."""
        self.clear()
        self.set_gripper(gripper)
        self._append_at(np.array([time]), pose.reshape(1, 7), Timing.SYNCED)

    def skip_numbers(self, tail_seq: int) -> None:
        """Use only numbers above every one that the robot may have received."""
        if tail_seq:
            self._next_seq = (max(self._next_seq - 1, tail_seq) // EPOCH_BLOCK + 1) * EPOCH_BLOCK

    def clear(self) -> None:
        """Delete every point."""
        self._pending_gripper = None
        self.store.clear()
        self.feed.reset()

    def truncate(self, after_seq: int) -> None:
        """Delete the points above `after_seq`."""
        self.store.truncate(after_seq)
        self.feed.truncate(after_seq)

    def append(self, samples: list[SampledPoints]) -> None:
        """Append samples. Raises QueueFullError when one does not fit."""
        for points in samples:
            self._append_at(self.store.last_time + np.cumsum(points.step), points.pose, points.timing)

    def append_path(self, block: PointBlock) -> None:
        """Append another path with its steps in time, kinds and openings; its first point is left out."""
        time = self.store.last_time + block.time[1:] - block.time[0]
        self._extend(PointBlock(block.seq[1:], time, block.pose[1:], block.timing[1:], block.gripper[1:]))

    def append_again(self, block: PointBlock) -> None:
        """Append points that the robot had taken and lost, with new numbers."""
        self._extend(block)

    def restore(self) -> int:
        """Append what was truncated since the last append, with new numbers; returns how many points.

        Raises QueueFullError when it does not fit.
        """
        block = self.store.truncated()
        self._extend(block)
        return len(block)

    def check_room(self, n: int) -> None:
        """Raise QueueFullError when `n` more points do not fit."""
        if len(self.store) + n > self.store.capacity:
            raise QueueFullError(f"plan: {len(self.store)} + {n} points; allowed: {self.store.capacity}")

    def drain(self) -> list[PlanUpdate]:
        """Changes since the last call, for displays."""
        return self.feed.drain(self.store)

    def _append_at(self, time: FloatArray, pose: FloatArray, timing: Timing) -> None:
        n = len(time)
        seq = np.arange(self._next_seq, self._next_seq + n)
        self.store.append(seq, time, pose, int(timing), self.gripper)
        self._pending_gripper = None if n else self._pending_gripper
        self._next_seq += n

    def _extend(self, block: PointBlock) -> None:
        seq = np.arange(self._next_seq, self._next_seq + len(block))
        again = PointBlock(seq, block.time, block.pose, block.timing, block.gripper)
        self.store.extend(again, int(block.seq[-1]) if len(block) else None)
        self._next_seq += len(block)
