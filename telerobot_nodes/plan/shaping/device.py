"""Motion of a hand-held tracking device, without the tracker's jumps.

What belongs here: from raw device poses to motion of the hand. What must never enter: smoothing (`shaper.py`), the
plan.

A sample is a jump if a hand with limited acceleration could not have moved there. The jump is removed by re-indexing:
the hand continues from where it was, at the speed it had. It is counted and returned.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

from telerobot_nodes.core.values import in_range
from telerobot_nodes.plan.shaping.follower import Quaternion, Vector, add, norm, scale, subtract, turn

HISTORY = 4  # samples from which the hand's velocity is computed
JITTER = 0.01  # [s] error of a sample's time: of its stamp, or of its receipt where it has none


@dataclass(frozen=True)
class DeviceConfig:
    """Limits of a hand's motion; validated when made."""

    timeout: float = 0.3  # [s] older input is stale; the next sample re-indexes
    jump_distance: float = 0.004  # [m] tolerance beyond the hand's possible motion
    jump_angle: float = 0.1  # [rad] tolerance beyond the hand's possible motion
    hand_speed: float = 1.0  # [m/s] assumed until its speed is known
    hand_acceleration: float = 10.0  # [m/s^2]
    hand_rate: float = 6.0  # [rad/s] assumed until its rate is known
    hand_angular_acceleration: float = 60.0  # [rad/s^2]

    def __post_init__(self) -> None:
        in_range(self.timeout, "device.timeout", 0.02, 5.0, "s")
        in_range(self.jump_distance, "device.jump_distance", 1e-4, 1.0, "m")
        in_range(self.jump_angle, "device.jump_angle", 1e-3, 3.0, "rad")


@dataclass(frozen=True)
class Jump:
    """Motion that was removed as a jump."""

    distance: float  # [m]
    angle: float  # [rad]

    def __str__(self) -> str:
        parts = [f"{100.0 * self.distance:.1f} cm"] if self.distance else []
        parts += [f"{self.angle:.2f} rad"] if self.angle else []
        return " and ".join(parts)


@dataclass(frozen=True)
class _Sample:
    """Sum of the motion up to a time, without jumps."""

    time: float  # [s]
    linear: Vector  # [m]
    angular: Vector  # [rad]


@dataclass(frozen=True)
class Step:
    """Motion of the hand between two samples, without jumps, in WORLD axes."""

    linear: Vector  # [m]
    angular: Vector  # [rad]
    jump: Jump | None = None


STILL = Step((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


class Device:
    """Computes the motion of the hand from raw poses of a tracker."""

    def __init__(self, config: DeviceConfig | None = None) -> None:
        self._config = config or DeviceConfig()
        self._position: Vector = (0.0, 0.0, 0.0)
        self._orientation: Quaternion = (0.0, 0.0, 0.0, 1.0)
        self._history: deque[_Sample] = deque(maxlen=HISTORY)
        self._overtaken = 0  # samples in a row that were older than the newest

    def reset(self) -> None:
        """Forget the device's pose: the next sample re-indexes."""
        self._history.clear()

    def move(self, taken: float, position: Vector, orientation: Quaternion) -> Step:
        """Motion since the previous sample, to one `taken` at this time [s]; `STILL` for the first and after a gap."""
        since = taken - self._history[-1].time if self._history else math.inf
        if since < 0.0 and self._overtaken < HISTORY:
            self._overtaken += 1
            return STILL  # overtaken by a later one: the hand has been there before
        self._overtaken = 0
        if not 0.0 <= since <= self._config.timeout:  # a gap, or the later one was of another clock
            self._history.clear()
            step = STILL
            self._history.append(_Sample(taken, step.linear, step.angular))
        else:
            step = self._step(taken, subtract(position, self._position), turn(self._orientation, orientation))
        self._position, self._orientation = position, orientation
        return step

    def _step(self, taken: float, linear: Vector, angular: Vector) -> Step:
        config = self._config
        first, last = self._history[0], self._history[-1]
        dt = taken - last.time
        span = last.time - first.time if len(self._history) >= 3 else 0.0
        hand = _hand_motion(first.linear, last.linear, span, config.hand_speed, config.hand_acceleration)
        wrist = _hand_motion(first.angular, last.angular, span, config.hand_rate, config.hand_angular_acceleration)
        distance = _excess(linear, dt, hand, config.jump_distance)
        angle = _excess(angular, dt, wrist, config.jump_angle)
        if distance:
            linear = scale(hand.velocity, dt)
        if angle:
            angular = scale(wrist.velocity, dt)
        self._history.append(_Sample(taken, add(last.linear, linear), add(last.angular, angular)))
        jump = Jump(distance, angle) if distance or angle else None
        return Step(linear, angular, jump)


@dataclass(frozen=True)
class _HandMotion:
    """Present motion of the hand and its possible change."""

    velocity: Vector
    speed: float  # additional speed while the velocity is unknown
    acceleration: float


def _hand_motion(first: Vector, last: Vector, span: float, assumed: float, acceleration: float) -> _HandMotion:
    if span < JITTER:
        return _HandMotion((0.0, 0.0, 0.0), assumed, acceleration)
    return _HandMotion(scale(subtract(last, first), 1.0 / span), 0.0, acceleration)


def _excess(step: Vector, dt: float, hand: _HandMotion, margin: float) -> float:
    """Size of the jump in `step`; 0 if a hand can have moved so."""
    v = hand.velocity
    longest = dt + JITTER
    speed2 = v[0] * v[0] + v[1] * v[1] + v[2] * v[2]
    along = (step[0] * v[0] + step[1] * v[1] + step[2] * v[2]) / speed2 if speed2 > 1e-12 else 0.0
    rest = subtract(step, scale(v, min(max(along, 0.0), longest)))
    allowed = margin + hand.speed * longest + min(0.5 * hand.acceleration * dt * dt, 0.1 * hand.acceleration * dt)
    if norm(rest) <= allowed:
        return 0.0
    return norm(subtract(step, scale(v, dt)))
