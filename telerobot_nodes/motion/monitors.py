"""Monitors stop the motion at once; every motion ends for exactly one reason of a finite list [GCMSF].

Motion away from a limit or singularity is always allowed: those two stop only what goes nearer.
"""

from __future__ import annotations

from enum import IntEnum

from numba import njit

from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.motion.law_records import (
    ANG_THRESHOLD,
    ANGLE,
    FELT_FORCE,
    FELT_TORQUE,
    J_SAFETY_LIMIT,
    JOINT_MARGIN,
    LAST_JOINT_MARGIN,
    LAST_SIGMA,
    MAX_FORCE_THRES,
    MAX_TORQUE_THRES,
    MIN_FORCE_THRES,
    MIN_TORQUE_THRES,
    RESIDUAL,
    SIGMA,
    TOUCHED_FORCE,
    TOUCHED_TORQUE,
    TRANS,
    TRANS_THRESHOLD,
    Law,
    State,
)


class Termination(IntEnum):
    """Why a motion ended; the first that comes is the one reported."""

    RUNNING = 0
    COMPLETED = 1  # destination reached, no ending conditions selected
    CONDITIONS = 2  # all selected ending conditions hold
    END_TIME = 3  # `end_time` passed first
    MAX_FORCE = 4
    MAX_TORQUE = 5
    TRANS_THRESHOLD = 6
    ANG_THRESHOLD = 7
    MIN_FORCE = 8  # contact was there, and is lost
    MIN_TORQUE = 9
    JOINT_LIMIT = 10
    SINGULARITY = 11
    UNREACHABLE = 12  # the arm cannot go where the nominal motion leads
    STALE_SENSOR = 13
    FROZEN_SENSOR = 14
    INVALID_SENSOR = 15  # not finite
    EXTERNAL_STOP = 16
    TOUCHED = 17  # move to touch: the threshold was crossed, and the tool has backed off as chosen
    MISSED = 18  # move to touch: the destination was reached without a touch
    SNAGGED = 19  # move to touch: above the safety thresholds while backing off
    HELD_BACK = 20  # move to touch: backed off to where it began, and still above the reverse thresholds
    GRIPPED = 21  # compliant grasp: the fingers rest against something
    OPENED = 22  # free grasp: the width is reached
    BLOCKED = 23  # free grasp: the fingers stopped before the width
    EMPTY = 24  # compliant grasp: the fingers met

    @property
    def succeeded(self) -> bool:
        """True when the motion ended as it was meant to."""
        return self in _AS_MEANT


_AS_MEANT = frozenset(
    (Termination.COMPLETED, Termination.CONDITIONS, Termination.TOUCHED, Termination.GRIPPED, Termination.OPENED)
)
LOST_DISTANCE = 0.02  # [m] between the tool wanted and the one the joints can reach
LOST_ANGLE = 0.1  # [rad] counted as LOST_DISTANCE

_NOISE = 1e-8  # [rad], [-] per sample: nearer by less is rounding
_MAX_FORCE, _MAX_TORQUE = int(Termination.MAX_FORCE), int(Termination.MAX_TORQUE)
_TRANS, _ANG = int(Termination.TRANS_THRESHOLD), int(Termination.ANG_THRESHOLD)
_MIN_FORCE, _MIN_TORQUE = int(Termination.MIN_FORCE), int(Termination.MIN_TORQUE)
_LIMIT, _SINGULARITY = int(Termination.JOINT_LIMIT), int(Termination.SINGULARITY)
_UNREACHABLE = int(Termination.UNREACHABLE)


@njit(cache=True)
def watch(law: Law, state: State) -> int:
    """The first monitor that stops the motion after this sample, as Termination; 0: none."""
    felt = _watch_wrench(law, state)
    if felt:
        return felt
    if state.value[TRANS] > law.value[TRANS_THRESHOLD]:
        return _TRANS
    if state.value[ANGLE] > law.value[ANG_THRESHOLD]:
        return _ANG
    return _watch_joints(law, state)


@njit(cache=True)
def _watch_wrench(law: Law, state: State) -> int:
    """Too much force; or contact lost, once it was there."""
    force, torque = state.value[FELT_FORCE], state.value[FELT_TORQUE]
    code = 0
    if _lost(force, law.value[MIN_FORCE_THRES], state.value, TOUCHED_FORCE):
        code = _MIN_FORCE
    if _lost(torque, law.value[MIN_TORQUE_THRES], state.value, TOUCHED_TORQUE):
        code = _MIN_TORQUE
    if torque > law.value[MAX_TORQUE_THRES] > 0.0:
        code = _MAX_TORQUE
    if force > law.value[MAX_FORCE_THRES] > 0.0:
        code = _MAX_FORCE
    return code


@njit(cache=True)
def _lost(felt: float, least: float, value: FloatArray, touched: int) -> bool:
    if least <= 0.0:
        return False
    if felt >= least:
        value[touched] = 1.0
        return False
    return bool(value[touched] > 0.0)


@njit(cache=True)
def _watch_joints(law: Law, state: State) -> int:
    """Nearer to a limit or singularity than allowed, and going nearer; or out of reach."""
    margin, sigma = state.value[JOINT_MARGIN], state.value[SIGMA]
    code = 0
    if state.value[RESIDUAL] > LOST_DISTANCE:
        code = _UNREACHABLE
    if sigma < law.pair[J_SAFETY_LIMIT, 1] and sigma < state.value[LAST_SIGMA] - _NOISE:
        code = _SINGULARITY
    if margin < law.pair[J_SAFETY_LIMIT, 0] and margin < state.value[LAST_JOINT_MARGIN] - _NOISE:
        code = _LIMIT
    return code
