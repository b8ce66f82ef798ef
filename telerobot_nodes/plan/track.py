"""One path being laid: its points, its numbers, and what displays were told of it.

The queue has two: the plan, and the trial path laid while the position clutch is disengaged (the "second memory
means" of [US5046022 claims 8, 11]).
"""

from __future__ import annotations

import numpy as np

from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.core.window import GRIPPER_UNCHANGED
from telerobot_nodes.errors import QueueFullError
from telerobot_nodes.plan.feed import PlanFeed, PlanUpdate
from telerobot_nodes.plan.laying import Laid
from telerobot_nodes.plan.points import Timing
from telerobot_nodes.plan.store import PlanStore, Stretch
from telerobot_nodes.plan.time_base import Timed

EPOCH_BLOCK = 1 << 20  # a plan that follows another's begins at a multiple of this: no number is ever used twice


class Track:
    """Points in order with numbers never used twice."""

    def __init__(self, capacity: int, author: str, trial: bool = False) -> None:
        self.store = PlanStore(capacity)
        self.feed = PlanFeed(author, trial)
        self.next_seq = 1
        self._asked: float | None = None  # [m] opening for the point laid next

    def __len__(self) -> int:
        return len(self.store)

    @property
    def head_pose(self) -> FloatArray:
        """Pose of the newest point: (7,)."""
        return self.store.last_pose()

    @property
    def gripper(self) -> float:
        """Opening [m] of the points laid next: as asked, else that of the newest point; or GRIPPER_UNCHANGED."""
        return self.store.last_gripper if self._asked is None else self._asked

    def ask_gripper(self, opening: float) -> None:
        """Another opening [m] from the point laid next on."""
        self._asked = opening if opening != self.store.last_gripper else None

    @property
    def asks_gripper(self) -> bool:
        """True when an opening waits for a point."""
        return self._asked is not None

    def thinned(self, after_seq: int, most: int) -> FloatArray:
        """Poses (n, 7) of the points after a number, evenly thinned to `most` or fewer, the last one kept."""
        pose: FloatArray = self.store.after(after_seq).pose
        step = max(1, -(-len(pose) // most))
        return pose[::-1][::step][::-1]

    def begin(self, time: float, pose: FloatArray, gripper: float = GRIPPER_UNCHANGED) -> None:
        """Forget everything; the path begins with one point at `pose`, plan time [s], `gripper` [m] open."""
        self.clear()
        self.ask_gripper(gripper)
        self.lay_at(np.array([time]), pose.reshape(1, 7), Timing.SYNCED)

    def skip_numbers(self, tail_seq: int) -> None:
        """Use numbers above every one the robot may have seen, also of points deleted before their time."""
        if tail_seq:
            self.next_seq = max(self.next_seq, (tail_seq // EPOCH_BLOCK + 1) * EPOCH_BLOCK)

    def clear(self) -> None:
        """Forget everything."""
        self._asked = None
        self.store.clear()
        self.feed.reset()

    def lay(self, laid: list[Laid]) -> None:
        """Append what was laid; raises QueueFullError when a piece does not fit."""
        for piece in laid:
            self.lay_timed(piece.timed, piece.timing)

    def lay_timed(self, timed: Timed, timing: Timing) -> None:
        """Append points with plan time counted from the newest one."""
        self.lay_at(self.store.last_time + np.cumsum(timed.step), timed.pose, timing)

    def lay_at(self, time: FloatArray, pose: FloatArray, timing: Timing) -> None:
        """Append points with the next free numbers."""
        n = len(time)
        seq = np.arange(self.next_seq, self.next_seq + n)
        self.store.append(seq, time, pose, int(timing), self.gripper)
        self._asked = None if n else self._asked
        self.next_seq += n

    def lay_stretch(self, stretch: Stretch) -> None:
        """Append another path's points with their steps in time, kinds and gripper; the first one is left out."""
        n = len(stretch) - 1
        time = self.store.last_time + stretch.time[1:] - stretch.time[0]
        seq = np.arange(self.next_seq, self.next_seq + n)
        self.store.extend(Stretch(seq, time, stretch.pose[1:], stretch.timing[1:], stretch.gripper[1:]))
        self.next_seq += n

    def lay_again(self, stretch: Stretch) -> None:
        """Append points as they are, with the next free numbers: the robot had taken them and lost them."""
        n = len(stretch)
        seq = np.arange(self.next_seq, self.next_seq + n)
        self.store.extend(Stretch(seq, stretch.time, stretch.pose, stretch.timing, stretch.gripper))
        self.next_seq += n

    def check_room(self, n: int) -> None:
        """Raise QueueFullError when `n` more points do not fit."""
        if len(self.store) + n > self.store.capacity:
            raise QueueFullError(f"plan: {len(self.store)} + {n} points; allowed: {self.store.capacity}")

    def drain(self) -> list[PlanUpdate]:
        """Changes since the call before, for displays."""
        return self.feed.drain(self.store)
