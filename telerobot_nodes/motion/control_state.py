"""The states of the control loop, as a table. Values equal the constants of `ControlState.msg`."""

from __future__ import annotations

from enum import Enum, IntEnum

from telerobot_nodes.errors import TransitionError


class ControlState(IntEnum):
    """What the loop does."""

    HOLDING = 0  # at rest, ready for a window
    TRACKING = 1  # following
    STOPPING = 2  # coming to rest on the path
    STOPPED = 3  # at rest after STOPPING; needs a new window, once the cause is gone
    FAULT = 4  # the hardware is not ready, or does not follow


class ControlEvent(Enum):
    """What happens to the loop."""

    SEEN = "the arm's joints are known, and its face is ready"
    FOLLOW = "a window is adopted"
    REST = "the motion has come to rest"
    STOP = "a halt, stale input or a monitor asks for rest"
    TROUBLE = "the hardware is not ready, or does not follow"
    CLEARED = "the trouble is gone, and the setpoint is where the arm is"


_HOLDING, _TRACKING, _STOPPING, _STOPPED, _FAULT = ControlState
_E = ControlEvent

TRANSITIONS: dict[tuple[ControlState, ControlEvent], ControlState] = {
    (_HOLDING, _E.FOLLOW): _TRACKING,
    (_HOLDING, _E.REST): _HOLDING,
    (_HOLDING, _E.STOP): _STOPPED,
    (_HOLDING, _E.TROUBLE): _FAULT,
    (_TRACKING, _E.FOLLOW): _TRACKING,
    (_TRACKING, _E.REST): _HOLDING,
    (_TRACKING, _E.STOP): _STOPPING,
    (_TRACKING, _E.TROUBLE): _FAULT,
    (_STOPPING, _E.REST): _STOPPED,
    (_STOPPING, _E.STOP): _STOPPING,
    (_STOPPING, _E.TROUBLE): _FAULT,
    (_STOPPED, _E.FOLLOW): _TRACKING,
    (_STOPPED, _E.REST): _STOPPED,
    (_STOPPED, _E.STOP): _STOPPED,
    (_STOPPED, _E.TROUBLE): _FAULT,
    (_FAULT, _E.SEEN): _HOLDING,
    (_FAULT, _E.REST): _FAULT,
    (_FAULT, _E.STOP): _FAULT,
    (_FAULT, _E.TROUBLE): _FAULT,
    (_FAULT, _E.CLEARED): _STOPPED,
}


def next_state(state: ControlState, event: ControlEvent) -> ControlState:
    """The state after `event`; raises TransitionError when the table has no such pair."""
    try:
        return TRANSITIONS[state, event]
    except KeyError:
        raise TransitionError("control", state.name, event.name) from None
