"""What the bends of a path allow: speed and its change, so that both together stay inside one acceleration.

What belongs here: limits per vertex from the path's second difference. What must never enter: plan time, the hand.

Where the path bends much, `BEND` of the acceleration is for the bend and `ALONG` for changes of speed. A moving mean
follows the limited speed; it runs over a limit it has not reached in time. So a limit holds as far before and behind
its vertex as the mean sees there.
"""

from __future__ import annotations

import math

import numpy as np

from telerobot_nodes.core.validation import FloatArray

BEND, ALONG = 0.8, 0.6  # [-] shares of the acceleration where the path bends much: squares add up to one


class Bends:
    """Limits at evenly spaced vertices, as they become known; speed in shares of full speed."""

    def __init__(self, spacing: float, sight: float) -> None:
        """`spacing` of vertices [s of sigma], `sight` [s] how far the mean sees to either side."""
        self._spacing = spacing
        self._sight = sight
        self.reach = self._reach(1.0)  # vertices a limit may hold to either side, at most
        self.clear()

    def __len__(self) -> int:
        return len(self._squares)

    def clear(self) -> None:
        """Forget all; the first vertex is a start."""
        self._own: list[tuple[float, float, int]] = []  # square of speed, ramp, reach of each vertex by itself
        self._squares: list[float] = []
        self._ramps: list[float] = []
        self.add(0.0, 1.0)

    def add(self, across: float, ceiling: float) -> None:
        """One vertex more: acceleration of its bend at full speed [-, 1: the limit], and another speed limit [-]."""
        if across <= BEND:
            speed, ramp = 1.0, math.sqrt(1.0 - across * across)
        else:
            speed, ramp = math.sqrt(BEND / across), ALONG
        square = min(speed, ceiling) ** 2
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
        """(n,) squares of speed [-], (n,) ramps [-], not above `unknown` where later vertices may lower them."""
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
        return math.ceil(self._sight * speed / self._spacing) + 1

    def _lower(self, vertex: int, square: float, ramp: float) -> None:
        self._squares[vertex] = min(self._squares[vertex], square)
        self._ramps[vertex] = min(self._ramps[vertex], ramp)
