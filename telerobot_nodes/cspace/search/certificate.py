"""Certificates: the chain of free cells that covers a path. Their checker: `certificate_check`."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.cspace.geometry import ArmGeometry, World, link_poses_of
from telerobot_nodes.cspace.search.edge_validation import cover_edge
from telerobot_nodes.errors import InvalidValueError

MOST_CELLS = 20_000  # of one motion


@dataclass(frozen=True)
class Certificate:
    """Free cells in the order of the path: centres (k, n) and half widths (k, n) [rad], read-only."""

    centers: FloatArray
    halves: FloatArray

    def __post_init__(self) -> None:
        if self.centers.shape != self.halves.shape or self.centers.ndim != 2:
            raise InvalidValueError("certificate.halves", self.halves.shape, f"allowed: {self.centers.shape}")
        self.centers.setflags(write=False)
        self.halves.setflags(write=False)

    def __len__(self) -> int:
        return len(self.centers)


def certify(geometry: ArmGeometry, world: World, path: FloatArray, finest: float) -> Certificate | None:
    """The cells that cover straight motions between waypoints (k, n); None when a piece cannot be proved free."""
    poses = link_poses_of(geometry.arm)
    low, high = np.zeros(MOST_CELLS), np.zeros(MOST_CELLS)
    centers, halves = [], []
    for a, b in pairwise(path):
        count = cover_edge(geometry.arm, world, poses, np.array(a), np.array(b), finest, low, high)
        if count < 0:
            return None
        middle, half = 0.5 * (low[:count] + high[:count]), 0.5 * (high[:count] - low[:count])
        centers.append(a + middle[:, None] * (b - a))
        halves.append(np.abs(half[:, None] * (b - a)))
    return Certificate(np.vstack(centers), np.vstack(halves))
