"""Continuous collision check of sixteen straight motions at once: compiled, in single precision.

Each motion is proved free by the bound on motion of `batch_kinematics`, without sampling [SchwarzerSahaLatombe2005].
Used by the search; certificates are made in double precision. The caller keeps a reserve for both differences.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from telerobot_nodes.cspace.geometry import BLOCK, BOX, CYLINDER, SPHERE, World
from telerobot_nodes.cspace.simd.batch_kinematics import (
    BODY,
    CENTER,
    RECENT,
    Arm32,
    Batch,
    SingleArray,
    batch_forward_kinematics,
    place_point,
    place_sphere,
    store_vector,
)
from telerobot_nodes.cspace.simd.simd16 import (
    LANES,
    absolute,
    broadcast,
    less_mask,
    load,
    maximum,
    minimum,
    noinline,
    sqrt,
    store,
    where_less,
)

COLLIDES = -1
GONE = 1e9  # [m] no obstacle is that near to lanes that collide already
ALL = (1 << LANES) - 1


@numba.njit(cache=True, error_model="numpy")
def outside_distance(kind: int, row: SingleArray, px: Any, py: Any, pz: Any) -> Any:
    """Distance [m] of points from an obstacle; 0 (half-space: below) inside."""
    x, y, z = px - row[0], py - row[1], pz - row[2]
    along = x * row[5] + y * row[8] + z * row[11]
    if kind == BOX:
        a = maximum(absolute(x * row[3] + y * row[6] + z * row[9]) - row[12], 0.0)
        b = maximum(absolute(x * row[4] + y * row[7] + z * row[10]) - row[13], 0.0)
        c = maximum(absolute(along) - row[14], 0.0)
        return sqrt(a * a + b * b + c * c)
    if kind == SPHERE:
        return sqrt(x * x + y * y + z * z) - row[12]
    if kind == CYLINDER:
        a = maximum(sqrt(maximum(x * x + y * y + z * z - along * along, 0.0)) - row[12], 0.0)
        c = maximum(absolute(along) - row[13], 0.0)
        return sqrt(a * a + c * c)
    return along


@numba.njit(cache=True, error_model="numpy")
def distance_and_speed(kind: int, row: SingleArray, px: Any, py: Any, pz: Any, vx: Any, vy: Any, vz: Any) -> Any:
    """`outer_gap`, and how fast it changes with the velocity of the points, unsigned."""
    x, y, z = px - row[0], py - row[1], pz - row[2]
    along = x * row[5] + y * row[8] + z * row[11]
    rising = vx * row[5] + vy * row[8] + vz * row[11]
    if kind == BOX:
        u = x * row[3] + y * row[6] + z * row[9]
        v = x * row[4] + y * row[7] + z * row[10]
        du = vx * row[3] + vy * row[6] + vz * row[9]
        dv = vx * row[4] + vy * row[7] + vz * row[10]
        a = maximum(u - row[12], 0.0) + minimum(u + row[12], 0.0)
        b = maximum(v - row[13], 0.0) + minimum(v + row[13], 0.0)
        c = maximum(along - row[14], 0.0) + minimum(along + row[14], 0.0)
        d = sqrt(a * a + b * b + c * c)
        return d, absolute(a * du + b * dv + c * rising) / maximum(d, 1e-6)
    if kind == SPHERE:
        d = sqrt(x * x + y * y + z * z)
        return d - row[12], absolute(x * vx + y * vy + z * vz) / maximum(d, 1e-6)
    if kind == CYLINDER:
        across = sqrt(maximum(x * x + y * y + z * z - along * along, 0.0))
        outward = (x * vx + y * vy + z * vz - along * rising) / maximum(across, 1e-6)
        a = maximum(across - row[12], 0.0)
        c = maximum(along - row[13], 0.0) + minimum(along + row[13], 0.0)
        d = sqrt(a * a + c * c)
        return d, absolute(a * outward + c * rising) / maximum(d, 1e-6)
    return along, absolute(rising)


@numba.njit(cache=True, error_model="numpy")
def check_batch(arm32: Arm32, world: World, batch: Batch, reserve: float, padding: float, stop: bool) -> int:
    """Check the motions of the batch; bits of the lanes that are not free throughout.

    Lane i moves by t `batch.delta` from `batch.q`, t = -half .. half. A place is free when `reserve` [m] beyond the
    world's margins is left. `batch.ratio`: the part of each motion that is free, `padding` [m] more being wanted;
    not above 0: its middle collides. `stop`: return COLLIDES as soon as one middle collides.
    """
    noinline()
    batch_forward_kinematics(arm32, batch)
    store(batch.ratio, 0, broadcast(1.0))
    if stop and _recent_collides(arm32, world, batch, reserve):
        return COLLIDES
    for link in range(batch.delta.size, arm32.first_moving - 1, -1):
        blocks = _near_obstacles(arm32, world, batch, link, reserve, padding)
        if blocks > 0:
            _check_link(arm32, world, batch, link, blocks, reserve, padding)
            if _given_up(batch, stop):
                return COLLIDES
    if arm32.proved > 0:
        _check_proved_pairs(arm32, world, batch, reserve, padding)
        if _given_up(batch, stop):
            return COLLIDES
    for row in range(arm32.pairs.shape[0] - arm32.proved):
        if _pair_near(arm32, world, batch, row, reserve, padding):
            _check_pair(arm32, world, batch, row, reserve, padding)
            if _given_up(batch, stop):
                return COLLIDES
    return int(less_mask(load(batch.ratio, 0), 1.0))


@numba.njit(cache=True, error_model="numpy")
def _check_proved_pairs(arm32: Arm32, world: World, batch: Batch, reserve: float, padding: float) -> None:
    """Check the last pairs by their spheres, in those lanes that do not stay where they are proved to be apart."""
    over, half = broadcast(-1.0), load(batch.half, 0)  # [rad] beyond the box
    for i in range(batch.delta.size):
        if arm32.box[i, 1] < np.inf:
            away = absolute(load(batch.q, i) - arm32.box[i, 0]) + half * abs(batch.delta[i])
            over = maximum(over, away - arm32.box[i, 1])
    if world.self_margin + reserve + padding > arm32.apart:
        over = broadcast(1.0)
    if less_mask(over * -1.0, 0.0) == 0:
        return
    ratio, recent = load(batch.ratio, 0), batch.recent.copy()
    for row in range(arm32.pairs.shape[0] - arm32.proved, arm32.pairs.shape[0]):
        if _pair_near(arm32, world, batch, row, reserve, padding):
            _check_pair(arm32, world, batch, row, reserve, padding)
    store(batch.ratio, 0, where_less(over * -1.0, 0.0, load(batch.ratio, 0), ratio))
    batch.recent[:] = recent  # inside the box their spheres may overlap


@numba.njit(cache=True, error_model="numpy")
def _given_up(batch: Batch, stop: bool) -> bool:
    """True when one lane collides and `stop`, or all do."""
    hit = less_mask(load(batch.ratio, 0), 0.0)
    return bool(hit != 0 and (stop or hit == ALL))


@numba.njit(cache=True, error_model="numpy")
def _recent_collides(arm32: Arm32, world: World, batch: Batch, reserve: float) -> bool:
    """True when one of the pairs that collided last does again; it becomes the first of them."""
    for place in range(batch.recent.shape[0]):
        sphere, obstacle = batch.recent[place, 0], batch.recent[place, 1]
        if sphere < 0:
            return False
        radius = arm32.sphere[sphere, 3]
        x, y, z, _, _, _ = place_sphere(batch.link, arm32.sphere_link[sphere], arm32.sphere[sphere])
        if obstacle >= 0:
            if obstacle >= world.kind.size or world.allowed[obstacle] != 0:
                continue
            distance = outside_distance(world.kind[obstacle], world.rows[obstacle], x, y, z)
            hit = less_mask(distance, radius + world.margin + reserve)
        else:
            other = -1 - obstacle
            u, v, w, _, _, _ = place_sphere(batch.link, arm32.sphere_link[other], arm32.sphere[other])
            distance = sqrt((x - u) * (x - u) + (y - v) * (y - v) + (z - w) * (z - w))
            hit = less_mask(distance, radius + arm32.sphere[other, 3] + world.self_margin + reserve)
        if hit != 0:
            _remember(batch, sphere, obstacle, place)
            return True
    return False


@numba.njit(cache=True, error_model="numpy")
def _remember(batch: Batch, sphere: int, obstacle: int, place: int) -> None:
    """Move a pair to the front; the pair at `place` goes."""
    for i in range(place, 0, -1):
        batch.recent[i] = batch.recent[i - 1]
    batch.recent[0, 0], batch.recent[0, 1] = sphere, obstacle


@numba.njit(cache=True, error_model="numpy")
def _near_obstacles(arm32: Arm32, world: World, batch: Batch, link: int, reserve: float, padding: float) -> int:
    """The obstacles that `link` may come near to into `batch.near`; the number of their blocks.

    Those of blocks smaller than the link are not looked at one by one: most of them would be near.
    """
    body = BODY * link
    x, y, z = load(batch.body, body), load(batch.body, body + 1), load(batch.body, body + 2)
    moves = load(batch.half, 0) * load(batch.body, body + 3) + padding
    ratio = load(batch.ratio, 0)
    reach = where_less(ratio, 0.0, -GONE, ratio * moves + (arm32.link[link, 3] + world.margin + reserve))
    blocks, count = 0, 0
    for block in range(world.blocks32.shape[0]):
        if not _block_near(world, block, x, y, z, reach):
            continue
        small, before = world.blocks32[block, 3] < arm32.link[link, 3], count
        for obstacle in range(BLOCK * block, min(BLOCK * (block + 1), world.kind.size)):
            kind, row = world.kind[obstacle], world.rows[obstacle]
            if small or less_mask(outside_distance(kind, row, x, y, z), reach) != 0:
                batch.near[count] = obstacle
                count += 1
        if count > before:
            batch.near_block[blocks, 0], batch.near_block[blocks, 1] = block, count
            blocks += 1
    return blocks


@numba.njit(error_model="numpy", inline="always")
def _block_near(world: World, block: int, x: Any, y: Any, z: Any, reach: Any) -> bool:
    """True when a block may have an obstacle nearer than `reach` [m] to one of the points."""
    sphere = world.blocks32[block]
    u, v, w, limit = x - sphere[0], y - sphere[1], z - sphere[2], maximum(reach + sphere[3], 0.0)
    return bool(less_mask(u * u + v * v + w * w, limit * limit) != 0)


@numba.njit(error_model="numpy", inline="always")
def _near_group(
    arm32: Arm32, world: World, batch: Batch, group: int, blocks: int, x: Any, y: Any, z: Any, reach: Any
) -> int:
    """Those obstacles of `batch.near` that are nearer than `reach` [m] to a group, into `near_group`; their number."""
    found, i = 0, 0
    for j in range(blocks):
        end = batch.near_block[j, 1]
        if not _block_near(world, batch.near_block[j, 0], x, y, z, reach):
            i = end
        while i < end:
            obstacle = batch.near[i]
            i += 1
            if world.allowed[obstacle] >> arm32.group_body[group] & 1:
                continue
            if less_mask(outside_distance(world.kind[obstacle], world.rows[obstacle], x, y, z), reach) != 0:
                batch.near_group[found] = obstacle
                found += 1
    return found


@numba.njit(cache=True, error_model="numpy")
def _check_link(
    arm32: Arm32, world: World, batch: Batch, link: int, blocks: int, reserve: float, padding: float
) -> None:
    """Check the spheres of `link` against the obstacles of `batch.near`, group by group."""
    half = load(batch.half, 0)
    bend = half * (0.5 * batch.curve[link])
    for group in range(arm32.link_first[link], arm32.link_first[link + 1]):
        body = arm32.group[group]
        x, y, z, speed = place_point(batch.link, link, body)
        ratio = load(batch.ratio, 0)
        moves = ratio * (half * (speed + bend) + padding)
        reach = where_less(ratio, 0.0, -GONE, moves + (body[3] + world.margin + reserve))
        found = _near_group(arm32, world, batch, group, blocks, x, y, z, reach)
        if found > 0:
            for sphere in range(arm32.sphere_first[group], arm32.sphere_first[group + 1]):
                _check_sphere(arm32, world, batch, link, sphere, found, reserve, padding)


@numba.njit(cache=True, error_model="numpy")
def _check_sphere(
    arm32: Arm32, world: World, batch: Batch, link: int, sphere: int, found: int, reserve: float, padding: float
) -> None:
    """Check one sphere against the first `found` obstacles of `batch.near_group`."""
    half = load(batch.half, 0)
    bend = half * (0.5 * batch.curve[link])
    contact = arm32.sphere[sphere, 3] + world.margin + reserve
    x, y, z, vx, vy, vz = place_sphere(batch.link, link, arm32.sphere[sphere])
    ratio = load(batch.ratio, 0)
    for i in range(found):
        obstacle = batch.near_group[i]
        distance, speed = distance_and_speed(world.kind[obstacle], world.rows[obstacle], x, y, z, vx, vy, vz)
        ratio = minimum(ratio, (distance - contact) / maximum(half * (speed + bend) + padding, 1e-6))
        if less_mask(distance, contact) != 0:
            _remember(batch, sphere, obstacle, RECENT - 1)
    store(batch.ratio, 0, ratio)


@numba.njit(cache=True, error_model="numpy")
def _pair_near(arm32: Arm32, world: World, batch: Batch, row: int, reserve: float, padding: float) -> bool:
    """True when the two bodies of a pair may come near to each other."""
    first, second = arm32.pairs[row, 0], arm32.pairs[row, 1]
    a, b = CENTER * first, CENTER * second
    x = load(batch.center, a) - load(batch.center, b)
    y = load(batch.center, a + 1) - load(batch.center, b + 1)
    z = load(batch.center, a + 2) - load(batch.center, b + 2)
    contact = arm32.body[first, 3] + arm32.body[second, 3] + world.self_margin + reserve
    ratio = load(batch.ratio, 0)
    reach = where_less(ratio, 0.0, 0.0, ratio * (load(batch.half, 0) * batch.speed[row] + padding) + contact)
    return bool(less_mask(x * x + y * y + z * z, reach * reach) != 0)


@numba.njit(cache=True, error_model="numpy")
def _check_pair(arm32: Arm32, world: World, batch: Batch, row: int, reserve: float, padding: float) -> None:
    """Check the groups of two bodies of the arm that may come near to each other."""
    near, far = arm32.pairs[row, 0], arm32.pairs[row, 1]
    first, second = arm32.body_link[near], arm32.body_link[far]
    keep = world.self_margin + reserve
    a = CENTER * near
    ax, ay, az = load(batch.center, a), load(batch.center, a + 1), load(batch.center, a + 2)
    moves = load(batch.half, 0) * batch.speed[row] + padding
    for group in range(arm32.body_first[far], arm32.body_first[far + 1]):
        body = arm32.group[group]
        x, y, z, _ = place_point(batch.link, second, body)
        reach = load(batch.ratio, 0) * moves + (body[3] + arm32.body[near, 3] + keep)
        dx, dy, dz = x - ax, y - ay, z - az
        if less_mask(dx * dx + dy * dy + dz * dz, reach * reach) == 0:
            continue
        for other in range(arm32.body_first[near], arm32.body_first[near + 1]):
            other_body = arm32.group[other]
            u, v, w, _ = place_point(batch.link, first, other_body)
            reach = load(batch.ratio, 0) * moves + (body[3] + other_body[3] + keep)
            dx, dy, dz = x - u, y - v, z - w
            if less_mask(dx * dx + dy * dy + dz * dz, reach * reach) != 0:
                _check_groups(arm32, batch, first, other, second, group, keep, moves, padding)


@numba.njit(cache=True, error_model="numpy")
def _check_groups(
    arm32: Arm32,
    batch: Batch,
    first: int,
    first_group: int,
    second: int,
    second_group: int,
    keep: float,
    moves: Any,
    padding: float,
) -> None:
    """Check the spheres of two groups, on links `first` and `second`, that may come near to each other."""
    half = load(batch.half, 0)
    bend = half * (0.5 * batch.curve[second])
    body = arm32.group[first_group]
    ax, ay, az, _ = place_point(batch.link, first, body)
    begin = arm32.sphere_first[first_group]
    count, placed = arm32.sphere_first[first_group + 1] - begin, False
    for i in range(arm32.sphere_first[second_group], arm32.sphere_first[second_group + 1]):
        radius = arm32.sphere[i, 3]
        x, y, z, vx, vy, vz = place_sphere(batch.link, second, arm32.sphere[i])
        ratio = load(batch.ratio, 0)
        reach = ratio * moves + (body[3] + radius + keep)
        dx, dy, dz = x - ax, y - ay, z - az
        if less_mask(dx * dx + dy * dy + dz * dz, reach * reach) == 0:
            continue
        if not placed:
            _place_group(arm32, batch, first, first_group)
            placed = True
        for j in range(count):
            contact = radius + arm32.sphere[begin + j, 3] + keep
            row = 6 * j
            dx, dy, dz = x - load(batch.sphere, row), y - load(batch.sphere, row + 1), z - load(batch.sphere, row + 2)
            square, reach = dx * dx + dy * dy + dz * dz, ratio * moves + contact
            if less_mask(square, reach * reach) == 0:
                continue
            distance = sqrt(square)
            ux, uy, uz = load(batch.sphere, row + 3), load(batch.sphere, row + 4), load(batch.sphere, row + 5)
            speed = absolute(dx * (vx - ux) + dy * (vy - uy) + dz * (vz - uz)) / maximum(distance, 1e-6)
            ratio = minimum(ratio, (distance - contact) / maximum(half * (speed + bend) + padding, 1e-6))
            if less_mask(distance, contact) != 0:
                _remember(batch, i, -1 - begin - j, RECENT - 1)
        store(batch.ratio, 0, ratio)


@numba.njit(cache=True, error_model="numpy")
def _place_group(arm32: Arm32, batch: Batch, link: int, group: int) -> None:
    """The spheres of a group into `batch.sphere`."""
    begin = arm32.sphere_first[group]
    for j in range(arm32.sphere_first[group + 1] - begin):
        x, y, z, vx, vy, vz = place_sphere(batch.link, link, arm32.sphere[begin + j])
        store_vector(batch.sphere, 6 * j, x, y, z)
        store_vector(batch.sphere, 6 * j + 3, vx, vy, vz)
