"""States of the replication of the plan, as one table of state x event."""

from __future__ import annotations

from enum import Enum


class Phase(Enum):
    """Where the operator's side stands with the robot."""

    WAITING = "no report yet"
    CLAIMING = "claims authority that is free"
    INSISTING = "claims authority from its holder"
    TAKING_OVER = "claims authority together with the holder's plan"
    SETTLING = "waits until the robot has executed its points and rests"
    READY = "planning"
    CHECKING = "waiting for the robot's confirmation"
    JOINING = "waiting for the robot's confirmation of the plan taken over"
    OBSERVING = "another agent holds authority"


class Event(Enum):
    """What a report shows or this side decides."""

    FREE = "authority is free, or ours from before"
    OTHER = "authority is another agent's"
    INSIST = "a claim without the holder's plan is allowed"
    TAKE_OVER = "a claim with the holder's plan is allowed"
    GRANTED = "authority is ours"
    AT_REST = "robot is at rest and holds no points"
    DOUBT = "the tails may differ"
    AGREED = "the tails are the same"
    JOINED = "the tails are the same, after a take-over"
    UNKNOWN_TAIL = "robot holds points that are unknown here"
    MOVED = "robot rests away from the plan's end"


TABLE: dict[tuple[Phase, Event], Phase] = {
    **{(phase, Event.OTHER): Phase.OBSERVING for phase in Phase},
    **{(phase, Event.FREE): Phase.CLAIMING for phase in Phase},
    (Phase.OBSERVING, Event.INSIST): Phase.INSISTING,
    (Phase.OBSERVING, Event.TAKE_OVER): Phase.TAKING_OVER,
    (Phase.CLAIMING, Event.GRANTED): Phase.SETTLING,
    (Phase.INSISTING, Event.GRANTED): Phase.SETTLING,
    (Phase.TAKING_OVER, Event.GRANTED): Phase.JOINING,
    (Phase.SETTLING, Event.AT_REST): Phase.READY,
    (Phase.READY, Event.DOUBT): Phase.CHECKING,
    (Phase.READY, Event.MOVED): Phase.SETTLING,
    (Phase.CHECKING, Event.DOUBT): Phase.CHECKING,
    (Phase.JOINING, Event.DOUBT): Phase.JOINING,
    (Phase.CHECKING, Event.AGREED): Phase.READY,
    (Phase.JOINING, Event.JOINED): Phase.READY,
    (Phase.CHECKING, Event.UNKNOWN_TAIL): Phase.SETTLING,
    (Phase.JOINING, Event.UNKNOWN_TAIL): Phase.SETTLING,
}
