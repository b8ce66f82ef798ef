"""Several arms on their own paths without meeting: the coordination space, searched for a schedule.

Each arm has a timed path that is free of the stationary world. Two arms' places along their paths, a and b, span a
plane; its cells are proved free like those of joint space: distance at the centre against the motion of both arms
within the cell. A schedule is a monotone way through free cells. Without one, the arm of lower priority is planned
again around the swept balls of the other.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import pairwise

import numba
import numpy as np
import numpy.typing as npt

from telerobot_nodes.core.path_timing import TimedPath
from telerobot_nodes.core.validation import FloatArray, in_range
from telerobot_nodes.cspace.arm_geometry import ArmGeometry
from telerobot_nodes.cspace.obstacles import Obstacle, balls
from telerobot_nodes.cspace.placing import (
    Arm,
    Places,
    ball_centers,
    ball_motion_bounds,
    bound_links,
    chords,
    place,
    place_link,
    places_of,
)
from telerobot_nodes.cspace.solids import Ball, bounding_ball

WAIT_PRICE = 1.0  # [-] a tick of waiting costs what a tick of moving costs


@dataclass(frozen=True)
class Schedule:
    """For every tick of `period` [s] the tick of its own timing each of two arms has reached (ticks, 2)."""

    period: float
    ticks: npt.NDArray[np.int64]

    @property
    def duration(self) -> float:
        """Until both have arrived [s]."""
        return self.period * (len(self.ticks) - 1)


@numba.njit(cache=True, error_model="numpy")
def _arms_meet(a: Arm, at_a: Places, b: Arm, at_b: Places, margin: float) -> bool:
    """True when two arms, placed and bounded, may come nearer than `margin` within their cells."""
    for k in range(a.link_radius.size):
        for m in range(b.link_radius.size):
            gap = a.link_radius[k] + b.link_radius[m] + at_a.motion[k, k] + at_b.motion[m, m] + margin
            if _square(at_a.link[k], at_b.link[m]) > gap * gap:
                continue
            place_link(a, at_a, k)
            place_link(b, at_b, m)
            for i in range(a.ball_first[a.link_first[k]], a.ball_first[a.link_first[k + 1]]):
                for j in range(b.ball_first[b.link_first[m]], b.ball_first[b.link_first[m + 1]]):
                    gap = a.ball_radius[i] + b.ball_radius[j] + at_a.motion[k, k] + at_b.motion[m, m] + margin
                    if _square(at_a.ball[i], at_b.ball[j]) <= gap * gap:
                        return True
    return False


@numba.njit(cache=True, error_model="numpy")
def _square(a: FloatArray, b: FloatArray) -> float:
    return float((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2)


@numba.njit(cache=True, error_model="numpy")
def _blocked(
    a: Arm, at_a: Places, path_a: FloatArray, b: Arm, at_b: Places, path_b: FloatArray, margin: float
) -> npt.NDArray[np.bool_]:
    """Which cells (i, j) between ticks i, i + 1 of one path and j, j + 1 of the other are not proved free."""
    out = np.zeros((path_a.shape[0] - 1, path_b.shape[0] - 1), dtype=np.bool_)
    for i in range(out.shape[0]):
        chords(a, 0.5 * np.abs(path_a[i + 1] - path_a[i]), at_a.width)
        place(a, 0.5 * (path_a[i] + path_a[i + 1]), at_a)
        bound_links(a, at_a)
        for j in range(out.shape[1]):
            chords(b, 0.5 * np.abs(path_b[j + 1] - path_b[j]), at_b.width)
            place(b, 0.5 * (path_b[j] + path_b[j + 1]), at_b)
            bound_links(b, at_b)
            out[i, j] = _arms_meet(a, at_a, b, at_b, margin)
    return out


def sampled(timed: TimedPath, period: float) -> FloatArray:
    """Configurations (ticks, n) [rad] along a timed path, every waypoint among them, at most `period` [s] apart."""
    rows = [timed.path[0]]
    for i, (begin, end) in enumerate(pairwise(timed.times)):
        count = int(np.ceil((end - begin) / period - 1e-9))
        rows += [timed.at(begin + (end - begin) * k / count)[0] for k in range(1, count)]
        rows += [timed.path[i + 1]] if count else []
    return np.array(rows)


def blocked_cells(
    first: ArmGeometry, path_first: FloatArray, second: ArmGeometry, path_second: FloatArray, margin: float
) -> npt.NDArray[np.bool_]:
    """Cells of the coordination space of two sampled paths (ticks, n) that are not proved free."""
    a, b = first.arm, second.arm
    return np.asarray(_blocked(a, places_of(a), path_first, b, places_of(b), path_second, margin))


def coordinate(
    first: ArmGeometry,
    timed_first: TimedPath,
    second: ArmGeometry,
    timed_second: TimedPath,
    margin: float = 0.01,
    period: float = 0.02,
    start_second: int = 0,
) -> Schedule | None:
    """A schedule in which the arms stay `margin` [m] apart, waiting where they must; None when there is none.

    The first arm may already be `start_second` ticks on its way, when the second may begin: it then starts there.
    """
    in_range(margin, "margin", 0.0, 0.5, "m")
    in_range(period, "period", 1e-3, 1.0, "s")
    path_first, path_second = sampled(timed_first, period), sampled(timed_second, period)
    blocked = blocked_cells(first, _held(path_first), second, _held(path_second), margin)
    ticks = _monotone(blocked, min(start_second, len(path_first) - 1))
    return None if ticks is None else Schedule(period, ticks)


def _held(path: FloatArray) -> FloatArray:
    """Each tick twice: cells of rest (even) and of motion (odd) in turn."""
    return np.repeat(path, 2, axis=0)


def _monotone(blocked: npt.NDArray[np.bool_], start: int) -> npt.NDArray[np.int64] | None:
    """Shortest monotone way of ticks (m, 2) from (start, 0) to the end; cells 2 i are rest at i, 2 i + 1 motion on."""
    last = ((blocked.shape[0]) // 2, (blocked.shape[1]) // 2)
    if blocked[2 * start, 0] or blocked[2 * last[0], 2 * last[1]]:
        return None
    came: dict[tuple[int, int], tuple[int, int]] = {(start, 0): (-1, -1)}
    heap = [(0, 0, (start, 0))]
    while heap:
        _, steps, (i, j) = heapq.heappop(heap)
        if (i, j) == last:
            return _ticks(came, last)
        for di, dj in ((1, 1), (1, 0), (0, 1)):
            node = (i + di, j + dj)
            if node[0] > last[0] or node[1] > last[1] or node in came:
                continue
            if not blocked[2 * i + di, 2 * j + dj] and not blocked[2 * node[0], 2 * node[1]]:
                came[node] = (i, j)
                left = max(last[0] - node[0], last[1] - node[1])
                heapq.heappush(heap, (steps + 1 + left, steps + 1, node))
    return None


def _ticks(came: dict[tuple[int, int], tuple[int, int]], node: tuple[int, int]) -> npt.NDArray[np.int64]:
    rows = []
    while node[0] >= 0:
        rows.append(node)
        node = came[node]
    return np.array(rows[::-1], dtype=np.int64)


def swept_obstacles(
    geometry: ArmGeometry, path: FloatArray, name: str = "swept", merge: float = 0.06
) -> list[Obstacle]:
    """Balls that hold everything an arm passes on straight motions between rows (k, n) [rad], as obstacles.

    Each motion is cut in pieces that move no ball more than `merge` [m].
    """
    found: list[Ball] = []
    arm = geometry.arm
    moving = arm.ball_first[arm.link_first[1]]
    for a, b in pairwise(path):
        reach = ball_motion_bounds(arm, 0.5 * (a + b), np.minimum(0.5 * np.abs(b - a), np.pi))
        pieces = max(int(np.ceil(float(reach.max()) / merge)), 1)
        for i in range(pieces):
            middle = a + (i + 0.5) / pieces * (b - a)
            moved = ball_motion_bounds(arm, middle, 0.5 * np.abs(b - a) / pieces)
            centers = ball_centers(arm, middle)
            found += [Ball(centers[m], float(arm.ball_radius[m] + moved[m])) for m in range(moving, len(centers))]
    return balls(name, _merged(found, merge))


def _merged(found: list[Ball], size: float) -> list[Ball]:
    """Fewer balls that hold the same: those with centres in one cube of `size` become one."""
    cubes: dict[tuple[int, ...], list[Ball]] = {}
    for ball in found:
        cubes.setdefault(tuple(np.floor(ball.center / size).astype(int).tolist()), []).append(ball)
    merged = []
    for group in cubes.values():
        middle = bounding_ball(np.array([b.center for b in group]), 20).center
        radius = max(float(np.linalg.norm(b.center - middle)) + b.radius for b in group)
        merged.append(Ball(middle, radius))
    return merged
