"""Follows motion windows: samples with continuous acceleration, and bumpless transfer from one window to the next.

What belongs here: the motion of the windows at a time `t`, and whether another window joins it. What must never enter:
clocks, halts, the robot (`control_step.py`). `offer` may run on another thread than `sample`: they share one reference,
which is replaced as a whole.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from telerobot_nodes.core.interpolation import quintic_into
from telerobot_nodes.core.protocol import GRIPPER_UNCHANGED, MotionWindow
from telerobot_nodes.core.robot import JointLimits
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.motion.tracking.window_check import check_window

JOIN_POSITION = 1e-3  # [rad] largest difference at the time when a window joins the present motion
JOIN_VELOCITY = 2e-2  # [rad/s]
BLEND_TIME = 0.1  # [s] in which that difference fades
NUMBER_STEP = 1 << 32  # most by which a window's number may exceed the latest: none can leave no room for the next


class _Track(NamedTuple):
    """The followed motion: `before` until `switch`, then `window`."""

    window: MotionWindow
    before: MotionWindow | None
    switch: float  # [s]

    def active(self, t: float) -> MotionWindow:
        return self.window if self.before is None or t >= self.switch else self.before


class WindowFollower:
    """Joint-space motion of the offered windows.

    `sample` sets `q` [rad], `v` [rad/s], `a` [rad/s^2], each (dof,), `plan_time` [s] and `gripper` [m]. `refused` is
    the number of the latest rejected window, `refusal` the reason. Every window is checked against `limits`, if given.
    """

    def __init__(self, dof: int, limits: JointLimits | None = None) -> None:
        self.dof = dof
        self.limits = limits
        self.refused = 0
        self.refusal = ""
        self.q, self.v, self.a = np.zeros(dof), np.zeros(dof), np.zeros(dof)
        self.plan_time = 0.0
        self.gripper = GRIPPER_UNCHANGED
        self._gap = np.zeros((6, dof))  # to fade from `_gap_start` on, see `_add_fading`
        self._gap_start = -np.inf  # [s]
        self._time = -np.inf  # [s] of the last sample
        self._probe = np.zeros((2, 3, dof))  # of `offer`, which may run on another thread
        self._track = _Track(_rest(self.q, 0.0, 0), None, -np.inf)
        self._sampled = self._track.window  # the window of the last `sample`
        _add_fading(self._gap, 0.0, self.q, self.v, self.a)  # compiles
        self.sample(0.0)

    @property
    def number(self) -> int:
        """Number of the followed window; 0: none yet."""
        return self._track.window.number

    def hold(self, q: FloatArray, plan_time: float) -> None:
        """Rest at `q` (dof,) [rad] and forget the windows; on the sampling thread only."""
        self._track = _Track(_rest(q, plan_time, self.number), None, -np.inf)
        self._sampled = self._track.window
        self._gap_start = self._time = -np.inf

    def offer(self, now: float, window: MotionWindow) -> str:
        """Follow `window` if it continues the present motion; returns "" or the reason of the rejection.

        Compared at `max(now, splice)` [s]: a window that arrives late, or starts from another motion, does not join,
        and the present window goes on to its rest. Numbers must increase.
        """
        track = self._track
        try:
            check_window(window, self.dof, self.limits)
            low = track.window.number
            if not low < window.number <= low + NUMBER_STEP:
                raise InvalidValueError("window.number", window.number, f"allowed: above {low}, to {low + NUMBER_STEP}")
            before = _until_splice(track, now, window)
            self._check_joins(track, now, window)
        except InvalidValueError as error:
            self.refused, self.refusal = int(window.number), str(error)
            return self.refusal
        self._track = _Track(_own_copy(window), before, max(now, window.splice))
        return ""

    def sample(self, t: float) -> bool:
        """Sample the motion at `t` [s], which must not decrease; True when it has come to its final rest."""
        track = self._track
        window = track.active(t)
        if window is not self._sampled:
            switched = track.switch if window is track.window else t
            self._start_fading(window, min(t, max(switched, self._time)))
        self._time = t
        self.plan_time, self.gripper = _evaluate(window, t, self.q, self.v, self.a)
        fading = t - self._gap_start < BLEND_TIME
        if fading:
            _add_fading(self._gap, t - self._gap_start, self.q, self.v, self.a)
        return not fading and window is track.window and t >= window.start + (len(window.position) - 1) * window.period

    def _start_fading(self, window: MotionWindow, t: float) -> None:
        """Change to `window` at `t` [s]; the difference to the motion so far fades out."""
        _evaluate(self._sampled, t, self.q, self.v, self.a)
        if t - self._gap_start < BLEND_TIME:
            _add_fading(self._gap, t - self._gap_start, self.q, self.v, self.a)
        self._gap[0], self._gap[1], self._gap[2] = self.q, self.v, self.a
        _evaluate(window, t, self.q, self.v, self.a)
        self._gap[0] -= self.q
        self._gap[1] -= self.v
        self._gap[2] -= self.a
        self._gap_start = t if self._gap[:3].any() else -np.inf
        self._sampled = window

    def _check_joins(self, track: _Track, now: float, window: MotionWindow) -> None:
        t = max(now, window.splice)
        here, there = self._probe
        _evaluate(track.active(t), t, here[0], here[1], here[2])
        _evaluate(window, t, there[0], there[1], there[2])
        where = f" {now - window.splice:.3f} s after its splice" if now > window.splice else " at its splice"
        _check_gap("position", where, here[0], there[0], JOIN_POSITION, "rad")
        _check_gap("velocity", where, here[1], there[1], JOIN_VELOCITY, "rad/s")


def _check_gap(name: str, where: str, here: FloatArray, there: FloatArray, tolerance: float, unit: str) -> None:
    gap = np.abs(here - there)
    joint = int(gap.argmax())
    if gap[joint] > tolerance:
        allowed = f"allowed: {here[joint]:g} +- {tolerance:g} [{unit}], to join the present motion"
        raise InvalidValueError(f"window.{name}[{joint}]{where}", float(there[joint]), allowed)


def _until_splice(track: _Track, now: float, window: MotionWindow) -> MotionWindow | None:
    """The motion followed until the window's splice; None if the window is followed at once."""
    if window.splice <= now:
        return None
    if track.before is None or now >= track.switch or track.window.start <= now:
        return track.window
    if window.splice <= track.switch:
        return track.before
    allowed = f"allowed: up to {track.switch:g} [s], while window {track.window.number} waits to start"
    raise InvalidValueError("window.splice", window.splice, allowed)


def _own_copy(window: MotionWindow) -> MotionWindow:
    """The same window in arrays of one layout, so that `sample` is compiled once, and nobody else can change it."""
    arrays = (window.position, window.velocity, window.acceleration, window.plan_time, window.gripper)
    copies = (np.array(array, dtype=np.float64, order="C") for array in arrays)
    return MotionWindow(window.number, window.splice, window.start, window.period, *copies)


def _rest(q: FloatArray, plan_time: float, number: int) -> MotionWindow:
    position = np.array(q, dtype=np.float64).reshape(1, -1)
    still = np.zeros_like(position)
    return MotionWindow(number, -np.inf, -np.inf, 1.0, position, still, still, np.array([plan_time]), np.empty(0))


def _evaluate(window: MotionWindow, t: float, q: FloatArray, v: FloatArray, a: FloatArray) -> tuple[float, float]:
    """One window's motion at `t` into q, v, a; returns plan time [s] and gripper [m]."""
    result: tuple[float, float] = _sample(
        window.position,
        window.velocity,
        window.acceleration,
        window.plan_time,
        window.gripper,
        t - window.start,
        window.period,
        q,
        v,
        a,
    )
    return result


@njit(cache=True)
def _sample(
    position: FloatArray,
    velocity: FloatArray,
    acceleration: FloatArray,
    plan_time: FloatArray,
    gripper: FloatArray,
    elapsed: float,
    period: float,
    q: FloatArray,
    v: FloatArray,
    a: FloatArray,
) -> tuple[float, float]:
    """Quintic Hermite interpolation between samples, equal to them in q, v, a: acceleration is continuous."""
    last = position.shape[0] - 1
    opening = GRIPPER_UNCHANGED
    if elapsed >= last * period or elapsed < 0.0:
        k = 0 if elapsed < 0.0 else last
        q[:] = position[k]
        v[:] = 0.0
        a[:] = 0.0
        if gripper.size:
            opening = gripper[k]
        return plan_time[k], opening
    k = min(int(elapsed / period), last - 1)
    u = elapsed / period - k
    if gripper.size:
        still = gripper[k] < 0.0  # unchanged up to the next sample
        opening = gripper[k] if still else gripper[k] + u * (gripper[k + 1] - gripper[k])
    quintic_into(
        position[k],
        velocity[k],
        acceleration[k],
        position[k + 1],
        velocity[k + 1],
        acceleration[k + 1],
        period,
        u * period,
        q,
        v,
        a,
    )
    return plan_time[k] + u * (plan_time[k + 1] - plan_time[k]), opening


@njit(cache=True)
def _add_fading(gap: FloatArray, elapsed: float, q: FloatArray, v: FloatArray, a: FloatArray) -> None:
    """Add the rest of a difference that fades out within BLEND_TIME.

    `gap` (6, dof): position, velocity, acceleration at its start; the other rows are scratch.
    """
    gap_now, zero = gap[3:], np.zeros(q.size)
    quintic_into(gap[0], gap[1], gap[2], zero, zero, zero, BLEND_TIME, elapsed, gap_now[0], gap_now[1], gap_now[2])
    q += gap_now[0]
    v += gap_now[1]
    a += gap_now[2]
