"""Who may command the arm: a table of states and events; the e-stop latches until an explicit reset.

Rules: every state takes ESTOP; only RESET leaves ESTOP and FAULT, and it leads to HOLDING, never to motion;
a setpoint moves the arm only in READY and HOLDING. A pair that is not in the table raises and changes nothing.
"""

from __future__ import annotations

from enum import Enum, IntEnum

from telerobot_nodes.errors import TransitionError


class State(IntEnum):
    """Values equal `HardwareState.msg`."""

    READY = 0  # follows setpoints
    HOLDING = 1  # no fresh setpoint: at rest, or coming to rest
    ESTOP = 2  # latched
    FAULT = 3  # the arm cannot follow or does not answer


class Event(Enum):
    """What can happen to the arm's readiness."""

    SETPOINT = "setpoint accepted"
    STALE = "setpoint too old"
    ESTOP = "e-stop"
    FAULT = "fault"
    RESET = "reset"


TRANSITIONS: dict[tuple[State, Event], State] = {
    (State.HOLDING, Event.SETPOINT): State.READY,
    (State.HOLDING, Event.STALE): State.HOLDING,
    (State.HOLDING, Event.ESTOP): State.ESTOP,
    (State.HOLDING, Event.FAULT): State.FAULT,
    (State.HOLDING, Event.RESET): State.HOLDING,
    (State.READY, Event.SETPOINT): State.READY,
    (State.READY, Event.STALE): State.HOLDING,
    (State.READY, Event.ESTOP): State.ESTOP,
    (State.READY, Event.FAULT): State.FAULT,
    (State.ESTOP, Event.ESTOP): State.ESTOP,
    (State.ESTOP, Event.STALE): State.ESTOP,
    (State.ESTOP, Event.FAULT): State.ESTOP,
    (State.ESTOP, Event.RESET): State.HOLDING,
    (State.FAULT, Event.FAULT): State.FAULT,
    (State.FAULT, Event.STALE): State.FAULT,
    (State.FAULT, Event.ESTOP): State.ESTOP,
    (State.FAULT, Event.RESET): State.HOLDING,
}


class Readiness:
    """The arm's state, with the reason why it is not READY."""

    def __init__(self) -> None:
        self.state = State.HOLDING
        self.reason = "no setpoint yet"

    def handle(self, event: Event, reason: str = "") -> State:
        """Take an event; raises TransitionError when the table has none for this state."""
        following = TRANSITIONS.get((self.state, event))
        if following is None:
            raise TransitionError("hardware", self.state.name, event.name)
        if following is not self.state or event is Event.STALE:
            self.reason = "" if following is State.READY else (reason if following is not self.state else self.reason)
        self.state = following
        return following

    @property
    def may_move(self) -> bool:
        """True when a setpoint may be taken."""
        return (self.state, Event.SETPOINT) in TRANSITIONS
