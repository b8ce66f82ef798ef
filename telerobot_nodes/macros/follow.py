"""The arm is followed while it is led: samples of a running graph become a track, and motions are counted.

What belongs here: what is measured, with the time of each measurement as an argument. What must never enter: clocks,
messages, where the samples come from.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray, pose_from_se3
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.macros.learn import FINGERS, REST_SPEED, REST_TIME, distance
from telerobot_nodes.macros.track import PERIOD, Track, sampled

GAP = 0.5  # [s] without joints: what the arm did between is not known
LONGEST_GAP = 60.0  # [s]; a later stamp is that of another clock
WINDOW = round(0.1 / PERIOD)  # samples over which speed is measured, as `learn` does


@dataclass(frozen=True)
class Gap:
    """A time without measured joints. The track is straight between its ends."""

    begin: float  # [s] since the first sample
    seconds: float
    way: float  # [m] between the tool's poses before and after


class MotionFollower:
    """One arm. Times [s] are those of the measurements, on one clock of any zero."""

    def __init__(self, robot: RobotModel) -> None:
        self._robot = robot
        self._zero = 0.0  # [s] of the first joints
        self._last: tuple[float, FloatArray] | None = None  # time since then [s], joints (dof,) [rad]
        self._joints: list[FloatArray] = []  # every PERIOD
        self._poses: list[FloatArray] = []  # of the tool, as often
        self._force: list[tuple[float, float]] = []
        self._fingers: list[tuple[float, float, float]] = []
        self._gaps: list[Gap] = []
        self._still = math.inf  # samples since the tool moved
        self.motions = 0  # of the tool, with a rest between
        self.dropped = 0  # samples that are not later than the one before, or have a number that is none

    @property
    def seconds(self) -> float:
        """How long joints have been received [s]."""
        return self._last[0] if self._last is not None else 0.0

    @property
    def received(self) -> bool:
        """Whether any joints were received."""
        return self._last is not None

    @property
    def fingers_moved(self) -> bool:
        """Whether the fingers are elsewhere than at the beginning."""
        return bool(self._fingers) and abs(self._fingers[-1][1] - self._fingers[0][1]) > FINGERS

    @property
    def measured(self) -> tuple[str, ...]:
        """What has been received besides the joints: of `force`, `fingers`."""
        return tuple(name for name, rows in (("force", self._force), ("fingers", self._fingers)) if rows)

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """Times without measured joints, oldest first."""
        return tuple(self._gaps)

    def take_joints(self, time: float, position: Sequence[float]) -> None:
        """Take measured joints (dof,) [rad]. Raises InvalidValueError: of another number, or from another clock."""
        q = np.array(position, dtype=float)
        if q.shape != (self._robot.dof,):
            raise InvalidValueError("joints (length)", q.size, f"allowed: {self._robot.dof}, of {self._robot.name}")
        if not (np.all(np.isfinite(q)) and math.isfinite(time)):
            self.dropped += 1
        elif self._last is None:
            self._zero, self._last = time, (0.0, q)
            self._add(q)
        elif time - self._zero <= self._last[0]:
            self.dropped += 1
        else:
            self._continue(*self._last, time - self._zero, q)

    def take_force(self, time: float, force: float) -> None:
        """Take the length of the measured force [N]."""
        if math.isfinite(force) and self._is_later(time, self._force):
            self._force.append((time, force))
        else:
            self.dropped += 1

    def take_fingers(self, time: float, opening: float, reference: float = math.nan) -> None:
        """Take the measured opening [m], and the one that the fingers are told; NaN: the arm has none."""
        if math.isfinite(opening) and self._is_later(time, self._fingers):
            self._fingers.append((time, opening, reference))
        else:
            self.dropped += 1

    def track(self) -> Track:
        """What was followed until now. Raises InvalidValueError with fewer than two samples."""
        n = len(self._poses)
        if n < 2:
            raise InvalidValueError("joints", f"{self.seconds:.2f} s", f"allowed: {PERIOD:g} s of them or more")
        time = np.linspace(0.0, PERIOD * (n - 1), n)
        absolute = time + self._zero
        (felt,), (opening, reference) = sampled(absolute, self._force, 1), self._sampled_fingers(absolute)
        return Track(time, np.array(self._poses), felt, opening, reference, np.array(self._joints))

    def _sampled_fingers(self, time: FloatArray) -> list[FloatArray]:
        opening, reference = sampled(time, self._fingers, 2)
        return [opening, reference if self._fingers else np.full(len(time), math.nan)]

    @staticmethod
    def _is_later(time: float, rows: Sequence[tuple[float, ...]]) -> bool:
        return math.isfinite(time) and (not rows or time > rows[-1][0])

    def _continue(self, before: float, q_before: FloatArray, time: float, q: FloatArray) -> None:
        """Add the samples, every PERIOD, between the last joints and later ones."""
        gap = time - before
        if gap > LONGEST_GAP:
            raise InvalidValueError("joints (time)", f"{gap:.0f} s later", f"allowed: {LONGEST_GAP:g} s at most")
        if gap > GAP:
            poses = [pose_from_se3(self._robot.forward(row))[None, :] for row in (q_before, q)]
            self._gaps.append(Gap(before, gap, float(distance(*poses)[0])))
        self._last = (time, q)
        while (at := PERIOD * len(self._poses)) <= time:
            share = max(0.0, (at - before) / gap)
            self._add(q_before + share * (q - q_before))

    def _add(self, q: FloatArray) -> None:
        """Add a sample, and count the motion that begins with it after a rest."""
        self._joints.append(q)
        self._poses.append(pose_from_se3(self._robot.forward(q)))
        first = self._poses[max(len(self._poses) - 1 - WINDOW, 0)]
        way = float(distance(first[None, :], self._poses[-1][None, :])[0])
        if way <= REST_SPEED * WINDOW * PERIOD:
            self._still += 1
            return
        if (self._still - 1) * PERIOD >= REST_TIME:
            self.motions += 1
        self._still = 0
