"""Compiled algebra of rotations, rigid transforms, displacements and wrenches on plain arrays.

A transform is a rotation R (3, 3) and an offset p (3,). A displacement d (6,) is an offset [m] and a rotation vector
[rad]; it stands for the transform (exp(d[3:]), d[:3]). Every function writes its result into an array of the caller.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from telerobot_nodes.core.values import FloatArray

_TINY = 1e-9  # [rad]


@njit(cache=True)
def copy(source: FloatArray, target: FloatArray) -> None:
    """Copy a vector; a loop, as slice assignment costs seconds of compilation."""
    for i in range(source.size):
        target[i] = source[i]


@njit(cache=True)
def copy_rotation(source: FloatArray, target: FloatArray) -> None:
    """Copy a matrix (3, 3)."""
    for r in range(3):
        for c in range(3):
            target[r, c] = source[r, c]


@njit(cache=True)
def rotation_into(vector: FloatArray, R: FloatArray) -> None:
    """Exponential (Rodrigues): rotation matrix (3, 3) of a rotation vector (3,) [rad]."""
    x, y, z = vector[0], vector[1], vector[2]
    angle = math.sqrt(x * x + y * y + z * z)
    if angle < 1e-4:  # the series keeps what the quotients lose
        s = 1.0 - angle * angle / 6.0
        c = 0.5 - angle * angle / 24.0
    else:
        s = math.sin(angle) / angle
        half = math.sin(0.5 * angle)
        c = 2.0 * half * half / (angle * angle)
    R[0, 0], R[0, 1], R[0, 2] = 1.0 - c * (y * y + z * z), c * x * y - s * z, c * x * z + s * y
    R[1, 0], R[1, 1], R[1, 2] = c * x * y + s * z, 1.0 - c * (x * x + z * z), c * y * z - s * x
    R[2, 0], R[2, 1], R[2, 2] = c * x * z - s * y, c * y * z + s * x, 1.0 - c * (x * x + y * y)


@njit(cache=True)
def vector_into(R: FloatArray, vector: FloatArray) -> float:
    """Logarithm: rotation vector (3,) [rad] of a rotation matrix (3, 3); returns its angle, 0 .. pi."""
    x, y, z = 0.5 * (R[2, 1] - R[1, 2]), 0.5 * (R[0, 2] - R[2, 0]), 0.5 * (R[1, 0] - R[0, 1])
    sine = math.sqrt(x * x + y * y + z * z)
    cosine = 0.5 * (R[0, 0] + R[1, 1] + R[2, 2] - 1.0)
    angle = math.atan2(sine, cosine)
    if cosine > -0.99:
        scale = angle / sine if sine > _TINY else 1.0
        vector[0], vector[1], vector[2] = scale * x, scale * y, scale * z
        return angle
    # near half a turn the axis is the longest column of the symmetric part, signed by the antisymmetric part
    k = 0
    for i in range(3):
        if R[i, i] > R[k, k]:
            k = i
    for i in range(3):
        vector[i] = 0.5 * (R[i, k] + R[k, i]) - (cosine if i == k else 0.0)
    sign = -1.0 if vector[0] * x + vector[1] * y + vector[2] * z < 0.0 else 1.0
    scale = sign * angle / length(vector)
    for i in range(3):
        vector[i] *= scale
    return angle


@njit(cache=True)
def rotation_of_quaternion(quaternion: FloatArray, out: FloatArray) -> None:
    """Rotation matrix of a unit quaternion qx qy qz qw into `out` (3, 3)."""
    x, y, z, w = quaternion[0], quaternion[1], quaternion[2], quaternion[3]
    out[0, 0], out[0, 1], out[0, 2] = 1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)
    out[1, 0], out[1, 1], out[1, 2] = 2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)
    out[2, 0], out[2, 1], out[2, 2] = 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)


@njit(cache=True)
def pose_into(R: FloatArray, p: FloatArray, pose: FloatArray) -> None:
    """`x y z [m], qx qy qz qw` with qw >= 0 of a transform into `pose` (7,)."""
    for r in range(3):
        pose[r] = p[r]
    trace = R[0, 0] + R[1, 1] + R[2, 2]
    if trace > 0.0:
        s = 2.0 * math.sqrt(1.0 + trace)
        pose[3] = (R[2, 1] - R[1, 2]) / s
        pose[4] = (R[0, 2] - R[2, 0]) / s
        pose[5] = (R[1, 0] - R[0, 1]) / s
        pose[6] = 0.25 * s
        return
    i = 0
    for k in range(3):
        if R[k, k] > R[i, i]:
            i = k
    j, k = (i + 1) % 3, (i + 2) % 3
    s = 2.0 * math.sqrt(1.0 + R[i, i] - R[j, j] - R[k, k])
    w = (R[k, j] - R[j, k]) / s
    sign = -1.0 if w < 0.0 else 1.0
    pose[3 + i] = sign * 0.25 * s
    pose[3 + j] = sign * (R[j, i] + R[i, j]) / s
    pose[3 + k] = sign * (R[k, i] + R[i, k]) / s
    pose[6] = sign * w


@njit(cache=True)
def length(v: FloatArray) -> float:
    """Euclidean length of (3,)."""
    return math.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])


@njit(cache=True)
def turn(R: FloatArray, v: FloatArray, out: FloatArray) -> None:
    """`out = R v`; `out` may be `v`."""
    x, y, z = v[0], v[1], v[2]
    for r in range(3):
        out[r] = R[r, 0] * x + R[r, 1] * y + R[r, 2] * z


@njit(cache=True)
def turn_back(R: FloatArray, v: FloatArray, out: FloatArray) -> None:
    """`out = R^T v`; `out` may be `v`."""
    x, y, z = v[0], v[1], v[2]
    for c in range(3):
        out[c] = R[0, c] * x + R[1, c] * y + R[2, c] * z


@njit(cache=True)
def multiply(A: FloatArray, B: FloatArray, out: FloatArray) -> None:
    """`out = A B` of matrices (3, 3); `out` must be another array."""
    for r in range(3):
        for c in range(3):
            out[r, c] = A[r, 0] * B[0, c] + A[r, 1] * B[1, c] + A[r, 2] * B[2, c]


@njit(cache=True)
def compose(Ra: FloatArray, pa: FloatArray, Rb: FloatArray, pb: FloatArray, R: FloatArray, p: FloatArray) -> None:
    """(R, p) = (Ra, pa) (Rb, pb); the result must be other arrays."""
    turn(Ra, pb, p)
    for r in range(3):
        p[r] += pa[r]
        for c in range(3):  # not by `multiply`: calls this deep are not inlined
            R[r, c] = Ra[r, 0] * Rb[0, c] + Ra[r, 1] * Rb[1, c] + Ra[r, 2] * Rb[2, c]


@njit(cache=True)
def invert(Ra: FloatArray, pa: FloatArray, R: FloatArray, p: FloatArray) -> None:
    """(R, p) = (Ra, pa)^-1; the result must be other arrays."""
    turn_back(Ra, pa, p)
    for r in range(3):
        p[r] = -p[r]
        for c in range(3):
            R[r, c] = Ra[c, r]


@njit(cache=True)
def straighten(R: FloatArray) -> None:
    """Newton step towards orthogonality, R (3 I - R^T R) / 2: removes the rounding error of many products."""
    M = np.empty((3, 3))
    for r in range(3):
        for c in range(3):
            M[r, c] = -0.5 * (R[0, r] * R[0, c] + R[1, r] * R[1, c] + R[2, r] * R[2, c])
        M[r, r] += 1.5
    for r in range(3):
        x, y, z = R[r, 0], R[r, 1], R[r, 2]
        for c in range(3):
            R[r, c] = x * M[0, c] + y * M[1, c] + z * M[2, c]


@njit(cache=True)
def displacement_from(R: FloatArray, p: FloatArray, d: FloatArray, out: FloatArray) -> None:
    """Displacement `d` (6,) of frame F expressed in the parent of F: D -> T D T^-1, with F at T = (R, p) in its parent.

    Exact for displacements of any size.
    """
    turn(R, d[:3], out[:3])
    turn(R, d[3:], out[3:])
    S = np.empty((3, 3))
    rotation_into(out[3:], S)
    for r in range(3):
        out[r] += p[r] - (S[r, 0] * p[0] + S[r, 1] * p[1] + S[r, 2] * p[2])


@njit(cache=True)
def wrench_from(R: FloatArray, p: FloatArray, w: FloatArray, out: FloatArray) -> None:
    """Wrench `w` (6,) of frame F expressed in, and at the origin of, the parent of F; T = (R, p) places F in it."""
    turn(R, w[:3], out[:3])
    turn(R, w[3:], out[3:])
    out[3] += p[1] * out[2] - p[2] * out[1]
    out[4] += p[2] * out[0] - p[0] * out[2]
    out[5] += p[0] * out[1] - p[1] * out[0]


@njit(cache=True)
def wrench_into(R: FloatArray, p: FloatArray, w: FloatArray, out: FloatArray) -> None:
    """Inverse of `wrench_from`: a wrench of the parent of F expressed in, and at the origin of, F."""
    f, m = np.empty(3), np.empty(3)
    m[0] = w[3] - (p[1] * w[2] - p[2] * w[1])
    m[1] = w[4] - (p[2] * w[0] - p[0] * w[2])
    m[2] = w[5] - (p[0] * w[1] - p[1] * w[0])
    turn_back(R, w[:3], f)
    copy(f, out[:3])
    turn_back(R, m, out[3:])


@njit(cache=True)
def clamp(d: FloatArray, most: FloatArray, period: float) -> None:
    """Limit each component of a displacement per sample to the velocities `most`; in place."""
    for i in range(d.size):
        bound = most[i] * period
        d[i] = min(max(d[i], -bound), bound)


@njit(cache=True)
def shorten(d: FloatArray, most: FloatArray, period: float, shares: FloatArray) -> None:
    """Limit offset and rotation of a displacement per sample to speeds [m/s], [rad/s]; both keep their direction.

    `shares` (2,) receives the part of each that is left, 0 .. 1.
    """
    for part in range(2):
        v = d[3 * part : 3 * part + 3]
        size = length(v)
        bound = most[part] * period
        shares[part] = bound / size if size > bound else 1.0
        for i in range(3):
            v[i] *= shares[part]
