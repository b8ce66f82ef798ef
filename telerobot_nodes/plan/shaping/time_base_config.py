"""Limits of the artificial time base."""

from __future__ import annotations

from dataclasses import dataclass

from telerobot_nodes.core.values import in_range


@dataclass(frozen=True)
class TimeBaseConfig:
    """Limits of the tool on a path without times of its own; validated when made."""

    speed: float = 0.2  # [m/s]
    angular_speed: float = 0.8  # [rad/s]
    acceleration: float = 0.5  # [m/s^2] along and across the path together
    angular_acceleration: float = 2.0  # [rad/s^2]
    smoothing: float = 0.1  # [s] width of the moving average that bounds the jerk
    still: float = 0.25  # [s] without motion after which the path ends
    hold: float = 0.3  # [s] longest wait for later geometry when the robot would run out of points

    def __post_init__(self) -> None:
        in_range(self.speed, "time_base.speed", 0.001, 5.0, "m/s")
        in_range(self.angular_speed, "time_base.angular_speed", 0.001, 20.0, "rad/s")
        in_range(self.acceleration, "time_base.acceleration", 0.01, 50.0, "m/s^2")
        in_range(self.angular_acceleration, "time_base.angular_acceleration", 0.01, 200.0, "rad/s^2")
        in_range(self.smoothing, "time_base.smoothing", 0.0, 1.0, "s")
        in_range(self.still, "time_base.still", 0.02, 5.0, "s")
        in_range(self.hold, "time_base.hold", 0.02, 10.0, "s")

    @property
    def ramp(self) -> float:
        """Acceleration along the path in units of sigma [1/s], the lesser of translation and rotation."""
        return min(self.acceleration / self.speed, self.angular_acceleration / self.angular_speed)
