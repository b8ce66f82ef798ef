"""Check of every recorded joint setpoint against the robot's limits: position, velocity, acceleration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from telerobot_nodes.core.robot import JointLimits
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.review.run_record import Rows

TOLERANCE = 1e-6  # [-] relative to the limit: rounding
DIFFERENCE_TOLERANCE = 1e-3  # [-] of accelerations found from velocities: rounding over a short step


@dataclass(frozen=True)
class LimitCheck:
    """Violations counted per sample and joint, and the largest use of each limit."""

    samples: int
    pairs: int  # of samples from which an acceleration was found
    position: int
    velocity: int
    acceleration: int
    difference: int  # accelerations found from velocities
    velocity_use: float  # [-] largest velocity per its limit
    acceleration_use: float  # [-]
    difference_use: float  # [-]

    @property
    def violations(self) -> int:
        """All kinds together."""
        return self.position + self.velocity + self.acceleration + self.difference


def check_limits(rows: Rows, limits: JointLimits, source: str) -> LimitCheck:
    """Check the setpoints of a topic; rows hold monotonic, number, position, velocity, acceleration.

    Raises InvalidValueError when the bag is of a robot with other joints.
    """
    if not len(rows):
        return LimitCheck(0, 0, 0, 0, 0, 0, 0.0, 0.0, 0.0)
    position, velocity, acceleration = (
        _joints(rows, name, limits, source) for name in ("position", "velocity", "acceleration")
    )
    difference = differences(rows.array("monotonic"), rows.array("number"), velocity)
    room = TOLERANCE * (limits.upper - limits.lower)
    outside = ~((position >= limits.lower - room) & (position <= limits.upper + room))  # NaN is outside
    velocity_use, acceleration_use = np.abs(velocity) / limits.velocity, np.abs(acceleration) / limits.acceleration
    difference_use = np.abs(difference) / limits.acceleration
    return LimitCheck(
        samples=len(rows),
        pairs=len(difference),
        position=int(outside.sum()),
        velocity=_above(velocity_use, TOLERANCE),
        acceleration=_above(acceleration_use, TOLERANCE),
        difference=_above(difference_use, DIFFERENCE_TOLERANCE),
        velocity_use=float(velocity_use.max()),
        acceleration_use=float(acceleration_use.max()),
        difference_use=float(difference_use.max(initial=0.0)),
    )


def differences(monotonic: FloatArray, number: FloatArray, velocity: FloatArray) -> FloatArray:
    """(k, dof) [rad/s^2] accelerations between consecutive rows; pairs across a restart are left out.

    The time of a step is the longer of the clock's difference and the number of steps times the period: a control
    step computes for its nominal period, and the clock shows only when it started.
    """
    steps, elapsed = np.diff(number), np.diff(monotonic)
    joined = (steps > 0) & (elapsed > 0.0)
    if not joined.any():
        return np.empty((0, velocity.shape[1]))
    steps, elapsed = steps[joined], elapsed[joined]
    period = float(np.median(elapsed / steps))
    found: FloatArray = np.diff(velocity, axis=0)[joined] / np.maximum(elapsed, period * steps)[:, None]
    return found


def _above(use: FloatArray, tolerance: float) -> int:
    return int((~(use <= 1.0 + tolerance)).sum())  # NaN is above


def _joints(rows: Rows, name: str, limits: JointLimits, source: str) -> FloatArray:
    dof = len(limits.velocity)
    lengths = rows.lengths(name)
    if lengths != {dof}:
        raise InvalidValueError(f"{source}.{name} (length)", sorted(lengths), f"allowed: {dof}, the robot's joints")
    values: FloatArray = rows.array(name)
    return values
