"""Units of the command language: what each measures and its factor to SI [JPL-RTC]."""

from __future__ import annotations

import math
from typing import NamedTuple

GRAVITY = 9.81  # [m/s^2]


class Unit(NamedTuple):
    """A unit of measure."""

    dimension: str
    factor: float  # to SI or radians


UNITS: dict[str, Unit] = {
    "": Unit("", 1.0),
    "m": Unit("length", 1.0),
    "cm": Unit("length", 1e-2),
    "mm": Unit("length", 1e-3),
    "deg": Unit("angle", math.pi / 180.0),
    "rad": Unit("angle", 1.0),
    "s": Unit("time", 1.0),
    "ms": Unit("time", 1e-3),
    "min": Unit("time", 60.0),
    "h": Unit("time", 3600.0),
    "m/s": Unit("speed", 1.0),
    "cm/s": Unit("speed", 1e-2),
    "mm/s": Unit("speed", 1e-3),
    "deg/s": Unit("angular speed", math.pi / 180.0),
    "rad/s": Unit("angular speed", 1.0),
    "m/s^2": Unit("acceleration", 1.0),
    "N": Unit("force", 1.0),
    "Nm": Unit("torque", 1.0),
    "N/m": Unit("stiffness", 1.0),
    "kg": Unit("mass", 1.0),
    "g": Unit("mass", 1e-3),
    "%": Unit("ratio", 1e-2),
}


def units_of(dimension: str) -> tuple[str, ...]:
    """All units that measure `dimension`."""
    return tuple(name for name, unit in UNITS.items() if name and unit.dimension == dimension)
