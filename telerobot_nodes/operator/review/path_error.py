"""Distance of the tool to the planned path near its plan time, so that a crossing of the path hides no error."""

from __future__ import annotations

import numpy as np

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import InvalidValueError

TIME_WINDOW = 0.5  # [s] plan time around the arm's own in which the path is looked for
INDEX_WINDOW = 30  # segments either side that are looked at
NEAR = 2  # segments either side that count whatever their time: coarse plans


def path_distance(
    position: FloatArray, progress: FloatArray, plan_position: FloatArray, plan_time: FloatArray
) -> FloatArray:
    """(m,) [m] distance of each `position` (m, 3) to the polyline `plan_position` (n, 3) near its own plan time.

    `progress` (m,) [s] is the plan time of the arm at each position; `plan_time` (n,) [s] non-decreasing.
    """
    if len(plan_position) < 2:
        raise InvalidValueError("plan (length)", len(plan_position), "allowed: 2 points or more")
    own = np.clip(np.searchsorted(plan_time, progress) - 1, 0, len(plan_position) - 2)
    best = np.full(len(position), np.inf)
    for offset in range(-INDEX_WINDOW, INDEX_WINDOW + 1):
        segment = own + offset
        inside = (segment >= 0) & (segment < len(plan_position) - 1)
        segment = np.clip(segment, 0, len(plan_position) - 2)
        if abs(offset) > NEAR:
            inside &= plan_time[segment + 1] >= progress - TIME_WINDOW
            inside &= plan_time[segment] <= progress + TIME_WINDOW
        distance = segment_distance(position, plan_position[segment], plan_position[segment + 1])
        best = np.where(inside, np.minimum(best, distance), best)
    return best


def segment_distance(point: FloatArray, start: FloatArray, end: FloatArray) -> FloatArray:
    """(m,) [m] distance of points to segments, each (m, 3)."""
    along = end - start
    length2 = np.maximum(np.einsum("ij,ij->i", along, along), 1e-18)
    u = np.clip(np.einsum("ij,ij->i", point - start, along) / length2, 0.0, 1.0)
    distance: FloatArray = np.linalg.norm(point - start - u[:, None] * along, axis=1)
    return distance
