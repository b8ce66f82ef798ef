"""From the joint states of another driver to measurements: any order, foreign joints between, everything checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from telerobot_nodes.core.robot import JointLimits
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.hardware.ros2_control.stamp_clock import StampClock
from telerobot_nodes.hardware.ros2_control.trouble import Fault, Trouble

OUTSIDE = 0.01  # [rad] a measured position may be beyond a limit
FASTER = 3.0  # [-] times its velocity limit a joint may be measured
JUMP = 0.02  # [rad] more than the velocity limit explains between two measurements


@dataclass(frozen=True)
class JointSample:
    """Measured joints (dof,) at `time` [s] on this host's clock."""

    time: float
    position: FloatArray  # [rad]
    velocity: FloatArray  # [rad/s]
    effort: FloatArray  # [N m]
    finger: float = float("nan")  # position of the gripper's joint


class JointFeed:
    """Takes joint states as they come; `latest` is the newest good sample, also after a jump or restart."""

    def __init__(self, names: Sequence[str], limits: JointLimits, finger: str = "") -> None:
        """`names` are the driver's, in the arm's order; `finger` is the gripper's joint, if it has one."""
        self._names, self._limits, self._finger = tuple(names), limits, finger
        self._clock = StampClock()
        self._order: tuple[str, ...] = ()
        self._index = np.zeros(0, dtype=int)
        self.latest: JointSample | None = None

    def receive(
        self,
        received: float,
        stamp: float,
        names: Sequence[str],
        position: Sequence[float],
        velocity: Sequence[float] = (),
        effort: Sequence[float] = (),
    ) -> Fault | None:
        """Take one message received at `received` [s]; a fault if something is wrong with it."""
        again = self._clock.began_again(stamp, received)
        if again:
            self._clock.reset()
        time = self._clock.arrival(stamp, received)
        if time is None:
            return None  # a repeated measurement is nothing new; silence follows from its time
        fault = self._find(names, len(position))
        if fault is None:
            fault = self._take(time, np.asarray(position, dtype=float), velocity, effort, again)
        return fault

    def _find(self, names: Sequence[str], count: int) -> Fault | None:
        """Set where this arm's joints are in the message."""
        if tuple(names) == self._order and count == len(names):
            return None
        where = {name: i for i, name in enumerate(names)}
        needed = (*self._names, self._finger) if self._finger else self._names
        missing = [name for name in needed if where.get(name, count) >= count]
        if missing:
            return Fault(Trouble.MISSING_JOINT, f"{', '.join(missing)}; the message has {', '.join(names) or 'none'}")
        self._order, self._index = tuple(names), np.array([where[name] for name in self._names])
        return None

    def _take(
        self, time: float, position: FloatArray, velocity: Sequence[float], effort: Sequence[float], again: bool
    ) -> Fault | None:
        q, last = position[self._index], self.latest
        if not np.isfinite(q).all():
            return Fault(Trouble.NOT_FINITE, f"position of {self._names[int(np.argmin(np.isfinite(q)))]}")
        given = _row(velocity, self._index)
        qd = given if given is not None and np.isfinite(given).all() else None
        fault = self._units(q, np.zeros_like(q) if qd is None else qd)
        if fault is not None:
            return fault
        qd = self._difference(time, q) if qd is None else qd
        tau = _row(effort, self._index)
        finger = position[self._order.index(self._finger)] if self._finger in self._order else float("nan")
        self.latest = JointSample(time, q, qd, np.zeros_like(q) if tau is None else tau, float(finger))
        if again:
            return Fault(Trouble.BEGAN_AGAIN, "its stamps went back")
        return self._jump(last, self.latest) if last is not None else None

    def _difference(self, time: float, q: FloatArray) -> FloatArray:
        """Velocities from positions, where the driver has none."""
        last = self.latest
        if last is None or time <= last.time:
            return np.zeros_like(q)
        share = min(1.0, (time - last.time) / 0.01)  # [s] of smoothing
        return last.velocity + share * ((q - last.position) / (time - last.time) - last.velocity)

    def _units(self, q: FloatArray, qd: FloatArray) -> Fault | None:
        limits = self._limits
        beyond = np.maximum(limits.lower - q, q - limits.upper)
        i = int(beyond.argmax())
        if beyond[i] > OUTSIDE:
            allowed = f"its limits are {limits.lower[i]:g} .. {limits.upper[i]:g} [rad]"
            return Fault(Trouble.UNITS, f"{self._names[i]} at {q[i]:.4g}; {allowed}")
        speed = np.abs(qd) / limits.velocity
        i = int(speed.argmax())
        if speed[i] > FASTER:
            return Fault(Trouble.UNITS, f"{self._names[i]} at {qd[i]:.4g}; its limit is {limits.velocity[i]:g} [rad/s]")
        return None

    def _jump(self, last: JointSample, now: JointSample) -> Fault | None:
        most = JUMP + 1.5 * self._limits.velocity * (now.time - last.time)
        over = np.abs(now.position - last.position) - most
        i = int(over.argmax())
        if over[i] <= 0.0:
            return None
        way = f"from {last.position[i]:.4f} to {now.position[i]:.4f} rad in {now.time - last.time:.3f} s"
        return Fault(Trouble.JUMP, f"{self._names[i]} {way}")


def _row(values: Sequence[float], index: FloatArray) -> FloatArray | None:
    """The arm's joints of a list that a driver may leave empty or short."""
    return np.asarray(values, dtype=float)[index] if len(values) > index.max() else None
