"""Sixteen configurations of one arm placed at once, with the speed of every link along a motion: compiled.

The single-precision counterpart of `placing`, for the search. Row i of an array means its numbers 16 i .. 16 i + 15.

Bound on a straight motion. Let p(t) be a point of link k while the joints move by t d, t = -h .. h. Its speed at t = 0
is v. Each axis j turns with the joints before it, so |p''| <= sum over j of |d_j| l_j (|d_j| + 2 sum of |d_i|, i < j)
with l_j the largest distance the point can have from axis j in any configuration; call it C. Then p(t) is within
h^2 C / 2 of p(0) + t v, and its distance from a convex obstacle, a convex function of the place, stays above
d(p(0)) - h |n v| - h^2 C / 2, n the direction in which the distance grows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.cspace.lanes import LANES, floor, load, spread, sqrt, store
from telerobot_nodes.cspace.placing import Arm, IntArray

SingleArray = npt.NDArray[np.float32]

LINK = 18  # rows of a link: rotation 9, origin 3, turning speed 3, speed of the origin 3
BODY = 5  # rows of a link's ball: centre 3, speed of any of its balls at most, largest distance moved / h at most
RECENT = 8  # pairs that collided last and are looked at first


class Flat(NamedTuple):
    """An arm in single precision: see `placing.Arm`."""

    rotation: SingleArray  # (n, 9)
    offset: SingleArray  # (n, 3) [m]
    prismatic: SingleArray  # (n,)
    link: SingleArray  # (n + 1, 5) centre [m], radius, largest distance of a ball's centre from it
    group: SingleArray  # (g, 5) the same
    ball: SingleArray  # (m, 4) centre, radius [m]
    ball_link: IntArray  # (m,)
    ball_first: IntArray  # (g + 1,)
    link_first: IntArray  # (n + 2,)
    pairs: IntArray  # (k, 2)
    first_moving: int
    lever: FloatArray  # (n + 1, n) [m] largest distance of a ball's centre on a link from an axis; 1: it slides


class Batch(NamedTuple):
    """Scratch memory of one thread for sixteen configurations."""

    q: SingleArray  # (n rows) [rad]
    half: SingleArray  # (1 row) h
    ratio: SingleArray  # (1 row) the part of h proved free; 0 or less: collides
    link: SingleArray  # (LINK (n + 1) rows)
    body: SingleArray  # (BODY (n + 1) rows)
    ball: SingleArray  # (6 rows a ball) centres and velocities of a group
    delta: FloatArray  # (n,) [rad] d
    curve: FloatArray  # (n + 1,) [m] C of each link
    speed: FloatArray  # (pairs,) [m] most by which links of a pair come nearer per h
    near: IntArray  # (obstacles,) of a link
    near_group: IntArray  # (obstacles,) of a group
    recent: IntArray  # (RECENT, 3) pairs that collided last: ball, its link, obstacle or -1 - other ball


def flat_of(arm: Arm) -> Flat:
    """Single-precision copy of `arm`."""
    single = np.float32
    n = arm.lower.size
    links = np.repeat(arm.group_link, np.diff(arm.ball_first))
    spread_of_link = [_spread(arm.ball_center[links == k], arm.link_center[k]) for k in range(n + 1)]
    balls = [arm.ball_center[arm.ball_first[g] : arm.ball_first[g + 1]] for g in range(len(arm.group_radius))]
    spread_of_group = [_spread(b, c) for b, c in zip(balls, arm.group_center, strict=True)]
    return Flat(
        np.ascontiguousarray(arm.rotation.reshape(n, 9), single),
        np.ascontiguousarray(arm.offset, single),
        np.ascontiguousarray(arm.prismatic, single),
        np.column_stack([arm.link_center, arm.link_radius, spread_of_link]).astype(single),
        np.column_stack([arm.group_center, arm.group_radius, spread_of_group]).astype(single).reshape(-1, 5),
        np.column_stack([arm.ball_center, arm.ball_radius]).astype(single).reshape(-1, 4),
        links.astype(np.int64),
        arm.ball_first,
        arm.link_first,
        arm.pairs,
        arm.first_moving,
        _levers(arm, links),
    )


def _spread(points: FloatArray, center: FloatArray) -> float:
    return float(np.linalg.norm(points - center, axis=1).max()) if len(points) else 0.0


def _levers(arm: Arm, links: IntArray) -> FloatArray:
    """Largest distance (n + 1, n) [m] of a ball's centre on link k from the axis of joint j in any configuration."""
    n = arm.lower.size
    lever = np.zeros((n + 1, n))
    slide = arm.prismatic * np.maximum(np.abs(arm.lower), np.abs(arm.upper))
    for k in range(1, n + 1):
        points = arm.ball_center[links == k]
        if not len(points):
            continue
        across = float(np.hypot(points[:, 0], points[:, 1]).max())
        beyond = float(np.linalg.norm(points, axis=1).max())
        for j in range(k - 1, -1, -1):
            lever[k, j] = 1.0 if arm.prismatic[j] else across
            beyond += slide[j] + float(np.linalg.norm(arm.offset[j]))
            across = beyond - float(np.linalg.norm(arm.offset[j])) + float(np.hypot(*arm.offset[j, :2]))
    return lever


def batch_of(arm: Arm, obstacles: int) -> Batch:
    """Scratch memory for `arm` among up to `obstacles`."""
    n = arm.lower.size

    def rows(count: int) -> SingleArray:
        return np.zeros(count * LANES, np.float32)

    z: Any = np.zeros
    return Batch(
        rows(n),
        rows(1),
        rows(1),
        rows(LINK * (n + 1)),
        rows(BODY * (n + 1)),
        rows(6 * int(np.diff(arm.ball_first).max())),
        z(n),
        z(n + 1),
        z(len(arm.pairs)),
        z(max(obstacles, 1), np.int64),
        z(max(obstacles, 1), np.int64),
        np.full((RECENT, 3), -1, np.int64),
    )


@numba.njit(cache=True, error_model="numpy")
def bound_motion(flat: Flat, batch: Batch) -> None:
    """C of each link for the motion `batch.delta`, and how fast the links of each pair can come nearer."""
    delta, n = batch.delta, batch.delta.size
    for k in range(1, n + 1):
        total, before = 0.0, 0.0
        for j in range(k):
            d = abs(delta[j])
            turns = flat.prismatic[j] == 0.0
            total += d * flat.lever[k, j] * ((d if turns else 0.0) + 2.0 * before)
            before += d if turns else 0.0
        batch.curve[k] = total
    for row in range(flat.pairs.shape[0]):
        total = 0.0
        for j in range(flat.pairs[row, 0], flat.pairs[row, 1]):
            total += abs(delta[j]) * flat.lever[flat.pairs[row, 1], j]
        batch.speed[row] = total


@numba.njit(cache=True, error_model="numpy", inline="always")
def sine_cosine(x: Any) -> Any:
    """Sine and cosine of every lane, to 2e-7."""
    turns = floor(x * 0.15915494309189535 + 0.5)
    y = 0.5 * ((x - turns * 6.28125) - turns * 0.0019353071795864769)
    y2 = y * y
    s = y2 * (-1.0 / 39916800.0) + 1.0 / 362880.0
    s = ((s * y2 - 1.0 / 5040.0) * y2 + 1.0 / 120.0) * y2 - 1.0 / 6.0
    s = y + y * y2 * s
    c = y2 * (1.0 / 479001600.0) - 1.0 / 3628800.0
    c = ((c * y2 + 1.0 / 40320.0) * y2 - 1.0 / 720.0) * y2 + 1.0 / 24.0
    c = (c * y2 - 0.5) * y2 + 1.0
    return 2.0 * s * c, 1.0 - 2.0 * s * s


@numba.njit(cache=True, error_model="numpy")
def place_batch(flat: Flat, batch: Batch) -> None:
    """Links at `batch.q`, their speeds along `batch.delta`, and the ball around each link."""
    rows = batch.link
    zero = spread(0.0)
    for r in range(LINK):
        store(rows, r, spread(1.0) if r in (0, 4, 8) else zero)
    _place_body(flat, batch, 0)
    for i in range(batch.delta.size):
        old, new = LINK * i, LINK * (i + 1)
        P, off = flat.rotation[i], flat.offset[i]
        p0, p1, p2, p3, p4, p5, p6, p7, p8 = P[0], P[1], P[2], P[3], P[4], P[5], P[6], P[7], P[8]
        f0, f1, f2 = off[0], off[1], off[2]
        q, d = load(batch.q, i), np.float32(batch.delta[i])
        slides = flat.prismatic[i] > 0.0
        s, c = sine_cosine(zero if slides else q)
        wx, wy, wz = load(rows, old + 12), load(rows, old + 13), load(rows, old + 14)
        ax, ay, az = zero, zero, zero
        rx, ry, rz = zero, zero, zero
        for r in range(3):
            x, y, z = load(rows, old + 3 * r), load(rows, old + 3 * r + 1), load(rows, old + 3 * r + 2)
            a0 = x * p0 + y * p3 + z * p6
            a1 = x * p1 + y * p4 + z * p7
            a2 = x * p2 + y * p5 + z * p8
            store(rows, new + 3 * r, c * a0 + s * a1)
            store(rows, new + 3 * r + 1, c * a1 - s * a0)
            store(rows, new + 3 * r + 2, a2)
            moved = x * f0 + y * f1 + z * f2
            if slides:
                moved = moved + a2 * q
            store(rows, new + 9 + r, load(rows, old + 9 + r) + moved)
            if r == 0:
                ax, rx = a2, moved
            elif r == 1:
                ay, ry = a2, moved
            else:
                az, rz = a2, moved
        vx = load(rows, old + 15) + wy * rz - wz * ry
        vy = load(rows, old + 16) + wz * rx - wx * rz
        vz = load(rows, old + 17) + wx * ry - wy * rx
        if slides:
            vx, vy, vz = vx + ax * d, vy + ay * d, vz + az * d
        else:
            wx, wy, wz = wx + ax * d, wy + ay * d, wz + az * d
        store(rows, new + 12, wx)
        store(rows, new + 13, wy)
        store(rows, new + 14, wz)
        store(rows, new + 15, vx)
        store(rows, new + 16, vy)
        store(rows, new + 17, vz)
        _place_body(flat, batch, i + 1)


@numba.njit(cache=True, error_model="numpy")
def _place_body(flat: Flat, batch: Batch, k: int) -> None:
    """The ball around link `k`, and how far any of its balls moves per h at most."""
    ball = flat.link[k]
    x, y, z, far = place_point(batch.link, k, ball[0], ball[1], ball[2], ball[4])
    store(batch.body, BODY * k, x)
    store(batch.body, BODY * k + 1, y)
    store(batch.body, BODY * k + 2, z)
    store(batch.body, BODY * k + 3, far + load(batch.half, 0) * (0.5 * batch.curve[k]))


@numba.njit(cache=True, error_model="numpy")
def place_point(rows: SingleArray, k: int, x: float, y: float, z: float, around: float) -> Any:
    """A point of link `k` in WORLD, and the largest speed of any point of the link within `around` [m] of it."""
    first = LINK * k
    rx = load(rows, first) * x + load(rows, first + 1) * y + load(rows, first + 2) * z
    ry = load(rows, first + 3) * x + load(rows, first + 4) * y + load(rows, first + 5) * z
    rz = load(rows, first + 6) * x + load(rows, first + 7) * y + load(rows, first + 8) * z
    wx, wy, wz = load(rows, first + 12), load(rows, first + 13), load(rows, first + 14)
    vx = load(rows, first + 15) + wy * rz - wz * ry
    vy = load(rows, first + 16) + wz * rx - wx * rz
    vz = load(rows, first + 17) + wx * ry - wy * rx
    far = sqrt(vx * vx + vy * vy + vz * vz) + sqrt(wx * wx + wy * wy + wz * wz) * around
    return load(rows, first + 9) + rx, load(rows, first + 10) + ry, load(rows, first + 11) + rz, far


@numba.njit(cache=True, error_model="numpy")
def place_ball(rows: SingleArray, k: int, ball: SingleArray) -> Any:
    """A ball's centre in WORLD and its velocity along the motion, x y z each."""
    first = LINK * k
    x, y, z = ball[0], ball[1], ball[2]
    rx = load(rows, first) * x + load(rows, first + 1) * y + load(rows, first + 2) * z
    ry = load(rows, first + 3) * x + load(rows, first + 4) * y + load(rows, first + 5) * z
    rz = load(rows, first + 6) * x + load(rows, first + 7) * y + load(rows, first + 8) * z
    wx, wy, wz = load(rows, first + 12), load(rows, first + 13), load(rows, first + 14)
    vx = load(rows, first + 15) + wy * rz - wz * ry
    vy = load(rows, first + 16) + wz * rx - wx * rz
    vz = load(rows, first + 17) + wx * ry - wy * rx
    return load(rows, first + 9) + rx, load(rows, first + 10) + ry, load(rows, first + 11) + rz, vx, vy, vz
