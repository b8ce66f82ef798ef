"""From the points of a cloud to the voxels of a scene: region, grid, the robot's own points, order.

A voxel holds every point that is left in its cell of the grid, so the voxels hold all of them: an arm that is free of
the voxels is free of the points. What no point was seen of counts as free, as with octomaps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from telerobot_nodes.core.values import FloatArray, IntArray, finite_array, in_range
from telerobot_nodes.cspace.geometry import Voxels
from telerobot_nodes.errors import InvalidValueError

NAME = "<cloud>"
MOST_VOXELS = 6000  # of one cloud; of more, eight and eight are merged
MOST_CELLS = 2**26  # of the grid
BITS = 20  # of a cell's number along one axis

BoolArray = npt.NDArray[np.bool_]
Near = Callable[[FloatArray, float], BoolArray]  # points (n, 3) [m], distance [m] -> which of them are the robot's


@dataclass(frozen=True)
class CloudSettings:
    """Settings of the conversion. Raises InvalidValueError naming the parameter of the planner's node."""

    voxel: float = 0.02  # [m] edge
    padding: float = 0.03  # [m] around the robot, within which points are its own
    region: tuple[float, ...] = (-1.0, -1.0, -0.2, 1.0, 1.0, 1.4)  # [m] in WORLD, lowest and highest corner

    def __post_init__(self) -> None:
        in_range(self.voxel, "cloud_voxel", 0.005, 0.2, "m")
        in_range(self.padding, "cloud_padding", 0.0, 0.3, "m")
        corners = finite_array(self.region, "cloud_region", 6)
        if not (corners[:3] + self.voxel <= corners[3:]).all():
            raise InvalidValueError("cloud_region", self.region, "allowed: lowest corner, then highest, [m] in WORLD")
        if np.prod(np.ceil((corners[3:] - corners[:3]) / self.voxel)) > MOST_CELLS:
            raise InvalidValueError(
                "cloud_region", self.region, f"allowed: up to {MOST_CELLS} voxels of {self.voxel:g} m"
            )


@dataclass(frozen=True)
class CloudVoxels:
    """`voxels`: None when no point is left; numbers of points: all, outside the region, of the robot."""

    voxels: Voxels | None
    points: int
    outside: int
    own: int


def cloud_voxels(points: FloatArray, settings: CloudSettings, near: Near, own: Near) -> CloudVoxels:
    """The voxels of points (n, 3) [m] in WORLD.

    `near`: which points may be within a distance of the robot; asked of the cells first, as they are fewer. `own`:
    which points are. Both may say yes too often near it. Of more than MOST_VOXELS the edges are doubled.
    """
    low, high = np.array(settings.region[:3]), np.array(settings.region[3:])
    inside = ((points >= low) & (points < high)).all(axis=1)
    left, edge = points[inside], settings.voxel
    shape = np.ceil((high - low) / edge).astype(np.int64)
    cells = np.minimum(((left - low) / edge).astype(np.int64), shape - 1)
    flat = (cells[:, 0] * shape[1] + cells[:, 1]) * shape[2] + cells[:, 2]
    is_full = np.zeros(int(np.prod(shape)), dtype=bool)
    is_full[flat] = True
    full = np.flatnonzero(is_full)
    centers = low + edge * (_unflat(full, shape) + 0.5)
    asked = full[near(centers, settings.padding + 0.5 * np.sqrt(3.0) * edge)]
    is_asked = np.zeros_like(is_full)
    is_asked[asked] = True
    doubtful = np.flatnonzero(is_asked[flat])
    mine = own(left[doubtful], settings.padding)
    is_full[asked] = False
    is_full[flat[doubtful[~mine]]] = True
    voxels = _voxels(_unflat(np.flatnonzero(is_full), shape), low, edge)
    return CloudVoxels(voxels, len(points), len(points) - len(left), int(mine.sum()))


def _unflat(flat: IntArray, shape: IntArray) -> IntArray:
    """Cells (k, 3) by their numbers."""
    rest, z = np.divmod(flat, shape[2])
    x, y = np.divmod(rest, shape[1])
    return np.stack([x, y, z], axis=1)


def _voxels(cells: IntArray, low: FloatArray, edge: float) -> Voxels | None:
    """The cells (k, 3) of a grid, or larger ones that hold them, neighbours after each other."""
    while len(cells) > MOST_VOXELS:
        cells, edge = np.unique(cells // 2, axis=0), 2.0 * edge
    if not len(cells):
        return None
    order = np.argsort(_interleaved(cells))
    return Voxels(NAME, size=(edge, edge, edge), centers=low + edge * (cells[order] + 0.5))


def _interleaved(cells: IntArray) -> IntArray:
    """Numbers (k,) along a Morton curve, on which what is near in space is near."""
    numbers = np.zeros(len(cells), dtype=np.int64)
    for bit in range(BITS):
        for axis in range(3):
            numbers |= (cells[:, axis] >> bit & 1) << (3 * bit + axis)
    return numbers
