"""Command shaping: from raw device input to a smooth tool target.

What belongs here: the target (absolute, re-indexed or integrated from a twist), the low-pass filter against tremor,
the follower that bounds speed, acceleration and jerk. What must never enter: plan points, plan time, the link.

Chain, every 4 ms: device -> jumps removed -> hand scale -> target -> two first-order lags at `cutoff` -> follower.
The lags reduce a 10 Hz tremor to a fifth and delay a steady motion by 1/(pi cutoff) = 64 ms at 5 Hz; the follower
delays it by 1/gain = 100 ms. The output has bounded acceleration and jerk for every input, and so has a plan sampled
from it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from telerobot_nodes.core.values import FloatArray, finite, finite_array, in_range, one_of, poses
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.plan.shaping.device import Device, DeviceConfig, Jump
from telerobot_nodes.plan.shaping.follower import (
    ZERO,
    FollowerLimits,
    Motion,
    Quaternion,
    Vector,
    add,
    advance,
    brake,
    clip,
    exponential,
    multiply,
    norm,
    scale,
    stopping_distance,
    subtract,
    turn,
)
from telerobot_nodes.plan.shaping.hand_scale import HandScale

SUBSTEP = 0.004  # [s] of the filter and the follower
REST = Motion()
FRAMES = ("world", "device")  # of poses
TWIST_FRAMES = ("world", "tool")


@dataclass(frozen=True)
class ShaperConfig:
    """Limits of the shaped target; validated when made."""

    cutoff: float = 5.0  # [Hz] of the low-pass against tremor
    linear: FollowerLimits = field(default_factory=lambda: FollowerLimits(0.5, 2.0, 60.0, 10.0))
    angular: FollowerLimits = field(default_factory=lambda: FollowerLimits(1.5, 6.0, 180.0, 10.0))
    device: DeviceConfig = field(default_factory=DeviceConfig)
    hand_scale: HandScale = field(default_factory=HandScale)  # at the start

    def __post_init__(self) -> None:
        in_range(self.cutoff, "shaper.cutoff", 0.5, 50.0, "Hz")


@dataclass(frozen=True)
class ShapedPose:
    """Pose and motion of the smooth target, in WORLD."""

    position: Vector  # [m]
    orientation: Quaternion
    linear: Motion = REST  # [m/s], [m/s^2]
    angular: Motion = REST  # [rad/s], [rad/s^2]

    @property
    def at_rest(self) -> bool:
        """True when it does not move."""
        return self.linear.at_rest and self.angular.at_rest

    @property
    def pose(self) -> FloatArray:
        """Tool pose: x y z [m], qx qy qz qw."""
        return np.array((*self.position, *self.orientation))

    def same_place(self, other: ShapedPose) -> bool:
        """True when both have exactly the same pose."""
        return self.position == other.position and self.orientation == other.orientation


def shaped(pose: object) -> ShapedPose:
    """Pose at rest from 7 numbers. Raises InvalidValueError naming the field."""
    return ShapedPose(*_parts(pose, "pose"))


class Shaper:
    """Computes a smooth tool target from device input; `advance` moves it through time."""

    def __init__(self, config: ShaperConfig, start: ShapedPose, now: float) -> None:
        self._config = config
        self._device = Device(config.device)
        self._clock = now  # [s] host monotonic clock, time of the state
        self._ticks = 0
        self._origin = now
        self._target = (start.position, start.orientation)
        self._lag = [self._target, self._target]
        self._twist = (ZERO, ZERO)
        self._twist_in_tool = False
        self._twist_time = -math.inf
        self._input_time = -math.inf
        self._source = ""
        self._trail: list[ShapedPose] = []
        self.state = start
        self.hand_scale = config.hand_scale  # of motion from now on
        self.jumps = 0

    @property
    def target(self) -> FloatArray:
        """Tool pose commanded by the operator: x y z [m], qx qy qz qw in WORLD."""
        return np.array((*self._target[0], *self._target[1]))

    def fresh(self, now: float) -> bool:
        """True while the device sends."""
        return now - self._input_time <= self._config.device.timeout

    def command_pose(self, now: float, pose: object, frame: str, late: float = 0.0) -> Jump | None:
        """Take a pose: an absolute goal (`world`), or a device whose motion counts (`device`).

        The device was there `late` [s] before `now`: that tells what is a jump, however samples bunch up. Returns the
        jump that was removed. Raises InvalidValueError naming the field; then nothing changes.
        """
        one_of(frame, "pose.frame_id", FRAMES)
        finite(now, "now")
        finite(late, "late")
        position, orientation = _parts(pose, "pose")
        self._switch(frame)
        self._input_time = now
        if frame == "world":
            self._target = (position, orientation)
            return None
        step = self._device.move(now - late, position, orientation)
        self._move_target(*self.hand_scale.motion(step.linear, step.angular))
        self.jumps += step.jump is not None
        return step.jump

    def command_twist(self, now: float, twist: object, frame: str) -> None:
        """Take a tool velocity [m/s, rad/s]; it holds until the next one or the device timeout.

        Raises InvalidValueError naming the field; then nothing changes.
        """
        one_of(frame, "twist.frame_id", TWIST_FRAMES)
        finite(now, "now")
        v = finite_array(twist, "twist", 6)
        self._switch("twist")
        self._input_time = self._twist_time = now
        self._twist_in_tool = frame == "tool"
        x, y, z, rx, ry, rz = v.tolist()
        linear, angular = self.hand_scale.motion((x, y, z), (rx, ry, rz))
        self._twist = (clip(linear, self._config.linear.speed), clip(angular, self._config.angular.speed))

    def reindex(self) -> None:
        """Set the target to the follower's pose, whatever the pose of the device."""
        self._device.reset()
        self._target = (self.state.position, self.state.orientation)
        self._lag = [self._target, self._target]

    def resume(self) -> None:
        """Continue after a hold: motion of a device or a twist meanwhile is ignored, an absolute goal stays."""
        if self._source != "world":
            self.reindex()

    def restart(self, state: ShapedPose) -> None:
        """Continue from another state (the plan's head changed); the device re-indexes."""
        self.state = state
        self._trail = []
        self.reindex()

    def skip(self, now: float) -> None:
        """Skip time after a stall."""
        self._origin, self._ticks, self._clock = now, 0, now
        self._trail = []

    def take_trail(self) -> list[ShapedPose]:
        """States of every substep since the last call."""
        trail, self._trail = self._trail, []
        return trail

    def advance(self, until: float) -> None:
        """Move through time up to `until`, whole substeps."""
        while self._clock + SUBSTEP <= until + 1e-9:
            self._ticks += 1
            self._clock = self._origin + self._ticks * SUBSTEP
            self._follow_twist()
            self.settle()

    def settle(self) -> None:
        """One substep towards the target as it is, while time stands still."""
        self._filter()
        self.state = self._followed(self.state)
        self._trail.append(self.state)

    def braked(self, state: ShapedPose) -> ShapedPose:
        """State one substep later on the way to rest."""
        if state.at_rest:
            return ShapedPose(state.position, state.orientation)
        linear = brake(state.linear, self._config.linear, SUBSTEP)
        angular = brake(state.angular, self._config.angular, SUBSTEP)
        return _integrate(state, linear, angular)

    def stopping_pose(self, state: ShapedPose) -> FloatArray:
        """Pose (7,) in WORLD at least as far ahead as the tool needs to come to rest."""
        ahead = _ahead(state.linear, self._config.linear)
        turned = _ahead(state.angular, self._config.angular)
        position, orientation = add(state.position, ahead), multiply(exponential(turned), state.orientation)
        return np.array((*position, *orientation))

    def _switch(self, source: str) -> None:
        """Re-index on another kind of input, and end an old twist."""
        if source != self._source:
            self._source = source
            self._device.reset()
            self._twist = (ZERO, ZERO)

    def _move_target(self, linear: Vector, angular: Vector) -> None:
        position, orientation = self._target
        self._target = (add(position, linear), multiply(exponential(angular), orientation))

    def _follow_twist(self) -> None:
        if self._source != "twist" or self._clock - self._twist_time > self._config.device.timeout:
            return
        linear, angular = self._twist
        if self._twist_in_tool:
            linear, angular = (rotate(self._target[1], v) for v in (linear, angular))
        self._move_target(scale(linear, SUBSTEP), scale(angular, SUBSTEP))

    def _filter(self) -> None:
        share = 1.0 - math.exp(-2.0 * math.pi * self._config.cutoff * SUBSTEP)
        goal = self._target
        for i, (position, orientation) in enumerate(self._lag):
            moved = add(position, scale(subtract(goal[0], position), share))
            turned = multiply(exponential(scale(turn(orientation, goal[1]), share)), orientation)
            goal = self._lag[i] = (moved, turned)

    def _followed(self, state: ShapedPose) -> ShapedPose:
        position, orientation = self._lag[-1]
        error, angle = subtract(position, state.position), turn(state.orientation, orientation)
        if state.at_rest and norm(error) < 1e-6 and norm(angle) < 1e-6:
            return ShapedPose(state.position, state.orientation)
        linear = advance(state.linear, error, self._config.linear, SUBSTEP)
        angular = advance(state.angular, angle, self._config.angular, SUBSTEP)
        return _integrate(state, linear, angular)


def _integrate(state: ShapedPose, linear: Motion, angular: Motion) -> ShapedPose:
    position = add(state.position, scale(linear.velocity, SUBSTEP))
    orientation = multiply(exponential(scale(angular.velocity, SUBSTEP)), state.orientation)
    return replace(state, position=position, orientation=orientation, linear=linear, angular=angular)


def _ahead(motion: Motion, limits: FollowerLimits) -> Vector:
    speed = norm(motion.velocity)
    return scale(motion.velocity, stopping_distance(motion, limits) / speed) if speed > 1e-9 else ZERO


def rotate(q: Quaternion, v: Vector) -> Vector:
    """Vector v turned by q."""
    x, y, z, w = q
    cx, cy, cz = y * v[2] - z * v[1] + w * v[0], z * v[0] - x * v[2] + w * v[1], x * v[1] - y * v[0] + w * v[2]
    return (v[0] + 2.0 * (y * cz - z * cy), v[1] + 2.0 * (z * cx - x * cz), v[2] + 2.0 * (x * cy - y * cx))


def _parts(pose: object, field_name: str) -> tuple[Vector, Quaternion]:
    rows = poses(pose, field_name)
    if len(rows) != 1:
        raise InvalidValueError(f"{field_name} (length)", rows.size, "allowed: 7 values")
    x, y, z, qx, qy, qz, qw = rows[0].tolist()
    return (x, y, z), (qx, qy, qz, qw)
