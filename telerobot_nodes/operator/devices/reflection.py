"""Force back to the operator's hand [US5231693]: the tool's wrench, late, scaled, limited, passive, zero when stale.

What belongs here: the wrench on the hand and the strength of a rumble, from values and `now` [s]. What must never
enter: messages, clocks, devices. Why it is passive: `passive_port.py`.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.config import check_parameter, parameter
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.operator.devices.passive_port import PassivePort

LONGEST_PERIOD = 0.1  # [s] between two samples of the hand; after a longer one nothing is known of its motion
LEVER = 0.05  # [m] of a handle: stiffness of a turn per stiffness of a shift is its square
DAMPING = (20.0, 0.2)  # [N s/m], [N m s/rad] with which energy given too much is recovered


@dataclass(frozen=True)
class ReflectConfig:
    """How forces come back; validated when made, raises InvalidValueError naming the field."""

    reflect_gain: float = parameter(
        1.0, "-", 0.0, 100.0, "force at the hand per force at the tool, times the `reflect_gain` of the primitive"
    )
    reflect_force: float = parameter(15.0, "N", 0.1, 200.0, "largest force on the hand; full rumble of a gamepad")
    reflect_torque: float = parameter(1.0, "N m", 0.01, 20.0, "largest torque on the hand")
    reflect_stale: float = parameter(
        0.5, "s", 0.1, 5.0, "age since its arrival from which a wrench, or a motion of the hand, counts no more"
    )
    reflect_smooth: float = parameter(0.03, "s", 0.0, 1.0, "time constant of the low-pass filter of the force")
    reflect_stiffness: float = parameter(
        1000.0, "N/m", 10.0, 1e4, "force per distance that the hand presses on: how a force is felt, never how large"
    )
    reflect_tank: float = parameter(0.2, "J", 0.0, 10.0, "largest work of the hand that may be given back to it later")

    def __post_init__(self) -> None:
        for entry in dataclasses.fields(ReflectConfig):
            check_parameter(ReflectConfig, entry.name, getattr(self, entry.name))


class Reflection:
    """The wrench on one hand. Times are `now` [s], monotonic; wrenches (6,) [N], [N m] in the hand's axes."""

    def __init__(self, config: ReflectConfig) -> None:
        self.config = config
        self.primitive_gain = 1.0  # [-] of the running primitive
        springs = (config.reflect_stiffness, config.reflect_stiffness * LEVER**2)
        self._ports = [
            PassivePort(largest, spring, config.reflect_tank, damping)
            for largest, spring, damping in zip(
                (config.reflect_force, config.reflect_torque), springs, DAMPING, strict=True
            )
        ]
        self._wrench, self._smooth = np.zeros(6), np.zeros(6)
        self._received = self._sampled = -np.inf

    @property
    def energy(self) -> FloatArray:
        """(2,) [J] work of the hand on the device so far, by force and by torque: the energy observers."""
        return np.array([port.energy for port in self._ports])

    def receive(self, now: float, wrench: FloatArray) -> None:
        """Set the wrench of the tool on its environment, as it arrives; one that is not finite is no measurement."""
        if np.isfinite(wrench).all():
            self._wrench, self._received = np.array(wrench), now

    def is_stale(self, now: float) -> bool:
        """True without a wrench that arrived a short time ago."""
        return not now - self._received <= self.config.reflect_stale

    def hand_is_silent(self, now: float) -> bool:
        """True without a motion of the hand that arrived a short time ago."""
        return not now - self._sampled <= self.config.reflect_stale

    def wrench(self, now: float, velocity: FloatArray) -> FloatArray:
        """The wrench on the hand until the next sample.

        `velocity` (6,) [m/s], [rad/s] of the hand since the last one.
        """
        period, self._sampled = now - self._sampled, now
        if period > LONGEST_PERIOD:  # nothing is known of the hand's motion
            period, self._smooth = 0.0, self._target(now)
            for port in self._ports:
                port.forget()
        wanted = self._wanted(now, period)
        parts = [port.force(wanted[k], velocity[k], period) for port, k in zip(self._ports, _PARTS, strict=True)]
        return np.concatenate(parts)

    def rumble(self, now: float) -> float:
        """Strength of a rumble, 0 .. 1, of the force at the tool."""
        felt = float(np.linalg.norm(self._target(now)[:3]))
        return min(felt / self.config.reflect_force, 1.0)

    def _target(self, now: float) -> FloatArray:
        if self.is_stale(now):
            return np.zeros(6)
        target: FloatArray = -self.config.reflect_gain * self.primitive_gain * self._wrench
        return target

    def _wanted(self, now: float, period: float) -> FloatArray:
        """The wrench on the hand before passivity; zero at once when the tool's is stale."""
        if self.is_stale(now):
            self._smooth = np.zeros(6)
        share = period / (period + self.config.reflect_smooth) if period > 0.0 else 0.0
        self._smooth = self._smooth + share * (self._target(now) - self._smooth)
        return self._smooth


_PARTS = (slice(0, 3), slice(3, 6))  # force and velocity, torque and angular velocity


def wrench_at_hand(wrench: FloatArray, T_tool_sensor: pin.SE3, R_hand_tool: FloatArray) -> FloatArray:
    """A wrench (6,) [N], [N m] in SENSOR, about the tool frame and in the hand's axes; `R_hand_tool` (3, 3)."""
    at_tool = T_tool_sensor.act(pin.Force(wrench))
    return np.concatenate((R_hand_tool @ at_tool.linear, R_hand_tool @ at_tool.angular))
