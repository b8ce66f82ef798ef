"""The motion of a leaf, as it is simulated or practised, for the forward simulation to draw."""

from __future__ import annotations

from collections.abc import Callable
from time import time_ns
from typing import Any

from builtin_interfaces.msg import Duration, Time
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.nodes.messages import doubles

MOST = 200  # points of one message
SECOND = 1_000_000_000  # [ns]


class Motion:
    """Joints of an arm over time: one thread adds, another reads."""

    def __init__(self) -> None:
        self._points: list[tuple[float, FloatArray]] = []

    def __len__(self) -> int:
        """Number of points."""
        return len(self._points)

    def add(self, time: float, joints: FloatArray) -> None:
        """Add joints (dof,) [rad] at `time` [s], not before the one added last."""
        self._points.append((time, joints))

    def after(self, count: int, most: int) -> list[tuple[float, FloatArray]]:
        """Up to `most` points after the first `count`: time [s] and joints (dof,) [rad]."""
        return self._points[count : count + most]


class MotionSender:
    """Sends the motion that is to be drawn, in parts as it grows. One thread."""

    def __init__(self, publish: Callable[[Any], object], names: tuple[str, ...]) -> None:
        """`publish` a JointTrajectory on `forward_simulator/motion`; `names`: of the joints."""
        self._publish, self._names = publish, list(names)
        self._motion: Motion | None = None
        self._id = Time()  # of the parts of one motion
        self._sent = 0  # points of it

    def draw(self, motion: Motion | None) -> None:
        """Send what was added since the last call; None: nothing is to be drawn any more."""
        if motion is None:
            if self._motion is not None:
                self.clear()
            return
        if motion is not self._motion:
            self._motion, self._id, self._sent = motion, _stamp(), 0
        if points := motion.after(self._sent, MOST):
            self._send(points)
            self._sent += len(points)

    def clear(self) -> None:
        """Whatever is drawn, also a motion of somebody else, disappears."""
        self._motion, self._id = None, _stamp()
        self._send([])

    def _send(self, points: list[tuple[float, FloatArray]]) -> None:
        message = JointTrajectory(joint_names=self._names)
        message.header.stamp = self._id
        message.points = [
            JointTrajectoryPoint(positions=doubles(joints), time_from_start=_duration(time)) for time, joints in points
        ]
        self._publish(message)


def _stamp() -> Time:
    sec, nanosec = divmod(time_ns(), SECOND)
    return Time(sec=sec, nanosec=nanosec)


def _duration(time: float) -> Duration:
    sec, nanosec = divmod(round(SECOND * time), SECOND)
    return Duration(sec=sec, nanosec=nanosec)
