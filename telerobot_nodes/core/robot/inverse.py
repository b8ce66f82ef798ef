"""Compiled inverse kinematics of a `Chain`: one step, a converged solution, a whole path.

Damped least squares on log6 of the pose error [ChiaveriniEtAl1994], with a velocity damper at the
position limits [FaverjonTournassoud1987]. A posture pulls a redundant arm in the null space of each point once; the
steps that follow without a pull bring the tool back exactly.
"""

from __future__ import annotations

import math

import numba
import numpy as np

from telerobot_nodes.core.robot.chain import (
    LAMBDA_MAX,
    LIMIT_GAIN,
    POSTURE_GAIN,
    SIGMA_SAFE,
    Chain,
    Workspace,
    forward,
    jacobian,
    log6_error,
)
from telerobot_nodes.core.transforms import rotation_of_quaternion
from telerobot_nodes.core.values import FloatArray

STEP_LINEAR = 0.1  # [m] largest part of the error that one step removes
STEP_ANGULAR = 0.3  # [rad]
MAX_ITERATIONS = 200
TINY = 1e-12  # [-] least damping
NEAR = 0.01  # [m], of the error with 0.3 m per rad, below which a solution needs less damping
BY_MOTION = -1.0  # instead of a bound [rad] of the pull: what the tool's motion allows, none while the tool stands
MOTION_SHARE = 0.5  # [-] of the tool's motion [rad] that the pull may have then; a Panda drifts still with 0.2
MOTION_LEVER = 0.5  # [m] of the tool's path that count as 1 rad

CONVERGED = 0
STUCK = 1
JUMPED = 2


@numba.njit(cache=True)
def _square(ws: Workspace) -> None:
    """J_free J_free^T into the lower half of `ws.normal`."""
    A, J = ws.normal, ws.jacobian
    n = J.shape[1]
    for r in range(6):
        for c in range(r + 1):
            total = 0.0
            for i in range(n):
                if ws.free[i] > 0.0:
                    total += J[r, i] * J[c, i]
            A[r, c] = total


@numba.njit(cache=True)
def _factor(ws: Workspace, damping: float) -> bool:
    """Cholesky factor of `ws.normal` + `damping` I into the lower half of `ws.factor`; False if it has none."""
    A, L = ws.normal, ws.factor
    positive = True
    for c in range(6):
        pivot = A[c, c] + damping
        for k in range(c):
            pivot -= L[c, k] * L[c, k]
        positive = positive and pivot > 1e-14
        L[c, c] = math.sqrt(max(pivot, 1e-14))
        for r in range(c + 1, 6):
            total = A[r, c]
            for k in range(c):
                total -= L[r, k] * L[c, k]
            L[r, c] = total / L[c, c]
    return positive


@numba.njit(cache=True)
def _solve_factored(L: FloatArray, x: FloatArray) -> None:
    for r in range(6):
        for k in range(r):
            x[r] -= L[r, k] * x[k]
        x[r] /= L[r, r]
    for r in range(5, -1, -1):
        for k in range(r + 1, 6):
            x[r] -= L[k, r] * x[k]
        x[r] /= L[r, r]


@numba.njit(cache=True)
def smallest_singular(ws: Workspace) -> float:
    """Smallest singular value of the free columns of `ws.jacobian`, by inverse iteration; leaves the factor."""
    _square(ws)
    return _smallest_of_square(ws)


@numba.njit(cache=True)
def _smallest_of_square(ws: Workspace) -> float:
    """`smallest_singular`, after `_square`."""
    _factor(ws, TINY)
    x = ws.work
    for r in range(6):
        x[r] = 1.0 + 0.3 * r  # any start not orthogonal to the weak direction
    largest = 1.0
    for _ in range(6):
        norm = 0.0
        for r in range(6):
            norm += x[r] * x[r]
        norm = math.sqrt(norm)
        for r in range(6):
            x[r] /= norm
        _solve_factored(ws.factor, x)
        largest = 0.0
        for r in range(6):
            largest += x[r] * x[r]
        largest = math.sqrt(largest)
    return math.sqrt(max(1.0 / largest - TINY, 0.0))


@numba.njit(cache=True)
def _bounds(chain: Chain, q: FloatArray, ws: Workspace, max_joint_step: float) -> None:
    """Velocity damper: bounds of this step, small towards a near limit, full away from it."""
    for i in range(q.size):
        ws.high[i] = min(max(LIMIT_GAIN * (chain.upper[i] - q[i]), 0.0), max_joint_step)
        ws.low[i] = -min(max(LIMIT_GAIN * (q[i] - chain.lower[i]), 0.0), max_joint_step)
        if q[i] > chain.upper[i]:
            ws.high[i] = chain.upper[i] - q[i]  # outside: come back
        if q[i] < chain.lower[i]:
            ws.low[i] = chain.lower[i] - q[i]
        ws.low[i] = max(min(ws.low[i], ws.high[i]), -max_joint_step)
        ws.high[i] = min(max(ws.high[i], ws.low[i]), max_joint_step)
        ws.free[i] = 1.0


@numba.njit(cache=True)
def _damped_solution(ws: Workspace, dq: FloatArray, damping: float) -> None:
    """Step of the free joints that removes the error left by the clamped ones, plus the null-space motion.

    `damping` [-]: share of the damping at singularities.
    """
    J, x = ws.jacobian, ws.work
    n = J.shape[1]
    _square(ws)
    added = TINY
    if not _factor(ws, -SIGMA_SAFE * SIGMA_SAFE):  # with this factor no singular value is below
        ratio = min(_smallest_of_square(ws) / SIGMA_SAFE, 1.0)
        added = damping * LAMBDA_MAX * LAMBDA_MAX * (1.0 - ratio * ratio)
    _factor(ws, added)
    for r in range(6):
        x[r] = ws.error[r]
        for i in range(n):
            # subtracting the pull from the task leaves only its null-space part
            x[r] -= J[r, i] * (ws.pull[i] if ws.free[i] > 0.0 else dq[i])
    _solve_factored(ws.factor, x)
    for i in range(n):
        if ws.free[i] > 0.0:
            dq[i] = ws.pull[i]
            for r in range(6):
                dq[i] += J[r, i] * x[r]


@numba.njit(cache=True)
def _clamp(ws: Workspace, dq: FloatArray) -> bool:
    """Clamp free joints outside their bounds; True if there was one."""
    clamped = False
    for i in range(dq.size):
        if ws.free[i] > 0.0 and not ws.low[i] <= dq[i] <= ws.high[i]:
            dq[i] = ws.low[i] if dq[i] < ws.low[i] else ws.high[i]
            ws.free[i] = 0.0
            clamped = True
    return clamped


@numba.njit(cache=True)
def _step_from_error(
    chain: Chain,
    q: FloatArray,
    max_joint_step: float,
    damping: float,
    ws: Workspace,
    out: FloatArray,
    dq: FloatArray,
) -> None:
    """Step from `q` that removes `ws.error`, as far as it may, with `ws.pull`, into `out`; after `jacobian`."""
    _bounds(chain, q, ws, max_joint_step)
    for _ in range(q.size):
        _damped_solution(ws, dq, damping)
        if not _clamp(ws, dq):
            break
    for i in range(q.size):
        out[i] = q[i] + min(max(dq[i], ws.low[i]), ws.high[i])


@numba.njit(cache=True)
def _null_pull(q: FloatArray, posture: FloatArray, bound: float, ws: Workspace) -> None:
    """Part of the way from `q` to `posture` that leaves the tool, at most `bound` [rad], into `ws.pull`."""
    J, x = ws.jacobian, ws.work
    ws.free[:] = 1.0
    smallest_singular(ws)
    for r in range(6):
        x[r] = 0.0
        for i in range(q.size):
            x[r] += J[r, i] * (posture[i] - q[i])
    _solve_factored(ws.factor, x)
    total = 0.0
    for i in range(q.size):
        ws.pull[i] = posture[i] - q[i]
        for r in range(6):
            ws.pull[i] -= J[r, i] * x[r]
        total += ws.pull[i] * ws.pull[i]
    share = min(POSTURE_GAIN, bound / max(math.sqrt(total), 1e-12))
    for i in range(q.size):
        ws.pull[i] *= share


@numba.njit(cache=True)
def _shorten(ws: Workspace, linear: float, angular: float) -> None:
    """Leave of `ws.error`, of lengths `linear` [m] and `angular` [rad], what one step may remove."""
    shrink = min(1.0, STEP_LINEAR / max(linear, 1e-12), STEP_ANGULAR / max(angular, 1e-12))
    for r in range(6):
        ws.error[r] *= shrink


@numba.njit(cache=True)
def inverse_step(
    chain: Chain,
    q: FloatArray,
    goal_rotation: FloatArray,
    goal_position: FloatArray,
    posture: FloatArray,
    max_joint_step: float,
    ws: Workspace,
    out: FloatArray,
    dq: FloatArray,
) -> tuple[float, float]:
    """One step from `q` into `out`; returns the error BEFORE the step [m], [rad]. Empty `posture`: no pull."""
    forward(chain, q, ws)
    linear, angular = log6_error(ws, goal_rotation, goal_position)
    _shorten(ws, linear, angular)
    jacobian(chain, ws)
    for i in range(q.size):
        ws.pull[i] = POSTURE_GAIN * (posture[i] - q[i]) if posture.size else 0.0
    _step_from_error(chain, q, max_joint_step, 1.0, ws, out, dq)
    return linear, angular


@numba.njit(cache=True, forceinline=True)  # to call it with so many arrays takes as long as its step
def converge(
    chain: Chain,
    q: FloatArray,
    goal_rotation: FloatArray,
    goal_position: FloatArray,
    tolerance: float,
    max_joint_step: float,
    posture: FloatArray,
    bound: float,
    known: bool,
    ws: Workspace,
    dq: FloatArray,
    trial: FloatArray,
) -> bool:
    """Iterate `q` in place until position [m] and angle [rad] errors are within `tolerance`; False if stuck.

    The first step pulls to `posture` (dof,) by at most `bound` [rad], or by BY_MOTION. Empty `posture`: no pull.
    `known`: `ws` holds the tool at `q` already, and does so again at the end of a success.
    """
    best = np.inf
    stale = 0
    pulls = posture.size > 0
    for iteration in range(MAX_ITERATIONS):
        if iteration or not known:
            forward(chain, q, ws)
        linear, angular = log6_error(ws, goal_rotation, goal_position)
        if not pulls and linear <= tolerance and angular <= tolerance:
            return True
        _shorten(ws, linear, angular)
        jacobian(chain, ws)
        ws.pull[:] = 0.0
        if pulls:
            room = bound if bound >= 0.0 else MOTION_SHARE * (angular + linear / MOTION_LEVER)
            if room > 0.0:
                _null_pull(q, posture, room, ws)
            pulls = False
        total = linear + 0.3 * angular
        damping = min(total / NEAR, 1.0)  # a damped error along the singular direction would stay for ever
        _step_from_error(chain, q, max_joint_step, damping * damping, ws, trial, dq)
        stale = 0 if total < 0.999 * best else stale + 1
        best = min(best, total)
        if stale > 20:
            return False
        q[:] = trial
    return False


@numba.njit(cache=True)
def middle_deviations(chain: Chain, joints: FloatArray, poses: FloatArray, ws: Workspace, out: FloatArray) -> None:
    """How far the tool at the middle between neighbouring rows of `joints` (n, dof) [rad] is from that of `poses`.

    The middle between two of `poses` (n, 7) is on the straight line, half the turn. Distances [m] and angles [rad] into
    `out` (n - 1, 2).
    """
    q = np.empty(joints.shape[1])
    quaternion = np.empty(4)
    p = np.empty(3)
    R = np.empty((3, 3))
    for k in range(joints.shape[0] - 1):
        for i in range(q.size):
            q[i] = 0.5 * (joints[k, i] + joints[k + 1, i])
        for i in range(3):
            p[i] = 0.5 * (poses[k, i] + poses[k + 1, i])
        same = total = 0.0
        for i in range(3, 7):
            same += poses[k, i] * poses[k + 1, i]
        for i in range(4):
            quaternion[i] = poses[k, 3 + i] + (poses[k + 1, 3 + i] if same >= 0.0 else -poses[k + 1, 3 + i])
            total += quaternion[i] * quaternion[i]
        for i in range(4):
            quaternion[i] /= math.sqrt(total)
        rotation_of_quaternion(quaternion, R)
        forward(chain, q, ws)
        out[k, 0], out[k, 1] = log6_error(ws, R, p)


@numba.njit(cache=True)
def _turn(q: FloatArray, last: FloatArray) -> float:
    """Largest rotation of a joint between two configurations [rad]."""
    most = 0.0
    for i in range(q.size):
        most = max(most, abs(q[i] - last[i]))
    return most


@numba.njit(cache=True)
def converge_path(
    chain: Chain,
    poses: FloatArray,
    q_seed: FloatArray,
    tolerance: float,
    max_joint_step: float,
    max_jump: float,
    postures: FloatArray,
    bounds: FloatArray,
    ws: Workspace,
    out: FloatArray,
) -> tuple[int, int]:
    """Solutions of `poses` (n, 7) into `out` (n, dof), each from the one before; returns (status, row).

    `postures` (n, dof) pull by at most `bounds` (n,) [rad], or BY_MOTION; empty: no pull. A point that is not reached
    with its pull is solved without.
    """
    q = q_seed.copy()
    last = q_seed.copy()
    nothing = np.empty(0)
    dq, trial = np.empty(q.size), np.empty(q.size)
    R = np.empty((3, 3))
    known = False  # that `ws` holds the tool at `q`
    for k in range(poses.shape[0]):
        rotation_of_quaternion(poses[k, 3:], R)
        p = poses[k, :3]
        found = False
        if postures.size:
            pull, bound = postures[k], bounds[k]
            found = converge(chain, q, R, p, tolerance, max_joint_step, pull, bound, known, ws, dq, trial)
            found = found and not (k > 0 and _turn(q, last) > max_jump)
            if not found:
                q[:] = last
                known = False
        if not found and not converge(chain, q, R, p, tolerance, max_joint_step, nothing, 0.0, known, ws, dq, trial):
            return STUCK, k
        known = True
        if k > 0 and _turn(q, last) > max_jump:
            return JUMPED, k
        last[:] = q
        out[k] = q
    return CONVERGED, poses.shape[0]
