"""How much of sixteen pieces of motion is free, all at once: compiled, in single precision, by the bound of `batch`.

For the search; the certificate is made afterwards in double precision. What single precision and the certificate's
coarser bound need is kept in `RESERVE`.
"""

from __future__ import annotations

from typing import Any

import numba

from telerobot_nodes.cspace.batch import BODY, RECENT, Batch, Flat, SingleArray, place_ball, place_batch, place_point
from telerobot_nodes.cspace.lanes import (
    LANES,
    apart,
    below,
    least,
    load,
    magnitude,
    most,
    spread,
    sqrt,
    store,
    where_below,
)
from telerobot_nodes.cspace.obstacles import BOX, CYLINDER, SPHERE, World

COLLIDES = -1
GONE = 1e9  # [m] lanes known to collide are not near to anything
ALL = (1 << LANES) - 1


@numba.njit(cache=True, error_model="numpy")
def outer_gap(kind: int, row: SingleArray, px: Any, py: Any, pz: Any) -> Any:
    """Distance [m] of points from an obstacle; 0 (half-space: below) inside."""
    x, y, z = px - row[0], py - row[1], pz - row[2]
    along = x * row[5] + y * row[8] + z * row[11]
    if kind == BOX:
        a = most(magnitude(x * row[3] + y * row[6] + z * row[9]) - row[12], 0.0)
        b = most(magnitude(x * row[4] + y * row[7] + z * row[10]) - row[13], 0.0)
        c = most(magnitude(along) - row[14], 0.0)
        return sqrt(a * a + b * b + c * c)
    if kind == SPHERE:
        return sqrt(x * x + y * y + z * z) - row[12]
    if kind == CYLINDER:
        a = most(sqrt(most(x * x + y * y + z * z - along * along, 0.0)) - row[12], 0.0)
        c = most(magnitude(along) - row[13], 0.0)
        return sqrt(a * a + c * c)
    return along


@numba.njit(cache=True, error_model="numpy")
def gap_and_speed(kind: int, row: SingleArray, px: Any, py: Any, pz: Any, vx: Any, vy: Any, vz: Any) -> Any:
    """`outer_gap`, and how fast it changes with the velocity of the points, unsigned."""
    x, y, z = px - row[0], py - row[1], pz - row[2]
    along = x * row[5] + y * row[8] + z * row[11]
    rising = vx * row[5] + vy * row[8] + vz * row[11]
    if kind == BOX:
        u = x * row[3] + y * row[6] + z * row[9]
        v = x * row[4] + y * row[7] + z * row[10]
        du = vx * row[3] + vy * row[6] + vz * row[9]
        dv = vx * row[4] + vy * row[7] + vz * row[10]
        a = most(u - row[12], 0.0) + least(u + row[12], 0.0)
        b = most(v - row[13], 0.0) + least(v + row[13], 0.0)
        c = most(along - row[14], 0.0) + least(along + row[14], 0.0)
        d = sqrt(a * a + b * b + c * c)
        return d, magnitude(a * du + b * dv + c * rising) / most(d, 1e-6)
    if kind == SPHERE:
        d = sqrt(x * x + y * y + z * z)
        return d - row[12], magnitude(x * vx + y * vy + z * vz) / most(d, 1e-6)
    if kind == CYLINDER:
        across = sqrt(most(x * x + y * y + z * z - along * along, 0.0))
        outward = (x * vx + y * vy + z * vz - along * rising) / most(across, 1e-6)
        a = most(across - row[12], 0.0)
        c = most(along - row[13], 0.0) + least(along + row[13], 0.0)
        d = sqrt(a * a + c * c)
        return d, magnitude(a * outward + c * rising) / most(d, 1e-6)
    return along, magnitude(rising)


@numba.njit(cache=True, error_model="numpy")
def sweep(flat: Flat, world: World, batch: Batch, keep: float, pad: float, stop: bool) -> int:
    """Place the batch and prove its pieces of motion; bits of the lanes not free throughout, in `batch.ratio` how far.

    Lane i moves by t `batch.delta` from `batch.q`, t = -half .. half; free is what stays `keep` [m] and the world's
    margins away, `pad` [m] more being wanted. `stop`: COLLIDES as soon as one middle collides.
    """
    apart()
    place_batch(flat, batch)
    store(batch.ratio, 0, spread(1.0))
    if stop and _recent(flat, world, batch, keep):
        return COLLIDES
    for k in range(batch.delta.size, flat.first_moving - 1, -1):
        count = _near_link(flat, world, batch, k, keep, pad)
        if count > 0:
            _sweep_link(flat, world, batch, k, count, keep, pad)
            hit = below(load(batch.ratio, 0), 0.0)
            if hit != 0 and (stop or hit == ALL):
                return COLLIDES
    for row in range(flat.pairs.shape[0]):
        if _near_pair(flat, world, batch, row, keep, pad):
            _sweep_pair(flat, world, batch, row, keep, pad)
            hit = below(load(batch.ratio, 0), 0.0)
            if hit != 0 and (stop or hit == ALL):
                return COLLIDES
    return int(below(load(batch.ratio, 0), 1.0))


@numba.njit(cache=True, error_model="numpy")
def _recent(flat: Flat, world: World, batch: Batch, keep: float) -> bool:
    """True when one of the pairs that collided last does again; it becomes the first of them."""
    recent = batch.recent
    for i in range(recent.shape[0]):
        b, o = recent[i, 0], recent[i, 2]
        if b < 0:
            return False
        x, y, z, _, _, _ = place_ball(batch.link, flat.ball_link[b], flat.ball[b])
        if o >= 0:
            if o >= world.kind.size:
                continue
            d = outer_gap(world.kind[o], world.rows[o], x, y, z)
            hit = below(d, flat.ball[b, 3] + world.margin + keep)
        else:
            j = -1 - o
            u, v, w, _, _, _ = place_ball(batch.link, flat.ball_link[j], flat.ball[j])
            d = sqrt((x - u) * (x - u) + (y - v) * (y - v) + (z - w) * (z - w))
            hit = below(d, flat.ball[b, 3] + flat.ball[j, 3] + world.self_margin + keep)
        if hit != 0:
            _remember(batch, b, o, i)
            return True
    return False


@numba.njit(cache=True, error_model="numpy")
def _remember(batch: Batch, b: int, o: int, place: int) -> None:
    """Put a pair first; the pair at `place` goes."""
    for i in range(place, 0, -1):
        batch.recent[i] = batch.recent[i - 1]
    batch.recent[0, 0], batch.recent[0, 2] = b, o


@numba.njit(cache=True, error_model="numpy")
def _near_link(flat: Flat, world: World, batch: Batch, k: int, keep: float, pad: float) -> int:
    """The obstacles that link `k` may come near to into `batch.near`; their number."""
    body = BODY * k
    x, y, z = load(batch.body, body), load(batch.body, body + 1), load(batch.body, body + 2)
    moves = load(batch.half, 0) * load(batch.body, body + 3) + pad
    ratio = load(batch.ratio, 0)
    reach = where_below(ratio, 0.0, -GONE, ratio * moves + (flat.link[k, 3] + world.margin + keep))
    count = 0
    for o in range(world.kind.size):
        if below(outer_gap(world.kind[o], world.rows[o], x, y, z), reach) != 0:
            batch.near[count] = o
            count += 1
    return count


@numba.njit(cache=True, error_model="numpy")
def _sweep_link(flat: Flat, world: World, batch: Batch, k: int, count: int, keep: float, pad: float) -> None:
    half = load(batch.half, 0)
    bend = half * (0.5 * batch.curve[k])
    first, last = flat.link_first[k], flat.link_first[k + 1]
    for g in range(first, last):
        body = flat.group[g]
        x, y, z, far = place_point(batch.link, k, body[0], body[1], body[2], body[4])
        ratio = load(batch.ratio, 0)
        reach = where_below(ratio, 0.0, -GONE, ratio * (half * (far + bend) + pad) + (body[3] + world.margin + keep))
        found = 0
        for i in range(count):
            o = batch.near[i]
            if last - first == 1 or below(outer_gap(world.kind[o], world.rows[o], x, y, z), reach) != 0:
                batch.near_group[found] = o
                found += 1
        if found > 0:
            for b in range(flat.ball_first[g], flat.ball_first[g + 1]):
                _sweep_ball(flat, world, batch, k, b, found, keep, pad)


@numba.njit(cache=True, error_model="numpy")
def _sweep_ball(flat: Flat, world: World, batch: Batch, k: int, b: int, found: int, keep: float, pad: float) -> None:
    half = load(batch.half, 0)
    bend = half * (0.5 * batch.curve[k])
    taken = flat.ball[b, 3] + world.margin + keep
    x, y, z, vx, vy, vz = place_ball(batch.link, k, flat.ball[b])
    ratio = load(batch.ratio, 0)
    for i in range(found):
        o = batch.near_group[i]
        d, speed = gap_and_speed(world.kind[o], world.rows[o], x, y, z, vx, vy, vz)
        ratio = least(ratio, (d - taken) / most(half * (speed + bend) + pad, 1e-6))
        if below(d, taken) != 0:
            _remember(batch, b, o, RECENT - 1)
    store(batch.ratio, 0, ratio)


@numba.njit(cache=True, error_model="numpy")
def _near_pair(flat: Flat, world: World, batch: Batch, row: int, keep: float, pad: float) -> bool:
    """True when two links of the arm may come near to each other."""
    a, b = BODY * flat.pairs[row, 0], BODY * flat.pairs[row, 1]
    x = load(batch.body, a) - load(batch.body, b)
    y = load(batch.body, a + 1) - load(batch.body, b + 1)
    z = load(batch.body, a + 2) - load(batch.body, b + 2)
    taken = flat.link[flat.pairs[row, 0], 3] + flat.link[flat.pairs[row, 1], 3] + world.self_margin + keep
    ratio = load(batch.ratio, 0)
    reach = where_below(ratio, 0.0, 0.0, ratio * (load(batch.half, 0) * batch.speed[row] + pad) + taken)
    return bool(below(x * x + y * y + z * z, reach * reach) != 0)


@numba.njit(cache=True, error_model="numpy")
def _sweep_pair(flat: Flat, world: World, batch: Batch, row: int, keep: float, pad: float) -> None:
    a, b = flat.pairs[row, 0], flat.pairs[row, 1]
    half, keep = load(batch.half, 0), world.self_margin + keep
    ax, ay, az = load(batch.body, BODY * a), load(batch.body, BODY * a + 1), load(batch.body, BODY * a + 2)
    moves = half * batch.speed[row] + pad
    for h in range(flat.link_first[b], flat.link_first[b + 1]):
        body = flat.group[h]
        x, y, z, _ = place_point(batch.link, b, body[0], body[1], body[2], body[4])
        reach = load(batch.ratio, 0) * moves + (body[3] + flat.link[a, 3] + keep)
        dx, dy, dz = x - ax, y - ay, z - az
        if below(dx * dx + dy * dy + dz * dz, reach * reach) == 0:
            continue
        for g in range(flat.link_first[a], flat.link_first[a + 1]):
            other = flat.group[g]
            u, v, w, _ = place_point(batch.link, a, other[0], other[1], other[2], other[4])
            reach = load(batch.ratio, 0) * moves + (body[3] + other[3] + keep)
            dx, dy, dz = x - u, y - v, z - w
            if below(dx * dx + dy * dy + dz * dz, reach * reach) != 0:
                _sweep_groups(flat, batch, a, g, b, h, keep, moves, pad)


@numba.njit(cache=True, error_model="numpy")
def _sweep_groups(
    flat: Flat, batch: Batch, a: int, g: int, b: int, h: int, keep: float, moves: Any, pad: float
) -> None:
    half = load(batch.half, 0)
    bend = half * (0.5 * batch.curve[b])
    other = flat.group[g]
    ax, ay, az, _ = place_point(batch.link, a, other[0], other[1], other[2], other[4])
    count = flat.ball_first[g + 1] - flat.ball_first[g]
    placed = False
    for i in range(flat.ball_first[h], flat.ball_first[h + 1]):
        x, y, z, vx, vy, vz = place_ball(batch.link, b, flat.ball[i])
        ratio = load(batch.ratio, 0)
        reach = ratio * moves + (other[3] + flat.ball[i, 3] + keep)
        dx, dy, dz = x - ax, y - ay, z - az
        if below(dx * dx + dy * dy + dz * dz, reach * reach) == 0:
            continue
        if not placed:
            _place_group(flat, batch, a, g)
            placed = True
        for j in range(count):
            taken = flat.ball[i, 3] + flat.ball[flat.ball_first[g] + j, 3] + keep
            row = 6 * j
            dx, dy, dz = x - load(batch.ball, row), y - load(batch.ball, row + 1), z - load(batch.ball, row + 2)
            square, reach = dx * dx + dy * dy + dz * dz, ratio * moves + taken
            if below(square, reach * reach) == 0:
                continue
            d = sqrt(square)
            ux, uy, uz = load(batch.ball, row + 3), load(batch.ball, row + 4), load(batch.ball, row + 5)
            speed = magnitude(dx * (vx - ux) + dy * (vy - uy) + dz * (vz - uz)) / most(d, 1e-6)
            ratio = least(ratio, (d - taken) / most(half * (speed + bend) + pad, 1e-6))
            if below(d, taken) != 0:
                _remember(batch, i, -1 - flat.ball_first[g] - j, RECENT - 1)
        store(batch.ratio, 0, ratio)


@numba.njit(cache=True, error_model="numpy")
def _place_group(flat: Flat, batch: Batch, k: int, g: int) -> None:
    """The balls of a group into `batch.ball`."""
    for j in range(flat.ball_first[g + 1] - flat.ball_first[g]):
        x, y, z, vx, vy, vz = place_ball(batch.link, k, flat.ball[flat.ball_first[g] + j])
        store(batch.ball, 6 * j, x)
        store(batch.ball, 6 * j + 1, y)
        store(batch.ball, 6 * j + 2, z)
        store(batch.ball, 6 * j + 3, vx)
        store(batch.ball, 6 * j + 4, vy)
        store(batch.ball, 6 * j + 5, vz)
