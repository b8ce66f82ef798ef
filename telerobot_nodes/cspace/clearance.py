"""Proof that a cell of configurations is free, full or mixed, from distances at its centre: compiled.

A cell is a box in joint space: centre q, half widths h. A pair (ball and obstacle, or ball and ball) has the distance
d at q and comes at most m nearer inside the cell (`placing`). All pairs d > m: every configuration of the cell is
free. One pair d < -m: every configuration collides. Distances have the margin taken off already.
"""

from __future__ import annotations

import math

import numba

from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.cspace.distances import distance, farther
from telerobot_nodes.cspace.obstacles import World
from telerobot_nodes.cspace.placing import Arm, Places, ball_bound, bound_links, chords, place, place_link

ROUNDING = 1e-7  # [m] taken off every distance for what floating point may have added
SELF_BIT = 63  # bit of the mask that stands for the arm itself
LAST_BIT = 62  # obstacles from this one on share a bit


@numba.njit(cache=True, error_model="numpy")
def look(arm: Arm, at: Places, q: FloatArray, half: FloatArray) -> None:
    """Place the arm at `q` and bound its motion within the cell of half widths `half`, for what follows."""
    place(arm, q, at)
    chords(arm, half, at.width)
    bound_links(arm, at)


@numba.njit(cache=True, error_model="numpy")
def probe(arm: Arm, world: World, at: Places, q: FloatArray, half: FloatArray) -> float:
    """How much of a cell is free: 1: all of it. Below, the cell shrunk by this factor is free.

    Not above 0: the centre collides. The smallest d / m of all pairs, taken as 1 where it is more: pairs that cannot
    lower what was found so far are left out early.
    """
    look(arm, at, q, half)
    ratio = 1.0
    for k in range(q.size, arm.first_moving - 1, -1):
        for o in range(world.reach.size):
            gap = arm.link_radius[k] + ratio * at.motion[k, k] + world.margin + ROUNDING
            if farther(world, o, at.link[k], gap) or distance(world, o, at.link[k]) >= gap:
                continue
            ratio = _probe_link(arm, world, at, k, o, ratio)
            if ratio <= 0.0:
                return ratio
    for row in range(arm.pairs.shape[0]):
        a, b = arm.pairs[row, 0], arm.pairs[row, 1]
        gap = arm.link_radius[a] + arm.link_radius[b] + world.self_margin
        if not _apart(at.link[a], at.link[b], gap + ratio * (at.motion[b, b] - at.motion[b, a])):
            ratio = _probe_pair(arm, world, at, a, b, ratio)
            if ratio <= 0.0:
                return ratio
    return ratio


@numba.njit(cache=True, error_model="numpy")
def _probe_link(arm: Arm, world: World, at: Places, k: int, o: int, ratio: float) -> float:
    """The smaller of `ratio` and the least d / m of the balls of link `k` against obstacle `o`."""
    place_link(arm, at, k)
    most = at.motion[k, k]
    keep = world.margin + ROUNDING
    for g in range(arm.link_first[k], arm.link_first[k + 1]):
        gap = arm.group_radius[g] + ratio * most + keep
        if farther(world, o, at.group[g], gap) or distance(world, o, at.group[g]) >= gap:
            continue
        for b in range(arm.ball_first[g], arm.ball_first[g + 1]):
            gap = arm.ball_radius[b] + keep
            if farther(world, o, at.ball[b], gap + ratio * most):
                continue
            d = distance(world, o, at.ball[b]) - gap
            if d >= ratio * most:
                continue
            if d <= 0.0:
                return float(d)
            bound = ball_bound(arm, at, b, 0, k)
            if d < ratio * bound:
                ratio = d / bound
    return ratio


@numba.njit(cache=True, error_model="numpy")
def _gap(a: FloatArray, b: FloatArray) -> float:
    d0, d1, d2 = a[0] - b[0], a[1] - b[1], a[2] - b[2]
    return math.sqrt(d0 * d0 + d1 * d1 + d2 * d2)


@numba.njit(cache=True, error_model="numpy")
def _apart(a: FloatArray, b: FloatArray, gap: float) -> bool:
    """True when two points are certainly more than `gap` [m] apart."""
    d0, d1, d2 = a[0] - b[0], a[1] - b[1], a[2] - b[2]
    gap += ROUNDING
    return bool(d0 * d0 + d1 * d1 + d2 * d2 > gap * gap)


@numba.njit(cache=True, error_model="numpy")
def _probe_pair(arm: Arm, world: World, at: Places, a: int, b: int, ratio: float) -> float:
    """The smaller of `ratio` and the least d / m of two links of one arm."""
    place_link(arm, at, a)
    place_link(arm, at, b)
    most = at.motion[b, b] - at.motion[b, a]
    keep = world.self_margin + ROUNDING
    for h in range(arm.link_first[b], arm.link_first[b + 1]):
        if _apart(at.link[a], at.group[h], arm.link_radius[a] + arm.group_radius[h] + ratio * most + keep):
            continue
        for g in range(arm.link_first[a], arm.link_first[a + 1]):
            if _apart(at.group[g], at.group[h], arm.group_radius[g] + arm.group_radius[h] + ratio * most + keep):
                continue
            for i in range(arm.ball_first[h], arm.ball_first[h + 1]):
                reach = arm.ball_radius[i] + keep
                if _apart(at.group[g], at.ball[i], arm.group_radius[g] + reach + ratio * most):
                    continue
                bound = -1.0
                for j in range(arm.ball_first[g], arm.ball_first[g + 1]):
                    if _apart(at.ball[j], at.ball[i], arm.ball_radius[j] + reach + ratio * most):
                        continue
                    d = _gap(at.ball[j], at.ball[i]) - arm.ball_radius[j] - reach
                    if d <= 0.0:
                        return float(d)
                    if bound < 0.0:
                        bound = ball_bound(arm, at, i, a, b)
                    if d < ratio * bound:
                        ratio = d / bound
    return ratio


@numba.njit(cache=True, error_model="numpy")
def touches(arm: Arm, world: World, at: Places, o: int) -> tuple[bool, bool]:
    """Whether obstacle `o` may touch the arm somewhere in the cell, and whether it does everywhere. After `look`."""
    may = False
    for k in range(arm.first_moving, arm.link_radius.size):
        most = at.motion[k, k]
        gap = arm.link_radius[k] + most + world.margin + ROUNDING
        if farther(world, o, at.link[k], gap) or distance(world, o, at.link[k]) >= gap:
            continue
        place_link(arm, at, k)
        for b in range(arm.ball_first[arm.link_first[k]], arm.ball_first[arm.link_first[k + 1]]):
            d = distance(world, o, at.ball[b]) - arm.ball_radius[b] - world.margin
            if d - ROUNDING >= most:
                continue
            bound = ball_bound(arm, at, b, 0, k)
            if d + ROUNDING < -bound:
                return True, True
            may = may or d - ROUNDING < bound
    return may, False


@numba.njit(cache=True, error_model="numpy")
def touches_itself(arm: Arm, world: World, at: Places) -> tuple[bool, bool]:
    """Whether the arm may touch itself somewhere in the cell, and whether it does everywhere. After `look`."""
    may = False
    for row in range(arm.pairs.shape[0]):
        a, b = arm.pairs[row, 0], arm.pairs[row, 1]
        most = at.motion[b, b] - at.motion[b, a]
        keep = world.self_margin
        if _apart(at.link[a], at.link[b], arm.link_radius[a] + arm.link_radius[b] + most + keep):
            continue
        place_link(arm, at, a)
        place_link(arm, at, b)
        for i in range(arm.ball_first[arm.link_first[b]], arm.ball_first[arm.link_first[b + 1]]):
            bound = ball_bound(arm, at, i, a, b)
            for j in range(arm.ball_first[arm.link_first[a]], arm.ball_first[arm.link_first[a + 1]]):
                d = _gap(at.ball[j], at.ball[i]) - arm.ball_radius[j] - arm.ball_radius[i] - keep
                if d + ROUNDING < -bound:
                    return True, True
                may = may or d - ROUNDING < bound
    return may, False


@numba.njit(cache=True, error_model="numpy")
def nearest(arm: Arm, world: World, at: Places, q: FloatArray, cap: float) -> tuple[float, int, int]:
    """Smallest distance [m] up to `cap`, margins taken off; the ball and what it is near to.

    An obstacle o counts as o, a ball j of the same arm as -1 - j. Below 0: collision.
    """
    place(arm, q, at)
    least, ball, other = cap, -1, 0
    for k in range(arm.first_moving, arm.link_radius.size):
        for o in range(world.reach.size):
            gap = arm.link_radius[k] + world.margin + least
            if farther(world, o, at.link[k], max(gap, 0.0)) or distance(world, o, at.link[k]) >= gap:
                continue
            place_link(arm, at, k)
            for b in range(arm.ball_first[arm.link_first[k]], arm.ball_first[arm.link_first[k + 1]]):
                d = distance(world, o, at.ball[b]) - arm.ball_radius[b] - world.margin
                if d < least:
                    least, ball, other = d, b, o
    for row in range(arm.pairs.shape[0]):
        a, b = arm.pairs[row, 0], arm.pairs[row, 1]
        if _gap(at.link[a], at.link[b]) - arm.link_radius[a] - arm.link_radius[b] - world.self_margin >= least:
            continue
        place_link(arm, at, a)
        place_link(arm, at, b)
        for i in range(arm.ball_first[arm.link_first[b]], arm.ball_first[arm.link_first[b + 1]]):
            for j in range(arm.ball_first[arm.link_first[a]], arm.ball_first[arm.link_first[a + 1]]):
                d = _gap(at.ball[j], at.ball[i]) - arm.ball_radius[j] - arm.ball_radius[i] - world.self_margin
                if d < least:
                    least, ball, other = d, i, -1 - j
    return least - ROUNDING, ball, other


@numba.njit(cache=True, error_model="numpy")
def clearance(arm: Arm, world: World, at: Places, q: FloatArray) -> float:
    """Smallest distance [m] of the balls at `q`, margins taken off; 1 m where it is more. Below 0: collision."""
    return nearest(arm, world, at, q, 1.0)[0]


@numba.njit(cache=True, error_model="numpy")
def least_clearance(arm: Arm, world: World, at: Places, rows: FloatArray) -> float:
    """Smallest `clearance` [m] of configurations (k, n)."""
    least = 1.0
    for i in range(rows.shape[0]):
        least = min(least, nearest(arm, world, at, rows[i], least + ROUNDING)[0])
    return least
