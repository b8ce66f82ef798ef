"""The driver interface of simulated and real arms, and its values.

Sign of the wrench: the force and torque the TOOL exerts ON THE ENVIRONMENT, measured at the wrist sensor's frame
and expressed in it (SENSOR). Pressing down with the tool pointing down gives a positive z force.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from telerobot_nodes.core.values import FloatArray


@dataclass(frozen=True)
class Measured:
    """Measurements at `time` [s] on the host's monotonic clock; the arrays belong to the reader."""

    time: float
    position: FloatArray  # (dof,) [rad]
    velocity: FloatArray  # (dof,) [rad/s]
    effort: FloatArray  # (dof,) [N m]
    wrench_sensor: FloatArray  # (6,) [N], [N m] of the tool on the environment, SENSOR frame, not tared
    gripper: float  # [m] opening; 0 without a gripper


@dataclass(frozen=True)
class ServoReference:
    """Reference of the joint servo in the next period."""

    position: FloatArray  # (dof,) [rad]
    velocity: FloatArray  # (dof,) [rad/s]
    acceleration: FloatArray  # (dof,) [rad/s^2]
    gripper: float  # [m] opening
    gripper_force: float = 0.0  # [N] maximum between the fingers; 0: the gripper's own maximum


class ArmHardware(Protocol):
    """Driver of one arm with a joint servo. `Hardware` calls it from one thread, once per servo period.

    No call waits for the arm, except `open`. A driver that has a fault takes no references until `engage`.
    """

    @property
    def healthy(self) -> str:
        """Empty while the arm works, else its fault."""
        ...

    @property
    def position(self) -> FloatArray:
        """Latest measured joint positions (dof,) [rad]; a view, valid until the next step."""
        ...

    def open(self, now: float) -> None:
        """Connect and hold the present position."""
        ...

    def read(self) -> Measured:
        """The latest measurement."""
        ...

    def command(self, reference: ServoReference) -> None:
        """Set the reference of the next period."""
        ...

    def step(self, now: float) -> None:
        """Serve one period that ends at `now` [s, monotonic]."""
        ...

    def engage(self) -> str:
        """After a fault: take references again, from the measured position on; returns why not, or ""."""
        ...

    def close(self) -> None:
        """Disconnect; the arm is left holding."""
        ...


@runtime_checkable
class SeesLoose(Protocol):
    """A driver that knows the free objects of its scene: a simulated one."""

    def loose(self) -> dict[str, FloatArray]:
        """Poses (7,) in WORLD of the free objects, by name."""


@runtime_checkable
class SeesScene(Protocol):
    """A driver that knows the true state of every body of its scene: a simulated one."""

    def scene(self) -> dict[str, tuple[float, float]]:
        """Of each body: position of its hinge or slide [rad], [m] (0: none), and force of the arm on it [N]."""
