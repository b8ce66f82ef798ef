"""Who may command the arm: a table of states and events; the e-stop latches until an explicit reset.

Rules: every state takes ESTOP; only RESET leaves ESTOP and FAULT, and it leads to HOLDING, never to motion;
a setpoint moves the arm only in READY and HOLDING. A pair that is not in the table raises and changes nothing.
"""

from __future__ import annotations

from enum import Enum

from telerobot_nodes.core.protocol import HardwareState, next_state


class Event(Enum):
    """What can happen to the arm's readiness."""

    SETPOINT = "setpoint accepted"
    STALE = "setpoint too old"
    ESTOP = "e-stop"
    FAULT = "fault"
    RESET = "reset"


TRANSITIONS: dict[tuple[HardwareState, Event], HardwareState] = {
    (HardwareState.HOLDING, Event.SETPOINT): HardwareState.READY,
    (HardwareState.HOLDING, Event.STALE): HardwareState.HOLDING,
    (HardwareState.HOLDING, Event.ESTOP): HardwareState.ESTOP,
    (HardwareState.HOLDING, Event.FAULT): HardwareState.FAULT,
    (HardwareState.HOLDING, Event.RESET): HardwareState.HOLDING,
    (HardwareState.READY, Event.SETPOINT): HardwareState.READY,
    (HardwareState.READY, Event.STALE): HardwareState.HOLDING,
    (HardwareState.READY, Event.ESTOP): HardwareState.ESTOP,
    (HardwareState.READY, Event.FAULT): HardwareState.FAULT,
    (HardwareState.ESTOP, Event.ESTOP): HardwareState.ESTOP,
    (HardwareState.ESTOP, Event.STALE): HardwareState.ESTOP,
    (HardwareState.ESTOP, Event.FAULT): HardwareState.ESTOP,
    (HardwareState.ESTOP, Event.RESET): HardwareState.HOLDING,
    (HardwareState.FAULT, Event.FAULT): HardwareState.FAULT,
    (HardwareState.FAULT, Event.STALE): HardwareState.FAULT,
    (HardwareState.FAULT, Event.ESTOP): HardwareState.ESTOP,
    (HardwareState.FAULT, Event.RESET): HardwareState.HOLDING,
}


class Readiness:
    """The arm's state, with the reason why it is not READY."""

    def __init__(self) -> None:
        self.state = HardwareState.HOLDING
        self.reason = "no setpoint yet"

    def handle(self, event: Event, reason: str = "") -> HardwareState:
        """Take an event; raises TransitionError when the table has none for this state."""
        following = next_state("hardware", TRANSITIONS, self.state, event)
        if following is HardwareState.READY:
            self.reason = ""
        elif following is not self.state:
            self.reason = reason
        self.state = following
        return following

    @property
    def may_move(self) -> bool:
        """True when a setpoint may be taken."""
        return (self.state, Event.SETPOINT) in TRANSITIONS
