"""The one small interface simulated and real arms share, and the values that cross it.

Sign of the wrench: the force and torque the TOOL exerts ON THE ENVIRONMENT, measured at the wrist sensor's frame
and expressed in it (SENSOR). Pressing down with the tool pointing down gives a positive z force.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from telerobot_nodes.core.validation import FloatArray


@dataclass(frozen=True)
class Measured:
    """What the arm measured at `time` [s] on the host's monotonic clock; arrays are the reader's own."""

    time: float
    position: FloatArray  # (dof,) [rad]
    velocity: FloatArray  # (dof,) [rad/s]
    effort: FloatArray  # (dof,) [N m]
    wrench_sensor: FloatArray  # (6,) [N], [N m] of the tool on the environment, SENSOR frame, not tared
    gripper: float  # [m] opening; 0 without a gripper


@dataclass(frozen=True)
class ServoReference:
    """What the joint servo follows in the next period."""

    position: FloatArray  # (dof,) [rad]
    velocity: FloatArray  # (dof,) [rad/s]
    acceleration: FloatArray  # (dof,) [rad/s^2]
    gripper: float  # [m] opening


class ArmHardware(Protocol):
    """One arm with a joint servo. `Hardware` calls it from one thread, once per servo period."""

    @property
    def healthy(self) -> str:
        """Empty while the arm works, else what is wrong with it."""
        ...

    @property
    def position(self) -> FloatArray:
        """Latest measured joint positions (dof,) [rad]; a view, valid until the next step."""
        ...

    def open(self, now: float) -> None:
        """Connect and hold still at the present position."""
        ...

    def read(self) -> Measured:
        """The latest measurement."""
        ...

    def command(self, reference: ServoReference) -> None:
        """Follow this in the next period."""
        ...

    def step(self, now: float) -> None:
        """Serve one period that ends at `now` [s, monotonic]."""
        ...

    def close(self) -> None:
        """Disconnect; the arm is left holding."""
        ...


@runtime_checkable
class SeesLoose(Protocol):
    """An arm in a scene whose loose things are known: a simulated one."""

    def loose(self) -> dict[str, FloatArray]:
        """Poses (7,) in WORLD of what lies loose, by name."""
