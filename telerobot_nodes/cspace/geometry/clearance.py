"""Distances of a placed arm, and the proof that a cell of joint space is free, full or mixed: compiled.

A cell is a box in joint space: centre q, half widths h. A pair (sphere and obstacle, or two spheres) has the distance
d at q, margin subtracted, and comes at most m nearer inside the cell (`forward_kinematics`). If d > m for all pairs,
every configuration of the cell is free. If d < -m for one pair, every configuration collides.
"""

from __future__ import annotations

import math

import numba

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.cspace.geometry.distances import block_farther, distance, farther, square_distance
from telerobot_nodes.cspace.geometry.forward_kinematics import (
    Arm,
    LinkPoses,
    bound_links,
    chords,
    forward_kinematics,
    part_in_box,
    place_spheres,
    sphere_bound,
)
from telerobot_nodes.cspace.geometry.near_rows import (
    NearRows,
    near_rows_of,
    rows_near_group,
    rows_near_link,
    rows_of_nearest_block,
)
from telerobot_nodes.cspace.geometry.obstacles import BLOCK, World

ROUNDING = 1e-7  # [m] taken off every distance for what floating point may have added
FEW = 4  # blocks


@numba.njit(cache=True, error_model="numpy")
def bound_cell(arm: Arm, poses: LinkPoses, q: FloatArray, half: FloatArray) -> None:
    """Place the arm at `q` and bound its motion within the cell of half widths `half` (n,) [rad], into `poses`."""
    forward_kinematics(arm, q, poses)
    chords(arm, half, poses.width)
    bound_links(arm, poses)
    for i in range(q.size):
        poses.middle[i], poses.half[i] = q[i], half[i]


@numba.njit(cache=True, error_model="numpy")
def probe(arm: Arm, world: World, poses: LinkPoses, q: FloatArray, half: FloatArray) -> float:
    """The factor by which a cell must shrink to be proved free: 1: all of it is free; not above 0: its centre collides.

    The smallest d / m of all pairs, at most 1. Pairs that cannot lower the result so far are skipped early.
    """
    bound_cell(arm, poses, q, half)
    ratio, near = 1.0, near_rows_of(world)
    for k in range(q.size, arm.first_moving - 1, -1):
        gap = arm.link_radius[k] + ratio * poses.motion[k, k] + world.margin + ROUNDING
        blocks = rows_near_link(world, poses.link[k], arm.link_radius[k], gap, near)
        if blocks > 0:
            ratio = _probe_link(arm, world, poses, k, near, blocks, ratio)
            if ratio <= 0.0:
                return ratio
    part = part_in_box(arm, world.self_margin + ROUNDING, q, half)
    ratio = min(ratio, part) if part > 0.0 else ratio
    for row in range(arm.pairs.shape[0] - (arm.proved if part > 0.0 else 0)):
        a, b = arm.pairs[row, 0], arm.pairs[row, 1]
        gap = arm.body_radius[a] + arm.body_radius[b] + world.self_margin
        if not _apart(poses.body[a], poses.body[b], gap + ratio * _relative_motion(arm, poses, a, b)):
            ratio = _probe_pair(arm, world, poses, a, b, ratio)
            if ratio <= 0.0:
                return ratio
    return ratio


@numba.njit(cache=True, error_model="numpy")
def _probe_link(arm: Arm, world: World, poses: LinkPoses, k: int, near: NearRows, blocks: int, ratio: float) -> float:
    """The smaller of `ratio` and the least d / m of the spheres of link `k` against the rows near it."""
    place_spheres(arm, poses, k)
    most = poses.motion[k, k]
    keep = world.margin + ROUNDING
    for g in range(arm.link_first[k], arm.link_first[k + 1]):
        gap = arm.group_radius[g] + ratio * most + keep
        count = rows_near_group(world, poses.group[g], arm.group_body[g], gap, near, blocks)
        for b in range(arm.sphere_first[g], arm.sphere_first[g + 1] if count > 0 else 0):
            gap, bound = arm.sphere_radius[b] + keep, -1.0
            for i in range(count):
                o = near.of_group[i]
                if farther(world, o, poses.sphere[b], gap + ratio * most):
                    continue
                d = distance(world, o, poses.sphere[b]) - gap
                if d >= ratio * most:
                    continue
                if d <= 0.0:
                    return float(d)
                if bound < 0.0:
                    bound = sphere_bound(arm, poses, b, 0, k)
                if d < ratio * bound:
                    ratio = d / bound
    return ratio


@numba.njit(cache=True, error_model="numpy")
def _center_distance(a: FloatArray, b: FloatArray) -> float:
    return math.sqrt(square_distance(a, b))


@numba.njit(cache=True, error_model="numpy")
def _apart(a: FloatArray, b: FloatArray, gap: float) -> bool:
    """True when two points are certainly more than `gap` [m] apart."""
    gap += ROUNDING
    return bool(square_distance(a, b) > gap * gap)


@numba.njit(cache=True, error_model="numpy")
def _relative_motion(arm: Arm, poses: LinkPoses, a: int, b: int) -> float:
    """Bound [m] on the motion of body `b` in the frame of body `a` within the cell."""
    link = arm.body_link[b]
    return float(poses.motion[link, link] - poses.motion[link, arm.body_link[a]])


@numba.njit(cache=True, error_model="numpy")
def _probe_pair(arm: Arm, world: World, poses: LinkPoses, a: int, b: int, ratio: float) -> float:
    """The smaller of `ratio` and the least d / m of two bodies of one arm."""
    place_spheres(arm, poses, arm.body_link[a])
    place_spheres(arm, poses, arm.body_link[b])
    most = _relative_motion(arm, poses, a, b)
    keep = world.self_margin + ROUNDING
    for h in range(arm.body_first[b], arm.body_first[b + 1]):
        if _apart(poses.body[a], poses.group[h], arm.body_radius[a] + arm.group_radius[h] + ratio * most + keep):
            continue
        for g in range(arm.body_first[a], arm.body_first[a + 1]):
            if _apart(poses.group[g], poses.group[h], arm.group_radius[g] + arm.group_radius[h] + ratio * most + keep):
                continue
            for i in range(arm.sphere_first[h], arm.sphere_first[h + 1]):
                reach = arm.sphere_radius[i] + keep
                if _apart(poses.group[g], poses.sphere[i], arm.group_radius[g] + reach + ratio * most):
                    continue
                bound = -1.0
                for j in range(arm.sphere_first[g], arm.sphere_first[g + 1]):
                    if _apart(poses.sphere[j], poses.sphere[i], arm.sphere_radius[j] + reach + ratio * most):
                        continue
                    d = _center_distance(poses.sphere[j], poses.sphere[i]) - arm.sphere_radius[j] - reach
                    if d <= 0.0:
                        return float(d)
                    if bound < 0.0:
                        bound = sphere_bound(arm, poses, i, arm.body_link[a], arm.body_link[b])
                    if d < ratio * bound:
                        ratio = d / bound
    return ratio


@numba.njit(cache=True, error_model="numpy")
def touches(arm: Arm, world: World, poses: LinkPoses, thing: int) -> tuple[bool, bool]:
    """Two answers: obstacle `thing` may touch the arm somewhere in the cell; it does everywhere. After `bound_cell`."""
    may = False
    first, last = world.first[thing], world.first[thing + 1]
    for block in range(first // BLOCK, (last + BLOCK - 1) // BLOCK):
        if not _block_near(arm, world, poses, block):
            continue
        for o in range(max(first, BLOCK * block), min(last, BLOCK * (block + 1))):
            one, everywhere = _row_touches(arm, world, poses, o, may)
            if everywhere:
                return True, True
            may = may or one
    return may, False


@numba.njit(error_model="numpy", inline="always")
def _block_near(arm: Arm, world: World, poses: LinkPoses, block: int) -> bool:
    """True when a row of a block may touch a link somewhere in the cell."""
    for k in range(arm.first_moving, arm.link_radius.size):
        gap = arm.link_radius[k] + poses.motion[k, k] + world.margin + ROUNDING
        if not block_farther(world, block, poses.link[k], gap):
            return True
    return False


@numba.njit(error_model="numpy", inline="always")
def _row_touches(arm: Arm, world: World, poses: LinkPoses, o: int, may: bool) -> tuple[bool, bool]:
    """`touches` for one row of the world; `may`: what is known already."""
    for k in range(arm.first_moving, arm.link_radius.size):
        most = poses.motion[k, k]
        gap = arm.link_radius[k] + world.margin + ROUNDING + (0.0 if may else most)
        if farther(world, o, poses.link[k], gap) or distance(world, o, poses.link[k]) >= gap:
            continue
        place_spheres(arm, poses, k)
        for g in range(arm.link_first[k], arm.link_first[k + 1]):
            if world.allowed[o] >> arm.group_body[g] & 1:
                continue
            for b in range(arm.sphere_first[g], arm.sphere_first[g + 1]):
                d = distance(world, o, poses.sphere[b]) - arm.sphere_radius[b] - world.margin
                if d - ROUNDING >= most:
                    continue
                bound = sphere_bound(arm, poses, b, 0, k)
                if d + ROUNDING < -bound:
                    return True, True
                may = may or d - ROUNDING < bound
    return may, False


@numba.njit(cache=True, error_model="numpy")
def touches_itself(arm: Arm, world: World, poses: LinkPoses) -> tuple[bool, bool]:
    """Two answers: the arm may touch itself somewhere in the cell; it does everywhere. After `bound_cell`."""
    may, first = False, arm.pairs.shape[0] - arm.proved
    part = part_in_box(arm, world.self_margin + ROUNDING, poses.middle, poses.half)
    for row in range(first if part == 1.0 else arm.pairs.shape[0]):
        a, b = arm.pairs[row, 0], arm.pairs[row, 1]
        most = _relative_motion(arm, poses, a, b)
        keep = world.self_margin
        if _apart(poses.body[a], poses.body[b], arm.body_radius[a] + arm.body_radius[b] + most + keep):
            continue
        place_spheres(arm, poses, arm.body_link[a])
        place_spheres(arm, poses, arm.body_link[b])
        for i in range(arm.sphere_first[arm.body_first[b]], arm.sphere_first[arm.body_first[b + 1]]):
            bound = sphere_bound(arm, poses, i, arm.body_link[a], arm.body_link[b])
            for j in range(arm.sphere_first[arm.body_first[a]], arm.sphere_first[arm.body_first[a + 1]]):
                d = (
                    _center_distance(poses.sphere[j], poses.sphere[i])
                    - arm.sphere_radius[j]
                    - arm.sphere_radius[i]
                    - keep
                )
                if d + ROUNDING < -bound and row < first:
                    return True, True
                may = may or d - ROUNDING < bound
    return may, False


@numba.njit(cache=True, error_model="numpy")
def _nearest_of_link(
    arm: Arm, world: World, poses: LinkPoses, k: int, near: NearRows, blocks: int, least: float
) -> tuple[float, int, int]:
    """Smallest distance [m] below `least` of the spheres of link `k` to the rows near it; sphere, -1: none; row."""
    sphere, row = -1, 0
    place_spheres(arm, poses, k)
    for g in range(arm.link_first[k], arm.link_first[k + 1]):
        gap = arm.group_radius[g] + world.margin + least
        count = rows_near_group(world, poses.group[g], arm.group_body[g], gap, near, blocks)
        for b in range(arm.sphere_first[g], arm.sphere_first[g + 1] if count > 0 else 0):
            gap = arm.sphere_radius[b] + world.margin
            for i in range(count):
                o = near.of_group[i]
                if farther(world, o, poses.sphere[b], max(gap + least, 0.0)):
                    continue
                d = distance(world, o, poses.sphere[b]) - gap
                if d < least:
                    least, sphere, row = d, b, o
    return least, sphere, row


@numba.njit(cache=True, error_model="numpy")
def _nearest_row(arm: Arm, world: World, poses: LinkPoses, cap: float) -> tuple[float, int, int]:
    """Smallest distance [m] up to `cap` to obstacles; the sphere, -1: none; the row."""
    near, least, sphere, other = near_rows_of(world), cap, -1, 0
    passes = 2 if world.blocks.shape[0] > FEW else 1
    for turn in range(passes):  # where there are many, the nearest block of each link leaves little of the others
        for k in range(arm.first_moving, arm.link_radius.size):
            if turn < passes - 1:
                blocks = rows_of_nearest_block(world, poses.link[k], near)
            else:
                gap = arm.link_radius[k] + world.margin + least
                blocks = rows_near_link(world, poses.link[k], arm.link_radius[k], gap, near)
            if blocks > 0:
                d, b, o = _nearest_of_link(arm, world, poses, k, near, blocks, least)
                if b >= 0:
                    least, sphere, other = d, b, o
    return least, sphere, other


@numba.njit(cache=True, error_model="numpy")
def nearest(arm: Arm, world: World, poses: LinkPoses, q: FloatArray, cap: float) -> tuple[float, int, int]:
    """Smallest distance [m] up to `cap`, margins subtracted; the sphere, -1: none; the row, or -1 - other sphere.

    Below 0: collision.
    """
    forward_kinematics(arm, q, poses)
    least, sphere, other = _nearest_row(arm, world, poses, cap)
    first, poses.half[:] = arm.pairs.shape[0], 0.0
    if part_in_box(arm, world.self_margin + ROUNDING, q, poses.half) > 0.0:
        first -= arm.proved
    for row in range(arm.pairs.shape[0]):
        known = arm.apart - world.self_margin if row >= first else -math.inf
        a, b = arm.pairs[row, 0], arm.pairs[row, 1]
        if (
            _center_distance(poses.body[a], poses.body[b]) - arm.body_radius[a] - arm.body_radius[b] - world.self_margin
            >= least
        ):
            continue
        place_spheres(arm, poses, arm.body_link[a])
        place_spheres(arm, poses, arm.body_link[b])
        for i in range(arm.sphere_first[arm.body_first[b]], arm.sphere_first[arm.body_first[b + 1]]):
            for j in range(arm.sphere_first[arm.body_first[a]], arm.sphere_first[arm.body_first[a + 1]]):
                d = (
                    _center_distance(poses.sphere[j], poses.sphere[i])
                    - arm.sphere_radius[j]
                    - arm.sphere_radius[i]
                    - world.self_margin
                )
                if max(d, known) < least:
                    least, sphere, other = max(d, known), i, -1 - j
    return least - ROUNDING, sphere, other


@numba.njit(cache=True, error_model="numpy")
def clearance(arm: Arm, world: World, poses: LinkPoses, q: FloatArray) -> float:
    """Smallest distance [m] of the spheres at `q`, margins taken off; 1 m where it is more. Below 0: collision."""
    return nearest(arm, world, poses, q, 1.0)[0]


@numba.njit(cache=True, error_model="numpy")
def all_free(arm: Arm, world: World, poses: LinkPoses, rows: FloatArray) -> bool:
    """True when the spheres touch nothing at any of the configurations (k, n)."""
    row = 0
    while row < rows.shape[0] and nearest(arm, world, poses, rows[row], 2.0 * ROUNDING)[0] > 0.0:
        row += 1
    return bool(row == rows.shape[0])


@numba.njit(cache=True, error_model="numpy")
def least_clearance(arm: Arm, world: World, poses: LinkPoses, rows: FloatArray) -> float:
    """Smallest `clearance` [m] of configurations (k, n)."""
    least = 1.0
    for i in range(rows.shape[0]):
        least = min(least, nearest(arm, world, poses, rows[i], least + ROUNDING)[0])
    return least
