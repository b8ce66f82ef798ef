"""Several arms on their own paths without meeting: the coordination space, searched for a schedule.

Each arm has a timed path that is free of the stationary world. Two arms' places along their paths, a and b, span a
plane; its cells are proved free like those of joint space: distance at the centre against the motion of both arms
within the cell. A schedule is the quickest monotone way through free cells. A third arm and further ones are
scheduled against the ones before it as a whole. How arms keep to a schedule whatever delays them: `right_of_way`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, pairwise

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

BoolArray = npt.NDArray[np.bool_]
PARTS = 3  # a cell that is not free as a whole is looked at again in this many parts of each motion
NEVER = np.iinfo(np.int64).max // 2


@dataclass(frozen=True)
class Schedule:
    """For every tick of `period` [s] the tick of its own timing each arm has reached (ticks, arms).

    `times[i]` [s]: when arm i alone would reach its ticks; `blocked[i, j]`: cells of the plane of arms i < j that are
    not proved free, 2 k resting at tick k, 2 k + 1 moving on from it.
    """

    period: float
    ticks: npt.NDArray[np.int64]
    times: tuple[FloatArray, ...] = ()
    blocked: Mapping[tuple[int, int], BoolArray] = field(default_factory=dict)

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
) -> BoolArray:
    """Which cells (i, j) between rows i, i + 1 of one path and j, j + 1 of the other are not proved free."""
    out = np.zeros((path_a.shape[0] - 1, path_b.shape[0] - 1), dtype=np.bool_)
    center, reach = _reaches(b, at_b, path_b)
    for i in range(out.shape[0]):
        _look(a, at_a, path_a[i], path_a[i + 1], 0.0, 1.0)
        for j in range(out.shape[1]):
            if _far(a, at_a, center[j], reach[j], margin):
                continue
            _look(b, at_b, path_b[j], path_b[j + 1], 0.0, 1.0)
            if _arms_meet(a, at_a, b, at_b, margin):
                out[i, j] = not _free_in_parts(a, at_a, path_a[i : i + 2], b, at_b, path_b[j : j + 2], margin)
                _look(a, at_a, path_a[i], path_a[i + 1], 0.0, 1.0)
    return out


@numba.njit(cache=True, error_model="numpy")
def _reaches(arm: Arm, at: Places, path: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Balls that hold each link on each motion of a path: centres (rows, links, 3), radii (rows, links) [m]."""
    rows, links = path.shape[0] - 1, arm.link_radius.size
    center, reach = np.empty((rows, links, 3)), np.empty((rows, links))
    for i in range(rows):
        _look(arm, at, path[i], path[i + 1], 0.0, 1.0)
        for k in range(links):
            center[i, k] = at.link[k]
            reach[i, k] = arm.link_radius[k] + at.motion[k, k]
    return center, reach


@numba.njit(cache=True, error_model="numpy")
def _far(arm: Arm, at: Places, center: FloatArray, reach: FloatArray, margin: float) -> bool:
    """True when no link of a placed and bounded arm comes near any of the balls."""
    for k in range(arm.link_radius.size):
        own = arm.link_radius[k] + at.motion[k, k] + margin
        for m in range(reach.size):
            gap = own + reach[m]
            if _square(at.link[k], center[m]) <= gap * gap:
                return False
    return True


@numba.njit(cache=True, error_model="numpy")
def _first_meeting(a: Arm, at_a: Places, rows_a: FloatArray, b: Arm, at_b: Places, rows_b: FloatArray) -> int:
    for i in range(max(rows_a.shape[0], rows_b.shape[0])):
        q, p = rows_a[min(i, rows_a.shape[0] - 1)], rows_b[min(i, rows_b.shape[0] - 1)]
        _look(a, at_a, q, q, 0.0, 1.0)
        _look(b, at_b, p, p, 0.0, 1.0)
        if _arms_meet(a, at_a, b, at_b, 0.0):
            return i
    return -1


@numba.njit(cache=True, error_model="numpy")
def _look(arm: Arm, at: Places, begin: FloatArray, end: FloatArray, low: float, high: float) -> None:
    """Place and bound an arm within the part `low` .. `high` of a straight motion."""
    for k in range(begin.size):
        at.half[k] = 0.5 * (high - low) * abs(end[k] - begin[k])
        at.middle[k] = begin[k] + 0.5 * (low + high) * (end[k] - begin[k])
    chords(arm, at.half, at.width)
    place(arm, at.middle, at)
    bound_links(arm, at)


@numba.njit(cache=True, error_model="numpy")
def _free_in_parts(
    a: Arm, at_a: Places, path_a: FloatArray, b: Arm, at_b: Places, path_b: FloatArray, margin: float
) -> bool:
    """True when a cell is proved free in `PARTS` x `PARTS` pieces; given up when its middle already collides."""
    _look(a, at_a, path_a[0], path_a[1], 0.5, 0.5)
    _look(b, at_b, path_b[0], path_b[1], 0.5, 0.5)
    if _arms_meet(a, at_a, b, at_b, margin):
        return False
    still_a, still_b = (path_a[0] == path_a[1]).all(), (path_b[0] == path_b[1]).all()
    for i in range(1 if still_a else PARTS):
        _look(a, at_a, path_a[0], path_a[1], 0.0 if still_a else i / PARTS, 1.0 if still_a else (i + 1) / PARTS)
        for j in range(1 if still_b else PARTS):
            _look(b, at_b, path_b[0], path_b[1], 0.0 if still_b else j / PARTS, 1.0 if still_b else (j + 1) / PARTS)
            if _arms_meet(a, at_a, b, at_b, margin):
                return False
    return True


def tick_times(timed: TimedPath, period: float) -> FloatArray:
    """Times [s] of the ticks of a path, every waypoint's among them, at most `period` [s] apart."""
    times = [0.0]
    for begin, end in pairwise(timed.times.tolist()):
        count = int(np.ceil((end - begin) / period - 1e-9))
        times += [begin + (end - begin) * k / count for k in range(1, count + 1)]
    return np.array(times)


def sampled(timed: TimedPath, period: float) -> FloatArray:
    """Configurations (ticks, n) [rad] along a timed path, every waypoint among them, at most `period` [s] apart."""
    return np.array([timed.at(t)[0] for t in tick_times(timed, period)])


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
    return coordinate_all([first, second], [timed_first, timed_second], margin, period, start_second)


def coordinate_all(
    geometries: Sequence[ArmGeometry],
    timed: Sequence[TimedPath],
    margin: float = 0.01,
    period: float = 0.02,
    start_last: int = 0,
) -> Schedule | None:
    """A schedule of any number of arms, the earlier ones in the list first; None when there is none.

    The last arm begins when the others are `start_last` ticks on their way.
    """
    return scheduled(unscheduled(geometries, timed, margin, period), start_last)


def unscheduled(
    geometries: Sequence[ArmGeometry], timed: Sequence[TimedPath], margin: float = 0.01, period: float = 0.02
) -> Schedule:
    """The planes of every two arms, without ticks yet. Raises InvalidValueError."""
    in_range(margin, "margin", 0.0, 0.5, "m")
    in_range(period, "period", 1e-3, 1.0, "s")
    times = tuple(tick_times(path, period) for path in timed)
    held = [_held(np.array([path.at(t)[0] for t in row])) for path, row in zip(timed, times, strict=True)]
    blocked = {
        (i, j): blocked_cells(geometries[i], held[i], geometries[j], held[j], margin)
        for i, j in combinations(range(len(timed)), 2)
    }
    return Schedule(period, np.zeros((0, len(timed)), dtype=np.int64), times, blocked)


def scheduled(planes: Schedule, start_last: int = 0) -> Schedule | None:
    """The quickest way through the planes; None when there is none."""
    ticks = np.arange(len(planes.times[0])).reshape(-1, 1)
    arms = len(planes.times)
    for k in range(1, arms):
        start = min(start_last, len(ticks) - 1) if k == arms - 1 else 0
        way = monotone(_against(ticks, [planes.blocked[i, k] for i in range(k)]), start)
        if way is None:
            return None
        ticks = np.column_stack([ticks[way[:, 0]], way[:, 1]])
    return replace(planes, ticks=ticks)


def first_meeting(first: ArmGeometry, path_first: FloatArray, second: ArmGeometry, path_second: FloatArray) -> int:
    """First row in which the balls of two arms overlap, both at the same row of their paths; -1: none."""
    a, b = first.arm, second.arm
    return int(_first_meeting(a, places_of(a), path_first, b, places_of(b), path_second))


def taking_turns(schedule: Schedule) -> Schedule | None:
    """The same two paths with one arm moving at a time, changing as seldom as it can; None where there is no way."""
    blocked = schedule.blocked[0, 1]
    left = _steps_left(blocked, False)
    ways = [way for first in (0, 1) if (way := _in_turns(blocked, left, first)) is not None]
    if not ways:
        return None
    ticks = min(ways, key=lambda way: int(np.count_nonzero(np.diff(np.diff(way[:, 0])))))
    return Schedule(schedule.period, ticks, schedule.times, schedule.blocked)


def _in_turns(blocked: BoolArray, left: npt.NDArray[np.int64], mover: int) -> npt.NDArray[np.int64] | None:
    """A way of single moves that stays with one arm while the end can be reached so."""
    if left[0, 0] >= NEVER:
        return None
    node = [0, 0]
    rows = [tuple(node)]
    while left[node[0], node[1]] > 0:
        for arm in (mover, 1 - mover):
            there = [node[0] + (arm == 0), node[1] + (arm == 1)]
            between = [2 * node[0] + (arm == 0), 2 * node[1] + (arm == 1)]
            within = there[0] < left.shape[0] and there[1] < left.shape[1]
            if within and not blocked[between[0], between[1]] and left[there[0], there[1]] < NEVER:
                node, mover = there, arm
                break
        rows.append(tuple(node))
    return np.array(rows, dtype=np.int64)


def _held(path: FloatArray) -> FloatArray:
    """Each tick twice: cells of rest (even) and of motion (odd) in turn."""
    return np.repeat(path, 2, axis=0)


def _against(ticks: npt.NDArray[np.int64], blocked: Sequence[BoolArray]) -> BoolArray:
    """Cells of the plane of a schedule (rows, arms) and one more arm, from its planes with each of those arms."""
    out = np.zeros((2 * len(ticks) - 1, blocked[0].shape[1]), dtype=np.bool_)
    for column, plane in enumerate(blocked):
        own = ticks[:, column]
        out[::2] |= plane[2 * own]
        out[1::2] |= plane[2 * own[:-1] + np.diff(own)]
    return out


def monotone(blocked: BoolArray, start: int = 0) -> npt.NDArray[np.int64] | None:
    """Shortest monotone way of ticks (m, 2) from (start, 0) to the end of a plane; None when there is none."""
    left = _steps_left(blocked, True)
    i, j = start, 0
    if left[i, j] >= NEVER:
        return None
    rows = [(i, j)]
    while left[i, j] > 0:
        for di, dj in ((1, 1), (1, 0), (0, 1)):
            within = i + di < left.shape[0] and j + dj < left.shape[1]
            free = within and (not blocked[2 * i + di, 2 * j + dj] if di + dj < 2 else _diagonal(blocked, i, j) > 0)
            if free and left[i + di, j + dj] == left[i, j] - 1:
                i, j = i + di, j + dj
                break
        rows.append((i, j))
    return np.array(rows, dtype=np.int64)


@numba.njit(cache=True, error_model="numpy")
def _diagonal(blocked: BoolArray, i: int, j: int) -> int:
    """Which arm may go first from ticks (i, j) to the next ones, 1 or 2, when both may also go at once; 0: none."""
    a, b = 2 * i, 2 * j
    if blocked[a + 1, b + 1] or blocked[a + 2, b + 2]:
        return 0
    if not (blocked[a + 1, b] or blocked[a + 2, b] or blocked[a + 2, b + 1]):
        return 1
    if not (blocked[a, b + 1] or blocked[a, b + 2] or blocked[a + 1, b + 2]):
        return 2
    return 0


def single_moves(blocked: BoolArray, ticks: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The way `ticks` (m, 2) with one arm moving at a time, as each step of both at once allows."""
    rows = [ticks[0]]
    for row, after in pairwise(ticks):
        if (after > row).all():
            rows.append(row + ([1, 0] if _diagonal(blocked, int(row[0]), int(row[1])) == 1 else [0, 1]))
        rows.append(after)
    return np.array(rows, dtype=np.int64)


@numba.njit(cache=True, error_model="numpy")
def _steps_left(blocked: BoolArray, together: bool) -> npt.NDArray[np.int64]:
    """Fewest steps from every pair of ticks to the last one, `NEVER` where there is no way."""
    n, m = (blocked.shape[0] + 1) // 2, (blocked.shape[1] + 1) // 2
    left = np.full((n, m), NEVER, dtype=np.int64)
    for i in range(n - 1, -1, -1):
        for j in range(m - 1, -1, -1):
            if blocked[2 * i, 2 * j]:
                continue
            if i == n - 1 and j == m - 1:
                left[i, j] = 0
            if together and i + 1 < n and j + 1 < m and _diagonal(blocked, i, j) > 0:
                left[i, j] = min(left[i, j], left[i + 1, j + 1] + 1)
            if i + 1 < n and not blocked[2 * i + 1, 2 * j]:
                left[i, j] = min(left[i, j], left[i + 1, j] + 1)
            if j + 1 < m and not blocked[2 * i, 2 * j + 1]:
                left[i, j] = min(left[i, j], left[i, j + 1] + 1)
            left[i, j] = min(left[i, j], NEVER)
    return left


def standing_obstacles(geometry: ArmGeometry, q: FloatArray, name: str, links: int | None = None) -> list[Obstacle]:
    """The balls of an arm standing at `q` as obstacles; of the first `links` links, default all."""
    arm = geometry.arm
    count = arm.ball_first[arm.link_first[links if links is not None else arm.link_radius.size]]
    centers = ball_centers(arm, q)
    return balls(name, [Ball(centers[b], float(arm.ball_radius[b])) for b in range(int(count))])


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
