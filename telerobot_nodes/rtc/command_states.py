"""The life of a command as a table of state x event [JPL-RTC section 5, Decision Unit].

An unknown pair raises TransitionError and changes nothing. The figure in the docs is drawn from this table.
"""

from __future__ import annotations

from enum import Enum

from telerobot_nodes.errors import TransitionError


class State(Enum):
    """Where a command is."""

    PARSING = "parsing"
    WAITING = "waiting for resources"
    ELABORATING = "elaborating"
    BINDING = "binding"
    SETTING_UP = "setting up evaluation"
    EXECUTING = "executing"
    ANALYSING = "analysing"
    PAUSED = "paused"
    STOPPING = "stopping"
    SETTLING = "settling the database"
    ENDED = "ended"


class Event(Enum):
    """What can happen to it."""

    UNDERSTOOD_BUSY = "understood, resources busy"
    GRANTED = "resources granted"
    ELABORATED = "script ready"
    BOUND = "primitive bound"
    SKIPPED = "step left out"
    READY = "evaluation context set"
    REPORTED = "final report"
    CONTINUE = "the table says continue"
    TRIM = "the table says trim"
    REPLAN = "trial done, plan again"
    PAUSE = "paused between two steps"
    RESUME = "resumed"
    FINISHED = "no step left"
    FAIL = "a worker or the table says no"
    STOP = "halt, cancel, timeout or global error"
    SETTLED = "database settled"


_S, _E = State, Event

TABLE: dict[tuple[State, Event], State] = {
    (_S.PARSING, _E.UNDERSTOOD_BUSY): _S.WAITING,
    (_S.PARSING, _E.GRANTED): _S.ELABORATING,
    (_S.WAITING, _E.GRANTED): _S.ELABORATING,
    (_S.ELABORATING, _E.ELABORATED): _S.BINDING,
    (_S.ELABORATING, _E.PAUSE): _S.PAUSED,
    (_S.BINDING, _E.BOUND): _S.SETTING_UP,
    (_S.BINDING, _E.SKIPPED): _S.BINDING,
    (_S.BINDING, _E.PAUSE): _S.PAUSED,
    (_S.BINDING, _E.REPLAN): _S.ELABORATING,
    (_S.SETTING_UP, _E.READY): _S.EXECUTING,
    (_S.EXECUTING, _E.REPORTED): _S.ANALYSING,
    (_S.ANALYSING, _E.CONTINUE): _S.BINDING,
    (_S.ANALYSING, _E.TRIM): _S.BINDING,
    (_S.ANALYSING, _E.REPLAN): _S.ELABORATING,
    (_S.ANALYSING, _E.PAUSE): _S.PAUSED,
    (_S.PAUSED, _E.RESUME): _S.BINDING,
    (_S.PAUSED, _E.REPLAN): _S.ELABORATING,
    # ends
    **{(state, _E.FAIL): _S.ENDED for state in (_S.PARSING, _S.WAITING, _S.ELABORATING, _S.BINDING, _S.SETTING_UP)},
    (_S.ANALYSING, _E.FAIL): _S.ENDED,
    **{(state, _E.FINISHED): _S.ENDED for state in (_S.ELABORATING, _S.BINDING, _S.ANALYSING, _S.PAUSED)},
    # stops: what has been sent is stopped first, what is being written is let finish
    **{(state, _E.STOP): _S.ENDED for state in (_S.PARSING, _S.WAITING, _S.ELABORATING, _S.BINDING, _S.PAUSED)},
    (_S.SETTING_UP, _E.STOP): _S.SETTLING,
    (_S.EXECUTING, _E.STOP): _S.STOPPING,
    (_S.ANALYSING, _E.STOP): _S.SETTLING,
    (_S.STOPPING, _E.REPORTED): _S.SETTLING,
    (_S.STOPPING, _E.FAIL): _S.SETTLING,  # the subsystem does not confirm
    (_S.SETTLING, _E.SETTLED): _S.ENDED,
}

MOVING = frozenset((State.EXECUTING, State.STOPPING))


def step(state: State, event: Event) -> State:
    """The next state; raises TransitionError for a pair that is not in the table."""
    try:
        return TABLE[state, event]
    except KeyError:
        raise TransitionError("command", state.value, event.value) from None


def diagram() -> str:
    """The table as a Mermaid state diagram."""
    lines = ["stateDiagram-v2", "    [*] --> PARSING"]
    lines += [f"    {a.name} --> {b.name}: {event.value}" for (a, event), b in TABLE.items()]
    return "\n".join([*lines, "    ENDED --> [*]"]) + "\n"
