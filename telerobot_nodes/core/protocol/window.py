"""The motion window: the stretch of motion the control loop may execute without hearing again."""

from __future__ import annotations

from dataclasses import dataclass

from telerobot_nodes.core.values import FloatArray

GRIPPER_UNCHANGED = -1.0  # as in JointSetpoint.msg


@dataclass(frozen=True)
class MotionWindow:
    """Samples that always end at rest (`MotionWindow.msg`); equal to the previous window before `splice`."""

    number: int
    splice: float  # [s] host monotonic clock
    start: float  # [s] host monotonic clock of sample 0
    period: float  # [s] between samples
    position: FloatArray  # (n, dof) [rad]
    velocity: FloatArray  # (n, dof) [rad/s]
    acceleration: FloatArray  # (n, dof) [rad/s^2]
    plan_time: FloatArray  # (n,) [s]
    gripper: FloatArray  # (n,) [m], GRIPPER_UNCHANGED before the first command; or empty
