"""Monitors [GCMSF]: conditions that stop a motion at once, and the list of all reasons why a motion ends.

Motion away from a joint limit or singularity is always allowed: these two monitors stop only motion towards it.
"""

from __future__ import annotations

from enum import IntEnum

from numba import njit

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.motion.law.law_records import Law, LawSix, LawValue, State, StateValue


class Termination(IntEnum):
    """Why a motion ended; the first reason is reported."""

    RUNNING = 0
    COMPLETED = 1  # destination reached, no ending conditions selected
    CONDITIONS = 2  # all selected ending conditions hold
    END_TIME = 3  # `end_time` passed before the conditions held
    MAX_FORCE = 4
    MAX_TORQUE = 5
    TRANS_THRESHOLD = 6
    ANG_THRESHOLD = 7
    MIN_FORCE = 8  # contact was made and then lost
    MIN_TORQUE = 9
    JOINT_LIMIT = 10
    SINGULARITY = 11
    UNREACHABLE = 12  # the arm cannot follow the nominal motion
    STALE_SENSOR = 13
    FROZEN_SENSOR = 14
    INVALID_SENSOR = 15  # not finite
    EXTERNAL_STOP = 16
    TOUCHED = 17  # move to touch: the threshold was crossed and the tool backed off as selected
    MISSED = 18  # move to touch: destination reached without contact
    SNAGGED = 19  # move to touch: safety threshold exceeded while backing off
    HELD_BACK = 20  # move to touch: back at the start and still above the reverse thresholds
    GRIPPED = 21  # compliant grasp: the fingers hold an object
    OPENED = 22  # free grasp: the opening is reached
    BLOCKED = 23  # free grasp: the fingers stopped before it
    EMPTY = 24  # compliant grasp: the fingers closed on nothing
    GUARD = 25  # the motion would have taken the tool into the guard's band

    @property
    def succeeded(self) -> bool:
        """True when the motion reached its purpose."""
        return self in _SUCCESSES


_SUCCESSES = frozenset(
    (Termination.COMPLETED, Termination.CONDITIONS, Termination.TOUCHED, Termination.GRIPPED, Termination.OPENED)
)
LOST_DISTANCE = 0.02  # [m] between the tool wanted and the one the joints can reach
LOST_ANGLE = 0.1  # [rad] counted as LOST_DISTANCE

_NOISE = 1e-8  # [rad], [-] per sample: a smaller approach is rounding
_MAX_FORCE, _MAX_TORQUE = int(Termination.MAX_FORCE), int(Termination.MAX_TORQUE)
_TRANS, _ANG = int(Termination.TRANS_THRESHOLD), int(Termination.ANG_THRESHOLD)
_MIN_FORCE, _MIN_TORQUE = int(Termination.MIN_FORCE), int(Termination.MIN_TORQUE)
_LIMIT, _SINGULARITY = int(Termination.JOINT_LIMIT), int(Termination.SINGULARITY)
_UNREACHABLE = int(Termination.UNREACHABLE)


@njit(cache=True)
def watch(law: Law, state: State) -> int:
    """Termination of the first monitor that stops the motion after this sample; 0: none."""
    felt = _watch_wrench(law, state)
    if felt:
        return felt
    if state.value[StateValue.TRANS] > law.value[LawValue.TRANS_THRESHOLD]:
        return _TRANS
    if state.value[StateValue.ANGLE] > law.value[LawValue.ANG_THRESHOLD]:
        return _ANG
    return _watch_joints(law, state)


@njit(cache=True)
def _watch_wrench(law: Law, state: State) -> int:
    """Force or torque above its maximum, or below its minimum once contact was made."""
    force, torque = state.value[StateValue.FELT_FORCE], state.value[StateValue.FELT_TORQUE]
    code = 0
    if _lost(force, law.value[LawValue.MIN_FORCE_THRES], state.value, StateValue.TOUCHED_FORCE):
        code = _MIN_FORCE
    if _lost(torque, law.value[LawValue.MIN_TORQUE_THRES], state.value, StateValue.TOUCHED_TORQUE):
        code = _MIN_TORQUE
    if torque > law.value[LawValue.MAX_TORQUE_THRES] > 0.0:
        code = _MAX_TORQUE
    if force > law.value[LawValue.MAX_FORCE_THRES] > 0.0:
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
    """Motion towards a limit or singularity nearer than allowed, or an unreachable goal."""
    margin, sigma = state.value[StateValue.JOINT_MARGIN], state.value[StateValue.SIGMA]
    code = 0
    if state.value[StateValue.RESIDUAL] > LOST_DISTANCE:
        code = _UNREACHABLE
    if sigma < law.six[LawSix.J_SAFETY_LIMIT, 1] and sigma < state.value[StateValue.LAST_SIGMA] - _NOISE:
        code = _SINGULARITY
    if margin < law.six[LawSix.J_SAFETY_LIMIT, 0] and margin < state.value[StateValue.LAST_JOINT_MARGIN] - _NOISE:
        code = _LIMIT
    return code
