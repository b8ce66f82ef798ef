"""How far along the plan the arm has really come: setpoints that hardware, joints and fingers have followed.

The plan time of the setpoint runs ahead of the arm: a servo lags, fingers need time, a blocked joint never arrives.
Samples of the setpoint wait here until the hardware has accepted them and the measured joints have passed them. A
sample with the present command of the fingers waits for these too. Nothing here allocates.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from telerobot_nodes.core.protocol import GRIPPER_UNCHANGED, Waiting
from telerobot_nodes.core.values import FloatArray

CAPACITY = 512  # samples on their way; with more, the latest one is replaced
SPACING = 0.01  # [s] of plan time between samples
LAG = 0.05  # [s] a joint may trail its setpoint by this time at its present speed
CATCH_UP = 0.15  # [s] samples passed between two measurements, which are not older than 0.1 s
FINGERS_NEAR = 2e-3  # [m] from the commanded opening
FINGERS_STILL = 2e-4  # [m] motion that counts as rest
FINGERS_REST = 0.2  # [s] closing fingers that rest this long hold something


class Arrival:
    """Samples of the setpoint on their way to the arm. `window`, `plan_time` [s]: those of the last that arrived."""

    def __init__(self, dof: int, error: float, max_opening: float = math.inf) -> None:
        """`error` [rad]: distance of a joint at rest that counts as arrived; `max_opening` [m] of the fingers."""
        self.error = error
        self.window, self.plan_time = 0, 0.0
        self._max_opening = max_opening
        self._number = np.zeros(CAPACITY, dtype=np.int64)  # of the setpoint
        self._window = np.zeros(CAPACITY, dtype=np.int64)
        self._time = np.zeros((CAPACITY, 2))  # [s] plan time, and when it was commanded
        self._opening = np.zeros(CAPACITY)  # [m]; negative: unchanged
        self._q = np.zeros((CAPACITY, dof))  # [rad]
        self._near = np.zeros((CAPACITY, dof))  # [rad] distance that counts as passed
        self._first, self._passed, self._end = 0, 0, 0  # oldest sample; first that the arm has not passed; end
        self._latest = 0.0  # [s] plan time of the latest setpoint, kept or not
        self._kept_window, self._kept_time, self._commanded = 0, 0.0, GRIPPER_UNCHANGED  # of the latest sample
        self._accepted = 0  # setpoint that the hardware followed last
        self._fingers = math.nan  # [m] measured
        self._reference = math.nan  # [m] commanded by the hardware; NaN: no gripper
        self._rest_opening, self._rest_since = math.nan, math.inf
        _first_passed(self._q, self._near, self._time, 0, 1, self._q[0])  # compiles

    @property
    def pending(self) -> bool:
        """True while a sample has not arrived."""
        return self._first < self._end

    def clear(self) -> None:
        """Forget the samples on their way, as when the setpoint restarts at the arm."""
        self._first = self._passed = self._end = 0

    def finish(self, now: float, q: FloatArray) -> bool:
        """Take a setpoint at rest as arrived if joints `q` (dof,) [rad] and fingers are there; False: they are not."""
        if not self.pending:
            return True
        last = self._end - 1
        if np.abs(self._q[last] - q).max() > self.error or not self._fingers_done(now, self._opening[last]):
            return False
        self._arrive(last)
        self.clear()
        return True

    def forget_fingers(self) -> None:
        """The fingers are no longer at what the plan commanded, as when a primitive begins."""
        self._commanded = GRIPPER_UNCHANGED

    def command(
        self,
        now: float,
        number: int,
        window: int,
        plan_time: float,
        q: FloatArray,
        qd: FloatArray,
        opening: float,
        ends: bool = False,
    ) -> None:
        """Add the setpoint of `now` [s]; `plan_time` [s], `q`, `qd` (dof,) [rad], [rad/s], `opening` [m].

        Of setpoints within `SPACING` only the first is kept, and the one where the motion `ends` or rests.
        """
        if opening < 0.0:
            opening = self._commanded
        moves, self._latest = plan_time != self._latest, plan_time
        if window == self._kept_window and opening == self._commanded:
            since = plan_time - self._kept_time
            if since == 0.0:
                if self._end > 0:
                    self._q[self._end - 1] = q  # at rest on the plan; sensors may move it
                return
            if moves and 0.0 < since < SPACING and not ends:
                return
        self._kept_window, self._kept_time, self._commanded = window, plan_time, opening
        last = self._next()
        self._passed = min(self._passed, last)
        self._number[last], self._window[last], self._opening[last] = number, window, opening
        self._time[last, 0], self._time[last, 1] = plan_time, now
        self._q[last] = q
        np.abs(qd, out=self._near[last])
        self._near[last] *= LAG
        self._near[last] += self.error

    def _next(self) -> int:
        """Index of a new sample; the arrays are moved to their beginning when they are full."""
        if self._end == CAPACITY and self._first > 0:
            kept = slice(self._first, self._end)
            for array in (self._number, self._window, self._time, self._opening, self._q, self._near):
                array[: self._end - self._first] = array[kept]
            self._passed, self._end, self._first = self._passed - self._first, self._end - self._first, 0
        if self._end < CAPACITY:
            self._end += 1
        return self._end - 1

    def measure(self, q: FloatArray) -> None:
        """Take measured joints (dof,) [rad]."""
        if self._passed < self._end:
            self._passed = _first_passed(self._q, self._near, self._time, self._passed, self._end, q)

    def hardware(self, now: float, number: int, opening: float, reference: float) -> None:
        """Take, at `now` [s], the number of the setpoint that the hardware followed last, and what its fingers do.

        `opening` [m] measured; `reference` [m] commanded to them, NaN without a gripper.
        """
        self._accepted, self._fingers, self._reference = number, opening, reference
        if not abs(opening - self._rest_opening) <= FINGERS_STILL:
            self._rest_opening, self._rest_since = opening, now

    def accepted(self, newest: int) -> int:
        """Number of the setpoint that the hardware followed last; `newest`: of the latest one of this loop."""
        return self._accepted if self._accepted <= newest else 0  # else it is of the loop before this one

    def step(self, now: float, newest: int) -> None:
        """Advance to the last sample that has arrived; `newest` as in `accepted`."""
        accepted = self.accepted(newest)
        done = self._first
        while done < self._passed and self._number[done] <= accepted:
            opening = float(self._opening[done])
            if abs(opening - self._commanded) <= FINGERS_NEAR and not self._fingers_done(now, opening):
                break
            done += 1
        if done > self._first:
            self._arrive(done - 1)
            self._first = done
            if self._first == self._end:
                self.clear()

    def _arrive(self, index: int) -> None:
        self.window, self.plan_time = int(self._window[index]), float(self._time[index, 0])

    def _fingers_done(self, now: float, opening: float) -> bool:
        """True when the fingers are at the commanded `opening` [m], or rest on something on their way to close."""
        if opening < 0.0 or math.isnan(self._reference):
            return True
        wanted = min(opening, self._max_opening)
        if abs(self._reference - wanted) > FINGERS_NEAR:
            return False
        away = self._fingers - wanted
        holds = away > 0.0 and now - self._rest_since >= FINGERS_REST
        return abs(away) <= FINGERS_NEAR or holds

    def waiting(self, newest: int) -> Waiting:
        """What the oldest sample waits for; `newest` as in `step`."""
        if not self.pending:
            return Waiting.NOTHING
        if self._passed <= self._first:
            return Waiting.ARM
        accepted = self._number[self._first] <= self._accepted <= newest
        return Waiting.GRIPPER if accepted else Waiting.HARDWARE


@njit(cache=True)
def _first_passed(
    commanded: FloatArray, near: FloatArray, time: FloatArray, passed: int, end: int, q: FloatArray
) -> int:
    """First sample, from `passed` to `end`, that the arm at `q` has not passed."""
    k = passed
    latest = time[passed, 1] + CATCH_UP
    while k < end and (k == passed or time[k, 1] <= latest):
        inside = True
        for i in range(q.size):
            if abs(commanded[k, i] - q[i]) > near[k, i]:
                inside = False
                break
        if inside:
            passed = k + 1
            latest = time[k, 1] + CATCH_UP
        k += 1
    return passed
