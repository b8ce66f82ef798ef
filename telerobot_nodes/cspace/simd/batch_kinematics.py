"""Forward kinematics of sixteen configurations at once, with the speed of every link along a motion: compiled.

The single-precision counterpart of `forward_kinematics`. Row i of an array means its elements 16 i .. 16 i + 15.

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

from telerobot_nodes.core.values import FloatArray, IntArray
from telerobot_nodes.cspace.geometry import BLOCK, Arm
from telerobot_nodes.cspace.simd.simd16 import LANES, broadcast, floor, load, sqrt, store

SingleArray = npt.NDArray[np.float32]

LINK = 18  # rows of a link: rotation 9, origin 3, turning speed 3, speed of the origin 3
BODY = 4  # rows of a link's sphere: centre 3, largest distance that any of its spheres moves per h
CENTER = 3  # rows of a body's centre
SINGLE = 1e-5  # [rad] that single precision may be off a box
RECENT = 8  # pairs that collided last and are checked first


class Arm32(NamedTuple):
    """An arm in single precision: see `forward_kinematics.Arm`."""

    rotation: SingleArray  # (n, 9)
    offset: SingleArray  # (n, 3) [m]
    prismatic: SingleArray  # (n,)
    link: SingleArray  # (n + 1, 5) centre [m], radius, largest distance of a sphere's centre from it
    group: SingleArray  # (g, 5) the same
    body: SingleArray  # (b, 4) centre [m], radius
    group_body: IntArray  # (g,)
    body_link: IntArray  # (b,)
    body_first: IntArray  # (b + 1,)
    sphere: SingleArray  # (m, 4) centre, radius [m]
    sphere_link: IntArray  # (m,)
    sphere_first: IntArray  # (g + 1,)
    link_first: IntArray  # (n + 2,)
    pairs: IntArray  # (k, 2)
    proved: int
    apart: float  # [m]
    box: FloatArray  # (n, 2) [rad] middle, and half width; infinite where it is that of the limits
    first_moving: int
    lever: FloatArray  # (n + 1, n) [m] largest distance of a sphere's centre on a link from an axis; 1: it slides


class Batch(NamedTuple):
    """Scratch memory of one thread for sixteen configurations."""

    q: SingleArray  # (n rows) [rad]
    half: SingleArray  # (1 row) h
    ratio: SingleArray  # (1 row) the part of h proved free; 0 or less: collides
    link: SingleArray  # (LINK (n + 1) rows)
    body: SingleArray  # (BODY (n + 1) rows)
    center: SingleArray  # (CENTER b rows) of the bodies
    sphere: SingleArray  # (6 rows a sphere) centres and velocities of a group
    delta: FloatArray  # (n,) [rad] d
    curve: FloatArray  # (n + 1,) [m] C of each link
    speed: FloatArray  # (pairs,) [m] most by which bodies of a pair come nearer per h
    near: IntArray  # (obstacles,) of a link
    near_block: IntArray  # (blocks, 2) blocks that have obstacles near a link; the end of theirs in `near`
    near_group: IntArray  # (obstacles,) of a group
    recent: IntArray  # (RECENT, 2) pairs that collided last: sphere, obstacle or -1 - other sphere; -1: none


def arm32_of(arm: Arm) -> Arm32:
    """Single-precision copy of `arm`."""
    dof, links = arm.lower.size, np.repeat(arm.group_link, np.diff(arm.sphere_first))
    groups = np.split(arm.sphere_center, arm.sphere_first[1:-1])
    link_extent = [_extent(arm.sphere_center[links == k], arm.link_center[k]) for k in range(dof + 1)]
    group_extent = [_extent(points, center) for points, center in zip(groups, arm.group_center, strict=True)]
    return Arm32(
        rotation=np.ascontiguousarray(arm.rotation.reshape(dof, 9), np.float32),
        offset=np.ascontiguousarray(arm.offset, np.float32),
        prismatic=np.ascontiguousarray(arm.prismatic, np.float32),
        link=np.column_stack([arm.link_center, arm.link_radius, link_extent]).astype(np.float32),
        group=np.column_stack([arm.group_center, arm.group_radius, group_extent]).astype(np.float32),
        body=np.column_stack([arm.body_center, arm.body_radius]).astype(np.float32),
        group_body=arm.group_body,
        body_link=arm.body_link,
        body_first=arm.body_first,
        sphere=np.column_stack([arm.sphere_center, arm.sphere_radius]).astype(np.float32),
        sphere_link=links.astype(np.int64),
        sphere_first=arm.sphere_first,
        link_first=arm.link_first,
        pairs=arm.pairs,
        proved=arm.proved,
        apart=arm.apart,
        box=_box(arm),
        first_moving=arm.first_moving,
        lever=_levers(arm, links),
    )


def _box(arm: Arm) -> FloatArray:
    """Middle and half width (n, 2) [rad] of the box, a little smaller for single precision."""
    wide = (arm.box[:, 0] <= arm.lower) & (arm.box[:, 1] >= arm.upper)
    half = 0.5 * (arm.box[:, 1] - arm.box[:, 0]) - SINGLE
    return np.column_stack([0.5 * arm.box.sum(axis=1), np.where(wide, np.inf, half)])


def _extent(points: FloatArray, center: FloatArray) -> float:
    return float(np.linalg.norm(points - center, axis=1).max()) if len(points) else 0.0


def _levers(arm: Arm, links: IntArray) -> FloatArray:
    """Largest distance (n + 1, n) [m] of a sphere's centre on link k from the axis of joint j in any configuration."""
    n = arm.lower.size
    lever = np.zeros((n + 1, n))
    slide = arm.prismatic * np.maximum(np.abs(arm.lower), np.abs(arm.upper))
    for k in range(1, n + 1):
        points = arm.sphere_center[links == k]
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
    dof = arm.lower.size

    def rows(count: int) -> SingleArray:
        return np.zeros(count * LANES, np.float32)

    return Batch(
        q=rows(dof),
        half=rows(1),
        ratio=rows(1),
        link=rows(LINK * (dof + 1)),
        body=rows(BODY * (dof + 1)),
        center=rows(CENTER * arm.body_link.size),
        sphere=rows(6 * int(np.diff(arm.sphere_first).max())),
        delta=np.zeros(dof),
        curve=np.zeros(dof + 1),
        speed=np.zeros(len(arm.pairs)),
        near=np.zeros(max(obstacles, 1), np.int64),
        near_block=np.zeros((obstacles // BLOCK + 1, 2), np.int64),
        near_group=np.zeros(max(obstacles, 1), np.int64),
        recent=np.full((RECENT, 2), -1, np.int64),
    )


@numba.njit(cache=True, error_model="numpy")
def bound_motion(arm32: Arm32, batch: Batch) -> None:
    """C of each link for the motion `batch.delta`, and how fast the bodies of each pair can come nearer."""
    delta, n = batch.delta, batch.delta.size
    for k in range(1, n + 1):
        total, before = 0.0, 0.0
        for j in range(k):
            d = abs(delta[j])
            turns = arm32.prismatic[j] == 0.0
            total += d * arm32.lever[k, j] * ((d if turns else 0.0) + 2.0 * before)
            before += d if turns else 0.0
        batch.curve[k] = total
    for row in range(arm32.pairs.shape[0]):
        total, link = 0.0, arm32.body_link[arm32.pairs[row, 1]]
        for j in range(arm32.body_link[arm32.pairs[row, 0]], link):
            total += abs(delta[j]) * arm32.lever[link, j]
        batch.speed[row] = total


@numba.njit(cache=True, error_model="numpy", inline="always")
def sine_cosine(x: Any) -> Any:
    """Sine and cosine of every lane, to 2e-7: Taylor polynomials of the half angle after removing whole turns."""
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
def batch_forward_kinematics(arm32: Arm32, batch: Batch) -> None:
    """Links at `batch.q`, their velocities along `batch.delta`, and the sphere around each link."""
    rows = batch.link
    for row in range(LINK):
        store(rows, row, broadcast(1.0) if row in (0, 4, 8) else broadcast(0.0))
    _place_body(arm32, batch, 0)
    for joint in range(batch.delta.size):
        q, slides = load(batch.q, joint), arm32.prismatic[joint] > 0.0
        _rotate_link(arm32, rows, joint, broadcast(0.0) if slides else q)
        _move_link(arm32, rows, joint, q, np.float32(batch.delta[joint]), slides)
        _place_body(arm32, batch, joint + 1)
    for body in range(arm32.body_link.size):
        point, first = arm32.body[body], LINK * arm32.body_link[body]
        x, y, z = _rotated(rows, first, point[0], point[1], point[2])
        x, y, z = x + load(rows, first + 9), y + load(rows, first + 10), z + load(rows, first + 11)
        store_vector(batch.center, CENTER * body, x, y, z)


@numba.njit(cache=True, error_model="numpy")
def _rotate_link(arm32: Arm32, rows: SingleArray, joint: int, angle: Any) -> None:
    """Rotation of the link after `joint`: that of the link before, the joint's at zero, and a turn about z."""
    old, new, zero = LINK * joint, LINK * (joint + 1), arm32.rotation[joint]
    xx, xy, xz, yx, yy, yz, zx, zy, zz = zero[0], zero[1], zero[2], zero[3], zero[4], zero[5], zero[6], zero[7], zero[8]
    sine, cosine = sine_cosine(angle)
    for row in range(0, 9, 3):
        x, y, z = load(rows, old + row), load(rows, old + row + 1), load(rows, old + row + 2)
        across, up = x * xx + y * yx + z * zx, x * xy + y * yy + z * zy
        store(rows, new + row, cosine * across + sine * up)
        store(rows, new + row + 1, cosine * up - sine * across)
        store(rows, new + row + 2, x * xz + y * yz + z * zz)


@numba.njit(cache=True, error_model="numpy")
def _move_link(arm32: Arm32, rows: SingleArray, joint: int, q: Any, rate: Any, slides: bool) -> None:
    """Origin of the link after `joint`, its angular velocity and the velocity of its origin."""
    old, new, offset = LINK * joint, LINK * (joint + 1), arm32.offset[joint]
    ax, ay, az = load(rows, new + 2), load(rows, new + 5), load(rows, new + 8)
    rx, ry, rz = _rotated(rows, old, offset[0], offset[1], offset[2])
    if slides:
        rx, ry, rz = rx + ax * q, ry + ay * q, rz + az * q
    wx, wy, wz = load(rows, old + 12), load(rows, old + 13), load(rows, old + 14)
    vx, vy, vz = _velocity(rows, old, rx, ry, rz)
    if slides:
        vx, vy, vz = vx + ax * rate, vy + ay * rate, vz + az * rate
    else:
        wx, wy, wz = wx + ax * rate, wy + ay * rate, wz + az * rate
    store_vector(rows, new + 9, load(rows, old + 9) + rx, load(rows, old + 10) + ry, load(rows, old + 11) + rz)
    store_vector(rows, new + 12, wx, wy, wz)
    store_vector(rows, new + 15, vx, vy, vz)


@numba.njit(cache=True, error_model="numpy")
def store_vector(rows: SingleArray, row: int, x: Any, y: Any, z: Any) -> None:
    """Three vectors into `row` and the two after it."""
    store(rows, row, x)
    store(rows, row + 1, y)
    store(rows, row + 2, z)


@numba.njit(cache=True, error_model="numpy")
def _rotated(rows: SingleArray, first: int, x: Any, y: Any, z: Any) -> Any:
    """A vector of the link whose rows begin at `first`, in WORLD."""
    rx = load(rows, first) * x + load(rows, first + 1) * y + load(rows, first + 2) * z
    ry = load(rows, first + 3) * x + load(rows, first + 4) * y + load(rows, first + 5) * z
    rz = load(rows, first + 6) * x + load(rows, first + 7) * y + load(rows, first + 8) * z
    return rx, ry, rz


@numba.njit(cache=True, error_model="numpy")
def _velocity(rows: SingleArray, first: int, rx: Any, ry: Any, rz: Any) -> Any:
    """Velocity of the point of a link that is r from its origin (v + w x r)."""
    wx, wy, wz = load(rows, first + 12), load(rows, first + 13), load(rows, first + 14)
    vx = load(rows, first + 15) + wy * rz - wz * ry
    vy = load(rows, first + 16) + wz * rx - wx * rz
    vz = load(rows, first + 17) + wx * ry - wy * rx
    return vx, vy, vz


@numba.njit(cache=True, error_model="numpy")
def _place_body(arm32: Arm32, batch: Batch, link: int) -> None:
    """The sphere around `link`, and the largest distance that any of its spheres moves per h."""
    x, y, z, speed = place_point(batch.link, link, arm32.link[link])
    store_vector(batch.body, BODY * link, x, y, z)
    store(batch.body, BODY * link + 3, speed + load(batch.half, 0) * (0.5 * batch.curve[link]))


@numba.njit(cache=True, error_model="numpy")
def place_point(rows: SingleArray, link: int, body: SingleArray) -> Any:
    """Centre of a sphere around spheres (a row of `Arm32.link` or `Arm32.group`) in WORLD, and their largest speed."""
    first = LINK * link
    x, y, z, vx, vy, vz = place_sphere(rows, link, body)
    wx, wy, wz = load(rows, first + 12), load(rows, first + 13), load(rows, first + 14)
    speed = sqrt(vx * vx + vy * vy + vz * vz) + sqrt(wx * wx + wy * wy + wz * wz) * body[4]
    return x, y, z, speed


@numba.njit(cache=True, error_model="numpy")
def place_sphere(rows: SingleArray, link: int, sphere: SingleArray) -> Any:
    """A sphere's centre in WORLD and its velocity along the motion: x, y, z of each."""
    first = LINK * link
    rx, ry, rz = _rotated(rows, first, sphere[0], sphere[1], sphere[2])
    vx, vy, vz = _velocity(rows, first, rx, ry, rz)
    return load(rows, first + 9) + rx, load(rows, first + 10) + ry, load(rows, first + 11) + rz, vx, vy, vz
