"""Validation of setpoints: each is checked as a whole before it has any effect."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from telerobot_nodes.core.protocol import ENGAGE_DISTANCE
from telerobot_nodes.core.robot import JointLimits
from telerobot_nodes.core.values import FloatArray, finite, finite_array, in_range
from telerobot_nodes.errors import InvalidValueError

POSITION_SLACK = 1e-6  # [rad] tolerance for rounding at a limit
VELOCITY_SLACK = 0.01  # [-] of the limit; velocity is only feedforward, the motion is limited exactly
CLOCK_SLACK = 0.02  # [s] how far in the future a setpoint's time may be
MAX_OPENING = 0.2  # [m]
MAX_GRIP_FORCE = 1000.0  # [N]


class SetpointLike(Protocol):
    """Anything with the fields of `JointSetpoint.msg`."""

    number: int
    monotonic: float
    position: FloatArray
    velocity: FloatArray
    acceleration: FloatArray
    gripper: float
    gripper_force: float


@dataclass(frozen=True)
class Setpoint:
    """A command to the joint servo (`JointSetpoint.msg`)."""

    number: int
    monotonic: float  # [s] host monotonic clock of the control step
    position: FloatArray  # (dof,) [rad]
    velocity: FloatArray  # (dof,) [rad/s]
    acceleration: FloatArray  # (dof,) [rad/s^2]
    gripper: float = field(default=-1.0)  # [m] opening; negative: the fingers stop where they are
    gripper_force: float = field(default=0.0)  # [N] maximum between the fingers; 0: the gripper's own maximum


def check_setpoint(raw: SetpointLike, limits: JointLimits, now: float, timeout: float) -> Setpoint:
    """The checked setpoint. Raises InvalidValueError naming the invalid field."""
    dof = limits.dof
    stamp = finite(raw.monotonic, "setpoint.monotonic")
    if not -CLOCK_SLACK <= now - stamp <= timeout:
        raise InvalidValueError(
            "setpoint.monotonic (age)", now - stamp, f"allowed: {-CLOCK_SLACK:g} .. {timeout:g} [s]"
        )
    position = finite_array(raw.position, "setpoint.position", dof)
    clipped = np.clip(position, limits.lower, limits.upper)
    outside = np.flatnonzero(np.abs(position - clipped) > POSITION_SLACK)
    if outside.size:
        limits.check_position(position, "setpoint.position")
    velocity = finite_array(raw.velocity, "setpoint.velocity", dof)
    if np.any(np.abs(velocity) > (1.0 + VELOCITY_SLACK) * limits.velocity):
        limits.check_velocity(velocity, "setpoint.velocity")
    acceleration = finite_array(raw.acceleration, "setpoint.acceleration", dof)
    gripper = finite(raw.gripper, "setpoint.gripper")
    if gripper > MAX_OPENING:
        raise InvalidValueError("setpoint.gripper", gripper, f"allowed: up to {MAX_OPENING:g} [m]")
    force = in_range(raw.gripper_force, "setpoint.gripper_force", 0.0, MAX_GRIP_FORCE, "N")
    return Setpoint(
        int(raw.number),
        stamp,
        clipped,
        np.clip(velocity, -limits.velocity, limits.velocity),
        np.clip(acceleration, -limits.acceleration, limits.acceleration),
        gripper,
        force,
    )


def check_engagement(setpoint: Setpoint, held: FloatArray) -> None:
    """Reject a setpoint that would end a hold far from the held position (dof,) [rad]. Raises InvalidValueError."""
    away = np.abs(setpoint.position - held)
    worst = int(np.argmax(away))
    if away[worst] > ENGAGE_DISTANCE:
        raise InvalidValueError(
            f"setpoint.position[{worst}]",
            float(setpoint.position[worst]),
            f"allowed after a hold: within {ENGAGE_DISTANCE:g} rad of {held[worst]:.4f}, where the arm is held",
        )
