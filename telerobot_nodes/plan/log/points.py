"""Plan points as read-only flat arrays (structure of arrays).

A plan is an ordered sequence of points with increasing, never reused numbers [US5046022 claims 1, 6].
Plan time increases by `MIN_STEP` or more per point, so that speeds between points are always defined. Dwell is points
with the same pose and later times.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from telerobot_nodes.core.values import FloatArray, finite_array, poses
from telerobot_nodes.errors import InvalidValueError

MIN_STEP = 1e-3  # [s] least plan time between consecutive points
EPOCH_BLOCK = 1 << 20  # a new plan begins at a multiple of this, so that no number is used twice
MAX_TIME = 1e9  # [s] latest plan time: 30 years, and still exact to 1e-7 s


class Timing(IntEnum):
    """Origin of a point's plan time; values equal `PlanPoints.TIMING_*`."""

    SYNCED = 0  # plan time follows acquisition time (time clutch engaged)
    SCALED = 1  # plan time is a ratio of acquisition time
    FREE = 2  # plan time computed from the path's geometry (time clutch disengaged)
    LINK = 3  # connecting path between two others


_NONE: FloatArray = np.empty(0)


def _no_gripper() -> FloatArray:
    return _NONE


@dataclass(frozen=True)
class PlanPoints:
    """Consecutive points; point i has number `first_seq + i`. Validated when made; arrays are read-only.

    Raises InvalidValueError naming the field.
    """

    first_seq: int
    time: FloatArray  # (n,) [s] plan time, increasing by MIN_STEP or more
    pose: FloatArray  # (n, 7) x y z [m], qx qy qz qw of the tool in WORLD
    timing: npt.NDArray[np.uint8]  # (n,) Timing
    author: str
    gripper: FloatArray = field(default_factory=_no_gripper)  # (n,) [m] opening, or empty: unchanged
    posture: FloatArray = field(default_factory=_no_gripper)  # (n, dof) [rad] hint, or empty: to where the plan began

    def __post_init__(self) -> None:
        if self.first_seq < 1:
            raise InvalidValueError("points.first_seq", self.first_seq, "allowed: 1 or more")
        time = finite_array(self.time, "points.time")
        pose = poses(self.pose, "points.pose")
        timing = np.array(self.timing, dtype=np.uint8).reshape(-1)
        gripper = finite_array(self.gripper, "points.gripper") if len(self.gripper) else _NONE
        posture = finite_array(self.posture, "points.posture") if len(self.posture) else _NONE
        _check_lengths(time.size, len(pose), timing.size, gripper.size, posture.size)
        _check_time(time)
        if timing.size and timing.max() > Timing.LINK:
            raise InvalidValueError("points.timing", int(timing.max()), "allowed: 0 .. 3")
        if posture.size:
            posture = posture.reshape(time.size, -1)
        for name, array in (
            ("time", time),
            ("pose", pose),
            ("timing", timing),
            ("gripper", gripper),
            ("posture", posture),
        ):
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    def __len__(self) -> int:
        return int(self.time.size)

    @property
    def seqs(self) -> npt.NDArray[np.int64]:
        """(n,) numbers of the points."""
        return np.arange(self.first_seq, self.first_seq + len(self), dtype=np.int64)

    @property
    def last_seq(self) -> int:
        """Number of the last point; `first_seq - 1` when empty."""
        return self.first_seq + len(self) - 1


def _check_lengths(n: int, poses_: int, timing: int, gripper: int, posture: int) -> None:
    if poses_ != n:
        raise InvalidValueError("points.pose (length)", 7 * poses_, f"allowed: 7 values for each of {n} points")
    if timing != n:
        raise InvalidValueError("points.timing (length)", timing, f"allowed: {n}, one per point")
    if gripper not in (0, n):
        raise InvalidValueError("points.gripper (length)", gripper, f"allowed: 0 or {n}, one per point")
    if posture and (n == 0 or posture % n):
        raise InvalidValueError("points.posture (length)", posture, f"allowed: 0 or dof values for each of {n} points")


def _check_time(time: FloatArray) -> None:
    close = time[1:] - time[:-1] < MIN_STEP * (1.0 - 1e-6)
    if close.any():
        i = int(close.argmax()) + 1
        raise InvalidValueError(
            f"points.time[{i}]", float(time[i]), f"allowed: {time[i - 1] + MIN_STEP:g} or later [s]"
        )
    if time.size and time[0] < 0.0:
        raise InvalidValueError("points.time[0]", float(time[0]), "allowed: 0 or later [s]")
    if time.size and time[-1] > MAX_TIME:
        raise InvalidValueError(f"points.time[{time.size - 1}]", float(time[-1]), f"allowed: up to {MAX_TIME:g} [s]")
