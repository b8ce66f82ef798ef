"""The states of the control loop, as a table.

`ControlPhase` is the state that decides; FAULT has four phases, which are one state to everybody else.
"""

from __future__ import annotations

from enum import Enum

from telerobot_nodes.core.protocol import ControlState, StopCause, next_state

RECOVERABLE = frozenset((StopCause.STALE_JOINTS, StopCause.LOOP_STALL))  # motion may go on without RESUME


class ControlPhase(Enum):
    """State of the loop in detail."""

    UNSEEN = "the arm's joints are not known yet"
    HOLDING = "at rest, ready for a window"
    TRACKING = "following a window or a primitive"
    STOPPING = "coming to rest on the path"
    STOPPED = "at rest after a stop"
    FAULT_BRAKING = "fault: coming to rest on the path"
    FAULT_SEEKING = "fault: at rest, the setpoint has to move to the arm's position once"
    FAULT_WAITING = "fault: the setpoint is where the arm was; waiting until the fault is over"

    def __init__(self, _meaning: str) -> None:
        name = self.name.split("_", maxsplit=1)[0]
        self.state = ControlState.FAULT if name == "UNSEEN" else ControlState[name]  # as published


class ControlEvent(Enum):
    """What happens to the loop."""

    SEEN = "the arm's joints are known and its hardware interface is ready"
    FOLLOW = "a window or a primitive is accepted"
    REST = "the motion has come to rest"
    STOP = "a halt, stale input or a monitor asks for rest"
    FAULT = "the hardware is not ready, or the arm does not follow"
    SOUGHT = "the setpoint was sent to the arm's position"
    CLEARED = "the fault is over and the setpoint is at the arm's position"


_P, _E = ControlPhase, ControlEvent

TRANSITIONS: dict[tuple[ControlPhase, ControlEvent], ControlPhase] = {
    (_P.UNSEEN, _E.SEEN): _P.HOLDING,
    (_P.HOLDING, _E.FOLLOW): _P.TRACKING,
    (_P.HOLDING, _E.REST): _P.HOLDING,
    (_P.HOLDING, _E.STOP): _P.STOPPED,
    (_P.HOLDING, _E.FAULT): _P.FAULT_SEEKING,
    (_P.TRACKING, _E.FOLLOW): _P.TRACKING,
    (_P.TRACKING, _E.REST): _P.HOLDING,
    (_P.TRACKING, _E.STOP): _P.STOPPING,
    (_P.TRACKING, _E.FAULT): _P.FAULT_BRAKING,
    (_P.STOPPING, _E.REST): _P.STOPPED,
    (_P.STOPPING, _E.STOP): _P.STOPPING,
    (_P.STOPPING, _E.FAULT): _P.FAULT_BRAKING,
    (_P.STOPPED, _E.FOLLOW): _P.TRACKING,
    (_P.STOPPED, _E.REST): _P.STOPPED,
    (_P.STOPPED, _E.STOP): _P.STOPPED,
    (_P.STOPPED, _E.FAULT): _P.FAULT_SEEKING,
    (_P.FAULT_BRAKING, _E.REST): _P.FAULT_SEEKING,
    (_P.FAULT_BRAKING, _E.FAULT): _P.FAULT_BRAKING,
    (_P.FAULT_SEEKING, _E.FAULT): _P.FAULT_SEEKING,
    (_P.FAULT_SEEKING, _E.SOUGHT): _P.FAULT_WAITING,
    (_P.FAULT_WAITING, _E.FAULT): _P.FAULT_WAITING,
    (_P.FAULT_WAITING, _E.SOUGHT): _P.FAULT_WAITING,
    (_P.FAULT_WAITING, _E.CLEARED): _P.STOPPED,
}


class HaltLatch:
    """The robot's own count of halts, and whether the present one holds the arm.

    Every halt latches; only the resume that names the present count releases. No number of a message is stored.
    """

    def __init__(self, count: int = 0, reason: str = "") -> None:
        """`count` and `reason` of the loop before this one; a reason latches."""
        self.count, self.reason = count, reason
        self.halted = bool(reason)
        self.distinct = 0  # distinct halts that the loop has obeyed

    @property
    def text(self) -> str:
        """Why nothing moves, for people."""
        return f"halt {self.count}: {self.reason}"

    def halt(self, distinct: int, reason: str) -> None:
        """Latch. A copy counts only when it comes after a resume; copies of one halt have the same `distinct`."""
        if not self.halted or distinct != self.distinct:
            self.count += 1
            self.reason = reason or "no reason"
        self.distinct, self.halted = distinct, True

    def resume(self, count: int) -> bool:
        """Release the halt of this count; False, and nothing changes, when it is not the present one."""
        if not self.halted or count != self.count:
            return False
        self.halted, self.reason = False, ""
        return True


class ControlMachine:
    """The present phase of the loop, and why it is not free to move."""

    def __init__(self, latch: HaltLatch | None = None) -> None:
        self.latch = HaltLatch() if latch is None else latch
        self.phase = ControlPhase.UNSEEN
        self.cause, self.reason = StopCause.STALE_JOINTS, "no measured joints yet"
        self.recoverable = False  # every cause since the arm was last free passes by itself

    @property
    def state(self) -> ControlState:
        """The state as published."""
        return self.phase.state

    @property
    def free(self) -> bool:
        """True in HOLDING and TRACKING."""
        return self.phase in (ControlPhase.HOLDING, ControlPhase.TRACKING)

    @property
    def on_path(self) -> bool:
        """True while the setpoint moves along its path, also to come to rest."""
        return self.phase is ControlPhase.TRACKING or self.braking

    @property
    def braking(self) -> bool:
        """True while the arm comes to rest on its path."""
        return self.phase in (ControlPhase.STOPPING, ControlPhase.FAULT_BRAKING)

    def explain(self, cause: StopCause, reason: str) -> None:
        """Replace the cause and its text."""
        self.cause, self.reason = cause, reason

    def handle(self, event: ControlEvent) -> None:
        """Take an event; a loop that is free has no cause. Raises TransitionError and then changes nothing."""
        self.phase = next_state("control", TRANSITIONS, self.phase, event)
        if self.latch.halted and event in (ControlEvent.SEEN, ControlEvent.CLEARED):
            self.stop(StopCause.HALT, self.latch.text)
        elif self.free:
            self.explain(StopCause.NONE, "")

    def halt(self, distinct: int, reason: str) -> None:
        """Latch a halt and come to rest; `distinct` as in `HaltLatch.halt`."""
        self.latch.halt(distinct, reason)
        self.stop(StopCause.HALT, self.latch.text)

    def stop(self, cause: StopCause, reason: str) -> None:
        """Take a STOP; a fault goes on and keeps its cause."""
        self._mark_recoverable(cause)
        if self.state is not ControlState.FAULT:
            self.handle(ControlEvent.STOP)
            self.explain(cause, reason)

    def fault(self, cause: StopCause, reason: str) -> None:
        """Take a FAULT; the latest cause is kept."""
        self._mark_recoverable(cause)
        self.handle(ControlEvent.FAULT)
        self.explain(cause, reason)

    def _mark_recoverable(self, cause: StopCause) -> None:
        self.recoverable = cause in RECOVERABLE and (self.free or self.recoverable)
