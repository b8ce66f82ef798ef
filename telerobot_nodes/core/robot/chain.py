"""Compiled kinematics of a serial chain: forward kinematics, Jacobian, damped limit-aware inverse step.

Only loops over small arrays belong here: numba compiles every function and caches it on disk. Frames are those of the
Pinocchio model from which `chain_of` takes the arrays.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numba
import numpy as np
import pinocchio as pin

from telerobot_nodes.core.transforms import length, multiply, turn, turn_back, vector_into
from telerobot_nodes.core.values import FloatArray

LAMBDA_MAX = 0.05  # [-] damping at a singularity
SIGMA_SAFE = 0.04  # [-] smallest singular value from which no damping is needed
LIMIT_GAIN = 0.5  # [-] largest part of the distance to a position limit in one step
POSTURE_GAIN = 0.1  # [-] part of the distance to the posture in one step, in the null space


class Chain(NamedTuple):
    """A serial chain of one-axis joints as flat arrays."""

    rotation: FloatArray  # (dof, 3, 3) joint i in joint i - 1 at zero
    offset: FloatArray  # (dof, 3) [m]
    axis: FloatArray  # (dof, 3) in the joint's frame
    prismatic: FloatArray  # (dof,) 1 for a prismatic joint, else 0
    tool_rotation: FloatArray  # (3, 3) tool in the last joint
    tool_offset: FloatArray  # (3,) [m]
    lower: FloatArray  # (dof,) [rad]
    upper: FloatArray  # (dof,) [rad]


class Workspace(NamedTuple):
    """Scratch memory of one thread, overwritten by every call."""

    origins: FloatArray  # (dof, 3)
    axes: FloatArray  # (dof, 3)
    jacobian: FloatArray  # (6, dof)
    normal: FloatArray  # (6, 6) J J^T of the free joints, its lower half
    factor: FloatArray  # (6, 6) Cholesky factor of it, damped, in the lower half
    error: FloatArray  # (6,)
    work: FloatArray  # (6,)
    rotation: FloatArray  # (3, 3)
    position: FloatArray  # (3,)
    frames: FloatArray  # (3, 3, 3) rotations on the way to the tool
    low: FloatArray  # (dof,)
    high: FloatArray  # (dof,)
    free: FloatArray  # (dof,) 1 while not clamped
    pull: FloatArray  # (dof,)


def chain_of(model: pin.Model, tool_frame_id: int) -> Chain:
    """The chain of a model with one-axis joints in series."""
    n = model.nv
    data = model.createData()
    q = pin.neutral(model)
    pin.computeJointJacobians(model, data, q)
    columns = [pin.getJointJacobian(model, data, i + 1, pin.LOCAL)[:, i] for i in range(n)]
    prismatic = np.array([1.0 if np.linalg.norm(c[:3]) > 0.5 else 0.0 for c in columns])
    axis = np.array([c[:3] if p else c[3:] for c, p in zip(columns, prismatic, strict=True)])
    placements = [model.jointPlacements[i + 1] for i in range(n)]
    tool = model.frames[tool_frame_id].placement
    return Chain(
        np.array([T.rotation for T in placements]),
        np.array([T.translation for T in placements]),
        axis,
        prismatic,
        np.ascontiguousarray(tool.rotation),
        np.array(tool.translation),
        np.array(model.lowerPositionLimit),
        np.array(model.upperPositionLimit),
    )


def workspace_of(dof: int) -> Workspace:
    """Scratch memory for a chain of `dof` joints."""
    z = np.zeros
    matrices = (z((dof, 3)), z((dof, 3)), z((6, dof)), z((6, 6)), z((6, 6)))
    return Workspace(*matrices, z(6), z(6), z((3, 3)), z(3), z((3, 3, 3)), z(dof), z(dof), z(dof), z(dof))


@numba.njit(cache=True)
def forward(chain: Chain, q: FloatArray, ws: Workspace) -> None:
    """Tool pose in WORLD into `ws.rotation`, `ws.position`; joint origins and axes into `ws`."""
    R, A, B = ws.frames[0], ws.frames[1], ws.frames[2]
    for r in range(3):
        for c in range(3):
            R[r, c] = 1.0 if r == c else 0.0
    p0 = p1 = p2 = 0.0
    for i in range(q.size):
        o = chain.offset[i]
        p0 += R[0, 0] * o[0] + R[0, 1] * o[1] + R[0, 2] * o[2]
        p1 += R[1, 0] * o[0] + R[1, 1] * o[1] + R[1, 2] * o[2]
        p2 += R[2, 0] * o[0] + R[2, 1] * o[1] + R[2, 2] * o[2]
        multiply(R, chain.rotation[i], A)
        k = chain.axis[i]
        turn(A, k, ws.axes[i])
        if chain.prismatic[i] > 0.0:
            p0 += ws.axes[i, 0] * q[i]
            p1 += ws.axes[i, 1] * q[i]
            p2 += ws.axes[i, 2] * q[i]
            R[:] = A
        else:
            _axis_rotation(k, q[i], B)
            multiply(A, B, R)
        ws.origins[i, 0] = p0
        ws.origins[i, 1] = p1
        ws.origins[i, 2] = p2
    t = chain.tool_offset
    ws.position[0] = p0 + R[0, 0] * t[0] + R[0, 1] * t[1] + R[0, 2] * t[2]
    ws.position[1] = p1 + R[1, 0] * t[0] + R[1, 1] * t[1] + R[1, 2] * t[2]
    ws.position[2] = p2 + R[2, 0] * t[0] + R[2, 1] * t[1] + R[2, 2] * t[2]
    multiply(R, chain.tool_rotation, ws.rotation)


@numba.njit(cache=True)
def _axis_rotation(k: FloatArray, angle: float, out: FloatArray) -> None:
    c, s = math.cos(angle), math.sin(angle)
    x, y, z = k[0], k[1], k[2]
    w = 1.0 - c
    out[0, 0], out[0, 1], out[0, 2] = c + w * x * x, w * x * y - s * z, w * x * z + s * y
    out[1, 0], out[1, 1], out[1, 2] = w * x * y + s * z, c + w * y * y, w * y * z - s * x
    out[2, 0], out[2, 1], out[2, 2] = w * x * z - s * y, w * y * z + s * x, c + w * z * z


@numba.njit(cache=True)
def jacobian(chain: Chain, ws: Workspace) -> None:
    """Jacobian in the tool frame into `ws.jacobian` (6, dof), from the last `forward`."""
    R, p = ws.rotation, ws.position
    for i in range(ws.axes.shape[0]):
        z0, z1, z2 = ws.axes[i, 0], ws.axes[i, 1], ws.axes[i, 2]
        if chain.prismatic[i] > 0.0:
            v0, v1, v2 = z0, z1, z2
            z0 = z1 = z2 = 0.0
        else:
            d0, d1, d2 = p[0] - ws.origins[i, 0], p[1] - ws.origins[i, 1], p[2] - ws.origins[i, 2]
            v0, v1, v2 = z1 * d2 - z2 * d1, z2 * d0 - z0 * d2, z0 * d1 - z1 * d0
        for r in range(3):
            ws.jacobian[r, i] = R[0, r] * v0 + R[1, r] * v1 + R[2, r] * v2
            ws.jacobian[3 + r, i] = R[0, r] * z0 + R[1, r] * z1 + R[2, r] * z2


@numba.njit(cache=True)
def jacobians(chain: Chain, rows: FloatArray, ws: Workspace, out: FloatArray) -> None:
    """Jacobians in the tool frame of configurations (n, dof) [rad] into `out` (n, 6, dof)."""
    for i in range(rows.shape[0]):
        forward(chain, rows[i], ws)
        jacobian(chain, ws)
        out[i] = ws.jacobian


@numba.njit(cache=True)
def log6_error(ws: Workspace, goal_rotation: FloatArray, goal_position: FloatArray) -> tuple[float, float]:
    """log6 of T_tool_goal into `ws.error` (tool frame); returns distance [m] and angle [rad] to the goal."""
    R, p, e, M = ws.rotation, ws.position, ws.error, ws.normal
    for r in range(3):
        e[r] = goal_position[r] - p[r]
        for c in range(3):
            M[r, c] = R[0, r] * goal_rotation[0, c] + R[1, r] * goal_rotation[1, c] + R[2, r] * goal_rotation[2, c]
    distance = length(e)
    turn_back(R, e[:3], e[:3])
    t0, t1, t2 = e[0], e[1], e[2]
    angle = vector_into(M, e[3:])
    w0, w1, w2 = e[3], e[4], e[5]
    # inverse of the left Jacobian of SO(3): v = t - w x t / 2 + beta w x (w x t)
    if angle < 1e-4:
        beta = 1.0 / 12.0 + angle * angle / 720.0
    else:
        beta = 1.0 / (angle * angle) - (1.0 + math.cos(angle)) / (2.0 * angle * math.sin(angle))
    if angle > math.pi - 1e-6:
        beta = 1.0 / (angle * angle)
    c0, c1, c2 = w1 * t2 - w2 * t1, w2 * t0 - w0 * t2, w0 * t1 - w1 * t0
    e[0] = t0 - 0.5 * c0 + beta * (w1 * c2 - w2 * c1)
    e[1] = t1 - 0.5 * c1 + beta * (w2 * c0 - w0 * c2)
    e[2] = t2 - 0.5 * c2 + beta * (w0 * c1 - w1 * c0)
    return distance, angle
