"""Speed limits from curvature: speed and its change stay inside one acceleration together.

What belongs here: limits per vertex from the path's second difference. What must never enter: plan time, devices.

Where the curvature is high, `ACROSS` of the acceleration is for the curve and `ALONG` for changes of speed. A moving
average follows the limited speed and exceeds a limit that it reaches too late. Therefore a limit holds as far before
and behind its vertex as the average extends.
"""

from __future__ import annotations

import math

import numpy as np

from telerobot_nodes.core.robot import JointLoad
from telerobot_nodes.core.values import FloatArray

ACROSS, ALONG = 0.8, 0.6  # [-] shares of the acceleration where the curvature is high: their squares add up to one
HALF = 0.5  # [-] of a joint's acceleration
LEAST_RAMP = 0.3  # [-] of the ramp, that joints leave: what is not known yet is counted with it


def joint_limits(load: JointLoad, ramp: float) -> tuple[float, float]:
    """Limits of speed and of `ramp` [1/s], both as shares [-], that keep the joints' limits.

    Unlike the tool's, a joint's accelerations along and across the path add up: each has half.
    LEAST_RAMP is always left.
    """
    bent = min(load.bending, HALF)
    speed = min(1.0, 1.0 / max(load.velocity, 1.0), math.sqrt(bent / load.bending) if load.bending else 1.0)
    return speed, max(min(1.0, (1.0 - bent) / max(load.changing * ramp, 1.0 - bent)), LEAST_RAMP)


class CurvatureLimits:
    """Limits at evenly spaced vertices, as they become known; speed as share of full speed."""

    def __init__(self, spacing: float, half_width: float) -> None:
        """`spacing` of vertices [s of sigma], `half_width` [s] of the moving average. The first vertex is a start."""
        self._spacing = spacing
        self._half_width = half_width
        self.reach = self._reach(1.0)  # most vertices to either side that a limit holds for
        self._own: list[tuple[float, float, int]] = []  # square of speed, ramp, reach of each vertex by itself
        self._squares: list[float] = []
        self._ramps: list[float] = []
        self.add(0.0)

    def __len__(self) -> int:
        return len(self._squares)

    def add(self, across: float, ceiling: float = 1.0, most_ramp: float = 1.0) -> None:
        """Add a vertex: acceleration across the path at full speed [-, 1: the limit], limits of speed and ramp [-]."""
        if across <= ACROSS:
            speed, ramp = 1.0, math.sqrt(1.0 - across * across)
        else:
            speed, ramp = math.sqrt(ACROSS / across), ALONG
        ramp, square = min(ramp, most_ramp), min(speed, ceiling) ** 2
        reach = self._reach(math.sqrt(square))
        here = len(self._own)
        self._own.append((square, ramp, reach))
        self._squares.append(square)
        self._ramps.append(ramp)
        for back in range(1, min(self.reach, here) + 1):
            earlier = self._own[here - back]
            if back <= reach:
                self._lower(here - back, square, ramp)
            if back <= earlier[2]:
                self._lower(here, earlier[0], earlier[1])

    def limits(self, n: int, unknown: float) -> tuple[FloatArray, FloatArray]:
        """Squares of speed (n,) [-] and ramps (n,) [-]; ramps that later vertices may lower are at most `unknown`."""
        squares, ramps = np.ones(n), np.full(n, unknown)
        known = max(len(self._own) - self.reach, 0)
        squares[: len(self._squares)] = self._squares
        ramps[: len(self._ramps)] = np.minimum(self._ramps, unknown)
        ramps[:known] = self._ramps[:known]
        return squares, ramps

    def drop(self, count: int) -> None:
        """Forget the first vertices."""
        del self._own[:count], self._squares[:count], self._ramps[:count]

    def _reach(self, speed: float) -> int:
        return math.ceil(self._half_width * speed / self._spacing) + 1

    def _lower(self, vertex: int, square: float, ramp: float) -> None:
        self._squares[vertex] = min(self._squares[vertex], square)
        self._ramps[vertex] = min(self._ramps[vertex], ramp)
