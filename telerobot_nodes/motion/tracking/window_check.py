"""Validation of motion windows; errors name field, value and what is allowed.

What belongs here: checks of one window. What must never enter: the motion being followed (`window_follower.py`).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from telerobot_nodes.core.protocol import GRIPPER_RANGE, GRIPPER_UNCHANGED, MotionWindow
from telerobot_nodes.core.robot import JointLimits
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import InvalidValueError

REST = 1e-6  # [rad/s], [rad/s^2] at rest below it
LIMIT_SLACK = 1.02  # [-] tolerance for rounding; the setpoint limiter enforces the limits
POSITION_SLACK = 1e-6  # [rad]
MAX_SAMPLES = 4096

_OVER_LIMIT = (
    ("window.position", "rad"),
    ("window.velocity", "rad/s"),
    ("window.acceleration", "rad/s^2"),
    ("window.position (mean speed to this sample)", "rad/s"),
    ("window.velocity (mean acceleration to this sample)", "rad/s^2"),
)


def check_window(window: MotionWindow, dof: int, limits: JointLimits | None = None) -> None:
    """Reject a window that the control loop must not follow, independent of its present motion.

    Checks number, times, lengths, finite values, rest at the end, and with `limits` position, velocity and acceleration
    at and between all samples. Raises InvalidValueError naming field, value and what is allowed.
    """
    _check_times(window)
    count = _check_lengths(window, dof)
    _check_finite(window)
    for name in ("velocity", "acceleration"):
        last = np.abs(getattr(window, name)[count - 1])
        if last.max() > REST:
            raise InvalidValueError(f"window.{name}[{count - 1}]", float(last.max()), "allowed: 0, ends at rest")
    if limits is not None:
        _check_limits(window, limits)


def _check_times(window: MotionWindow) -> None:
    if window.number < 1:
        raise InvalidValueError("window.number", window.number, "allowed: 1 or more")
    for name in ("splice", "start", "period"):
        if not np.isfinite(getattr(window, name)):
            raise InvalidValueError(f"window.{name}", getattr(window, name), "allowed: finite numbers [s]")
    if window.period <= 0.0:
        raise InvalidValueError("window.period", window.period, "allowed: more than 0 [s]")
    if window.splice < window.start:
        raise InvalidValueError("window.splice", window.splice, f"allowed: {window.start:g} (start) or later [s]")


def _check_lengths(window: MotionWindow, dof: int) -> int:
    shape = np.shape(window.position)
    count = shape[0] if len(shape) == 2 else 0
    if len(shape) != 2 or shape[1] != dof or not 1 <= count <= MAX_SAMPLES:
        raise InvalidValueError("window.position (shape)", shape, f"allowed: (1 .. {MAX_SAMPLES}, {dof})")
    for name in ("velocity", "acceleration"):
        if np.shape(getattr(window, name)) != shape:
            raise InvalidValueError(f"window.{name} (shape)", np.shape(getattr(window, name)), f"allowed: {shape}")
    if np.shape(window.plan_time) != (count,):
        raise InvalidValueError("window.plan_time (shape)", np.shape(window.plan_time), f"allowed: ({count},)")
    if np.size(window.gripper) not in (0, count):
        raise InvalidValueError("window.gripper (length)", np.size(window.gripper), f"allowed: 0 or {count}")
    return count


def _check_finite(window: MotionWindow) -> None:
    for name in ("position", "velocity", "acceleration", "plan_time", "gripper"):
        values = getattr(window, name)
        if values.size and not np.isfinite(np.sum(values)):
            bad = np.argwhere(~np.isfinite(values))
            if len(bad):
                where = "".join(f"[{i}]" for i in bad[0])
                raise InvalidValueError(
                    f"window.{name}{where}", float(values[tuple(bad[0])]), "allowed: finite numbers"
                )
    if window.gripper.size:
        low, high = GRIPPER_RANGE
        outside = (window.gripper < low) & (window.gripper != GRIPPER_UNCHANGED) | (window.gripper > high)
        if outside.any():
            allowed = f"allowed: {low:g} .. {high:g} [m], {GRIPPER_UNCHANGED:g}: unchanged"
            raise InvalidValueError("window.gripper", float(window.gripper[outside][0]), allowed)


def _check_limits(window: MotionWindow, limits: JointLimits) -> None:
    found, sample, joint, value = _first_outside(
        np.ascontiguousarray(window.position),
        np.ascontiguousarray(window.velocity),
        np.ascontiguousarray(window.acceleration),
        window.period,
        limits.lower,
        limits.upper,
        limits.velocity,
        limits.acceleration,
    )
    if found < 0:
        return
    field, unit = _OVER_LIMIT[found]
    low, high = limits.lower[joint], limits.upper[joint]
    if found:
        high = limits.velocity[joint] if found in (1, 3) else limits.acceleration[joint]
        low = -high
    raise InvalidValueError(f"{field}[{sample}][{joint}]", float(value), f"allowed: {low:g} .. {high:g} [{unit}]")


@njit(cache=True)
def _first_outside(
    q: FloatArray,
    v: FloatArray,
    a: FloatArray,
    period: float,
    lower: FloatArray,
    upper: FloatArray,
    v_max: FloatArray,
    a_max: FloatArray,
) -> tuple[int, int, int, float]:
    """(row of `_OVER_LIMIT` or -1, sample, joint, value) of the first value over a limit."""
    for k in range(q.shape[0]):
        for j in range(q.shape[1]):
            if q[k, j] < lower[j] - POSITION_SLACK or q[k, j] > upper[j] + POSITION_SLACK:
                return 0, k, j, q[k, j]
            if abs(v[k, j]) > v_max[j] * LIMIT_SLACK:
                return 1, k, j, v[k, j]
            if abs(a[k, j]) > a_max[j] * LIMIT_SLACK:
                return 2, k, j, a[k, j]
            if k == 0:
                continue
            speed = (q[k, j] - q[k - 1, j]) / period
            if abs(speed) > v_max[j] * LIMIT_SLACK:
                return 3, k, j, speed
            push = (v[k, j] - v[k - 1, j]) / period
            if abs(push) > a_max[j] * LIMIT_SLACK:
                return 4, k, j, push
    return -1, 0, 0, 0.0
