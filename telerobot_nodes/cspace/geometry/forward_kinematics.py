"""Forward kinematics of an arm's collision spheres, and a bound on their motion within a cell: compiled.

Motion bound. Let p(q) be a sphere's centre on link k and c the centre of a cell of half widths h. Change the joints
from c to q one after another from the base outwards. When joint j changes, the joints beyond it still stand at c, so
the centre turns about the axis of joint j at the distance r_j it has from it at c; the joints before it only move
that arc rigidly. Hence |p(q) - p(c)| <= sum over j <= k of 2 r_j sin(h_j / 2) (h_j for a sliding joint). Between links
a < b only the joints a + 1 .. b count, in the frame of link a. No sampling, no global lever arms.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numba
import numpy as np

from telerobot_nodes.core.values import FloatArray, IntArray


class Arm(NamedTuple):
    """One arm as flat arrays. Link i moves with joint i (1 .. n), link 0 is the base; every joint turns about its z.

    Spheres of one group lie together; `ball_first[g] .. ball_first[g + 1]`, `group_link` ascending.
    """

    rotation: FloatArray  # (n, 3, 3) joint i in joint i - 1 at zero, z along the axis
    offset: FloatArray  # (n, 3) [m]
    prismatic: FloatArray  # (n,) 1: slides
    sphere_center: FloatArray  # (m, 3) [m] in the link's frame; WORLD on link 0
    sphere_radius: FloatArray  # (m,) [m]
    sphere_first: IntArray  # (g + 1,)
    group_link: IntArray  # (g,)
    group_center: FloatArray  # (g, 3) [m]
    group_radius: FloatArray  # (g,) [m] holds the group's spheres
    link_first: IntArray  # (n + 2,) groups of link i: link_first[i] .. link_first[i + 1]
    link_center: FloatArray  # (n + 1, 3) [m]
    link_radius: FloatArray  # (n + 1,) [m] holds the link's spheres; 0 for a link without
    group_body: IntArray  # (g,) the body of each group
    body_link: IntArray  # (b,) ascending; a body is a URDF link with what is fixed to it, or what the tool holds
    body_first: IntArray  # (b + 1,) groups of body i: body_first[i] .. body_first[i + 1]
    body_center: FloatArray  # (b, 3) [m] in the link's frame
    body_radius: FloatArray  # (b,) [m] holds the body's spheres
    pairs: IntArray  # (k, 2) bodies a < b, on different links, that may meet
    proved: int  # the last pairs, so many, are `apart` by their true shapes wherever the joints are inside `box`
    apart: float  # [m]
    box: FloatArray  # (n, 2) [rad] lowest and highest
    first_moving: int  # the first link whose spheres joints can move; the links before it are not checked
    lower: FloatArray  # (n,) [rad]
    upper: FloatArray  # (n,) [rad]

    def without_pairs(self) -> Arm:
        """The same arm without self-collision."""
        return self._replace(pairs=self.pairs[:0], proved=0)


class LinkPoses(NamedTuple):
    """Scratch memory of one thread: an arm placed at a configuration."""

    rotation: FloatArray  # (n + 1, 3, 3) links in WORLD
    origin: FloatArray  # (n + 1, 3) [m]
    link: FloatArray  # (n + 1, 3) [m] centres of the links in WORLD
    body: FloatArray  # (b, 3) [m] centres of the bodies in WORLD
    group: FloatArray  # (g, 3) [m] centres of the groups in WORLD, where the link is `placed`
    sphere: FloatArray  # (m, 3) [m] centres of the spheres in WORLD, where `placed`
    placed: IntArray  # (n + 1,) 1 when groups and spheres of the link are placed
    motion: FloatArray  # (n + 1, n + 1) [m] bound on the motion of the link's spheres with joints 1 .. column
    width: FloatArray  # (n,) chord of each joint within the cell
    middle: FloatArray  # (n,) [rad]
    half: FloatArray  # (n,) [rad]


def link_poses_of(arm: Arm) -> LinkPoses:
    """Scratch memory for `arm`."""
    n, g, m = arm.offset.shape[0], arm.group_radius.size, arm.sphere_radius.size
    z = np.zeros
    rotation = z((n + 1, 3, 3))
    rotation[0] = np.eye(3)
    return LinkPoses(
        rotation,
        z((n + 1, 3)),
        z((n + 1, 3)),
        z((arm.body_radius.size, 3)),
        z((g, 3)),
        z((m, 3)),
        z(n + 1, dtype=np.int64),
        z((n + 1, n + 1)),
        z(n),
        z(n),
        z(n),
    )


@numba.njit(cache=True, error_model="numpy")
def forward_kinematics(arm: Arm, q: FloatArray, poses: LinkPoses) -> None:
    """Links and groups at `q` (n,) [rad] into `at`; spheres are placed when asked for."""
    rotation, origin = poses.rotation, poses.origin
    for i in range(q.size):
        R, P, o, out = rotation[i], arm.rotation[i], arm.offset[i], rotation[i + 1]
        slide = arm.prismatic[i] > 0.0
        c, s = (1.0, 0.0) if slide else (math.cos(q[i]), math.sin(q[i]))
        for r in range(3):
            x, y, z = R[r, 0], R[r, 1], R[r, 2]
            a0 = x * P[0, 0] + y * P[1, 0] + z * P[2, 0]
            a1 = x * P[0, 1] + y * P[1, 1] + z * P[2, 1]
            a2 = x * P[0, 2] + y * P[1, 2] + z * P[2, 2]
            out[r, 0] = c * a0 + s * a1
            out[r, 1] = c * a1 - s * a0
            out[r, 2] = a2
            origin[i + 1, r] = origin[i, r] + x * o[0] + y * o[1] + z * o[2] + (a2 * q[i] if slide else 0.0)
    for k in range(q.size + 1):
        R, v = rotation[k], arm.link_center[k]
        for r in range(3):
            poses.link[k, r] = origin[k, r] + R[r, 0] * v[0] + R[r, 1] * v[1] + R[r, 2] * v[2]
        poses.placed[k] = 0
    for b in range(arm.body_link.size):
        k = arm.body_link[b]
        R, v = rotation[k], arm.body_center[b]
        for r in range(3):
            poses.body[b, r] = origin[k, r] + R[r, 0] * v[0] + R[r, 1] * v[1] + R[r, 2] * v[2]


@numba.njit(cache=True, error_model="numpy")
def place_spheres(arm: Arm, poses: LinkPoses, k: int) -> None:
    """Groups and spheres of link `k` into `at`, after `place`."""
    if poses.placed[k] == 1:
        return
    poses.placed[k] = 1
    R, o = poses.rotation[k], poses.origin[k]
    first, last = arm.link_first[k], arm.link_first[k + 1]
    for g in range(first, last):
        v = arm.group_center[g]
        for r in range(3):
            poses.group[g, r] = o[r] + R[r, 0] * v[0] + R[r, 1] * v[1] + R[r, 2] * v[2]
    for b in range(arm.sphere_first[first], arm.sphere_first[last]):
        v = arm.sphere_center[b]
        for r in range(3):
            poses.sphere[b, r] = o[r] + R[r, 0] * v[0] + R[r, 1] * v[1] + R[r, 2] * v[2]


@numba.njit(cache=True, error_model="numpy")
def lever(poses: LinkPoses, joint: int, point: FloatArray) -> float:
    """Distance [m] of `point` from the axis of joint `joint` (1 .. n)."""
    R, o = poses.rotation[joint], poses.origin[joint]
    d0, d1, d2 = point[0] - o[0], point[1] - o[1], point[2] - o[2]
    along = d0 * R[0, 2] + d1 * R[1, 2] + d2 * R[2, 2]
    return math.sqrt(max(d0 * d0 + d1 * d1 + d2 * d2 - along * along, 0.0))


@numba.njit(cache=True, error_model="numpy")
def chords(arm: Arm, half: FloatArray, width: FloatArray) -> None:
    """Chord per unit lever of each joint's half width [rad] into `width`."""
    for i in range(half.size):
        h = half[i]
        if h > 0.2 and arm.prismatic[i] == 0.0:
            h = 2.0 * math.sin(0.5 * min(h, math.pi))
        width[i] = h


@numba.njit(cache=True, error_model="numpy")
def bound_links(arm: Arm, poses: LinkPoses) -> None:
    """Motion bounds of every link within the cell of `at.width`, after `place`, into `at.motion`."""
    for k in range(1, arm.link_radius.size):
        total = 0.0
        radius, center = arm.link_radius[k], poses.link[k]
        for j in range(1, k + 1):
            w = poses.width[j - 1]
            if w > 0.0:
                total += w if arm.prismatic[j - 1] > 0.0 else w * (lever(poses, j, center) + radius)
            poses.motion[k, j] = total


@numba.njit(cache=True, error_model="numpy")
def sphere_bound(arm: Arm, poses: LinkPoses, b: int, first: int, link: int) -> float:
    """Motion bound [m] of sphere `b` on `link` with the joints after `first`, within the cell of `at.width`."""
    total = 0.0
    for j in range(first + 1, link + 1):
        w = poses.width[j - 1]
        if w > 0.0:
            total += w if arm.prismatic[j - 1] > 0.0 else w * lever(poses, j, poses.sphere[b])
    return total


@numba.njit(cache=True, error_model="numpy")
def part_in_box(arm: Arm, wanted: float, q: FloatArray, half: FloatArray) -> float:
    """Part of a cell, 1: all of it, where the proved pairs are `wanted` [m] apart; 0: they must be looked at."""
    if arm.proved == 0 or wanted > arm.apart:
        return 0.0
    part = 1.0
    for i in range(q.size):
        room = min(q[i] - arm.box[i, 0], arm.box[i, 1] - q[i])
        if room < 0.0:
            return 0.0
        if room < part * half[i]:
            part = room / half[i]
    return part


def sphere_centers(arm: Arm, q: FloatArray) -> FloatArray:
    """Centres (m, 3) [m] of every sphere at `q` (n,) [rad]."""
    poses = link_poses_of(arm)
    forward_kinematics(arm, np.array(q, dtype=np.float64), poses)
    for k in range(arm.link_radius.size):
        place_spheres(arm, poses, k)
    return poses.sphere


def sphere_motion_bounds(arm: Arm, q: FloatArray, half: FloatArray) -> FloatArray:
    """Bounds (m,) [m] on the motion of the spheres' centres from `q` (n,) in a cell of half widths `half` (n,)."""
    poses = link_poses_of(arm)
    forward_kinematics(arm, np.array(q, dtype=np.float64), poses)
    chords(arm, np.array(half, dtype=np.float64), poses.width)
    bounds = np.zeros(arm.sphere_radius.size)
    for k in range(arm.link_radius.size):
        place_spheres(arm, poses, k)
        for b in range(arm.sphere_first[arm.link_first[k]], arm.sphere_first[arm.link_first[k + 1]]):
            bounds[b] = sphere_bound(arm, poses, b, 0, k)
    return bounds
