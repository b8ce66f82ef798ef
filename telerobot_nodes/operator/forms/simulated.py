"""What a person sees of a simulated motion."""

from __future__ import annotations

from dataclasses import dataclass

from telerobot_nodes.core.values import FloatArray


@dataclass(frozen=True)
class Simulated:
    """The simulated arm at one moment, and the path of its tool."""

    joints: FloatArray  # (dof,) [rad]
    path: FloatArray  # (n, 3) [m] WORLD
