"""Commands to another driver's controller at its own rate: the newest reference, carried on to the present time.

What belongs here: what is sent next, and that it neither jumps nor exceeds a limit. Nothing is sent while not engaged.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

import numpy as np

from telerobot_nodes.core.robot import JointLimits
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.hardware import Reference, Setpoint

LONGEST_STEP = 0.002  # [s] of the smoothing of references
STALL = 0.1  # [s] age of the newest reference from which the arm is brought to rest
CATCH_UP = 0.05  # [s] most time that one command makes up for
ZEROS = 0.5  # [s] a velocity controller receives zero after the end


class End(Enum):
    """Whether commands have ended, and how."""

    NOT = 0
    AT_REST = 1  # after the arm was brought to rest
    NOW = 2


@dataclass(frozen=True)
class Command:
    """What to send: positions and velocities (dof,) [rad], [rad/s] of the arm's joints for `time` [s]."""

    time: float
    position: FloatArray
    velocity: FloatArray


class Commander:
    """One arm's commands every `period` [s]. `next` has a thread of its own; the other methods only set."""

    def __init__(self, limits: JointLimits, period: float, zeros_after: bool = False) -> None:
        """`zeros_after`: send zeros to a velocity controller after the end, as it goes on with the last command."""
        self._steps = max(1, math.ceil(period / LONGEST_STEP - 1e-9))
        self._h = period / self._steps
        self._reference = Reference(limits, self._h, np.clip(np.zeros(limits.dof), limits.lower, limits.upper))
        self._begin: FloatArray | None = None
        self._newest: Setpoint | None = None
        self._end = End.NOW
        self._zeros = math.ceil(ZEROS / period) if zeros_after else 0
        self._zeros_left = 0
        self._last = math.inf  # [s] time of the latest command
        self.engaged = False
        self.stalled = False  # the newest reference was too old; until `engage`

    def engage(self, q: FloatArray) -> None:
        """Begin at rest at the measured `q` (dof,) [rad]."""
        self._newest = None
        self._end = End.NOT
        self._begin = q.copy()

    def follow(self, setpoint: Setpoint) -> None:
        """Set the newest reference."""
        self._newest = setpoint

    def end(self, how: End) -> None:
        """Send nothing more, at once or after the arm was brought to rest inside its limits."""
        self._begin = None
        self._end = how

    def next(self, now: float) -> Command | None:
        """The command for `now` [s]; None: send nothing."""
        begin, self._begin = self._begin, None
        if begin is not None:
            self._reference.hold(begin)
            self._last, self.stalled = now, False
            self.engaged = True
        if self._end is End.NOW:
            self._disengage()
        if not self.engaged:
            return self._zero(now)
        self._advance(now, self._newest)
        if self._end is End.AT_REST and self._reference.at_rest:
            self._disengage()
        return Command(now, self._reference.q.copy(), self._reference.qd.copy())

    def _advance(self, now: float, newest: Setpoint | None) -> None:
        self.stalled = self.stalled or (newest is not None and now - newest.monotonic > STALL)
        if self._end is not End.NOT or self.stalled or newest is None:
            self._reference.brake()
        else:
            self._reference.follow(newest)
        steps = max(self._steps, round(min(now - self._last, CATCH_UP) / self._h))  # more when this one is late
        self._last = now
        for left in range(steps - 1, -1, -1):
            self._reference.advance(now - left * self._h)

    @property
    def position(self) -> FloatArray:
        """Positions (dof,) [rad] of the latest command."""
        return self._reference.q

    @property
    def velocity(self) -> FloatArray:
        """Velocities (dof,) [rad/s] of the latest command."""
        return self._reference.qd

    def _disengage(self) -> None:
        if self.engaged:
            self._zeros_left = self._zeros
        self.engaged = False

    def _zero(self, now: float) -> Command | None:
        """After the end: velocity zero at no position."""
        if self._zeros_left <= 0:
            return None
        self._zeros_left -= 1
        return Command(now, np.full(self._reference.q.size, np.nan), np.zeros(self._reference.q.size))
