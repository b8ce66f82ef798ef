"""Supervision of the arm by the control loop: freshness of measurements, hardware readiness, tracking error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from telerobot_nodes.core.protocol import ENGAGE_DISTANCE, HardwareState, StopCause
from telerobot_nodes.core.values import FloatArray, in_range

HELD_ERROR = 0.8 * ENGAGE_DISTANCE  # [rad] tracking error of a held arm: it would never follow a setpoint much farther


@dataclass(frozen=True)
class ControlConfig:
    """Settings of the control step. Raises InvalidValueError naming the field."""

    stale_time: float = 0.1  # [s] age of measured joints that stops the arm
    follow_error: float = 0.2  # [rad] largest tracking error of a joint ...
    follow_time: float = 0.1  # [s] ... and how long a larger one may last
    arrive_error: float = 0.02  # [rad] distance of a joint at rest from its setpoint that counts as arrived

    def __post_init__(self) -> None:
        in_range(self.stale_time, "control.stale_time", 0.005, 10.0, "s")
        in_range(self.follow_error, "control.follow_error", 1e-3, 3.0, "rad")
        in_range(self.arrive_error, "control.arrive_error", 1e-4, 1.0, "rad")
        in_range(self.follow_time, "control.follow_time", 0.0, 10.0, "s")


class ArmMonitor:
    """Latest measurement time, hardware state and duration of a large tracking error of one arm."""

    def __init__(self, config: ControlConfig) -> None:
        self.config = config
        self.measured_at = -np.inf  # [s]
        self.hardware: int = HardwareState.READY
        self.hardware_reason = ""
        self._exceeded_since = np.inf  # [s]

    @property
    def hardware_ready(self) -> bool:
        """True in READY and HOLDING."""
        return self.hardware <= HardwareState.HOLDING

    @property
    def hardware_text(self) -> str:
        """Why the hardware is not ready."""
        name = "e-stop" if self.hardware == HardwareState.ESTOP else "hardware fault"
        return f"{name}: {self.hardware_reason}" if self.hardware_reason else name

    @property
    def hardware_cause(self) -> StopCause:
        """The cause of a stop while the hardware is not ready."""
        return StopCause.ESTOP if self.hardware == HardwareState.ESTOP else StopCause.HARDWARE

    def age(self, now: float) -> float:
        """Age of the latest measured joints [s]."""
        return now - self.measured_at

    def is_stale(self, now: float) -> bool:
        """True when the latest measured joints are too old."""
        return now - self.measured_at > self.config.stale_time

    def fault(self, now: float, q: FloatArray, measured: FloatArray) -> tuple[StopCause, str] | None:
        """Why the hardware cannot follow the setpoint `q` (dof,) [rad], or does not; once per step."""
        if not self.hardware_ready:
            return self.hardware_cause, self.hardware_text
        if self.is_stale(now) or not self.tracking_error_exceeded(now, q, measured):
            return None
        error = np.abs(q - measured)
        joint = int(error.argmax())
        return StopCause.NOT_FOLLOWING, f"joint {joint} is {error[joint]:.3f} rad from its setpoint"

    def tracking_error_exceeded(self, now: float, q: FloatArray, measured: FloatArray) -> bool:
        """True when `measured` has been too far from the setpoint `q` (dof,) [rad] for too long; once per step."""
        error = q - measured
        held = self.hardware == HardwareState.HOLDING
        allowed = min(self.config.follow_error, HELD_ERROR) if held else self.config.follow_error
        if max(error.max(), -error.min()) <= allowed:
            self._exceeded_since = np.inf
            return False
        self._exceeded_since = min(self._exceeded_since, now)
        return now - self._exceeded_since >= self.config.follow_time
