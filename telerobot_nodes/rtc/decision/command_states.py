"""The states of a command as a table of state x event [JPL-RTC section 5, Decision Unit].

An unknown pair raises TransitionError and changes nothing. The figure in the docs is drawn from this table.
"""

from __future__ import annotations

from enum import Enum

from telerobot_nodes.core.protocol import next_state


class State(Enum):
    """State of a command."""

    PARSING = "parsing"
    WAITING = "waiting for resources"
    ELABORATING = "elaborating"
    BINDING = "binding"
    SETTING_UP = "setting up evaluation"
    EXECUTING = "executing"
    ANALYSING = "analysing"
    PAUSED = "paused"
    AT_BREAKPOINT = "waits for your step"
    STOPPING = "stopping"
    SETTLING = "writing the final state to the database"
    ENDED = "ended"


class Event(Enum):
    """What happens to a command."""

    UNDERSTOOD_BUSY = "understood, resources busy"
    GRANTED = "resources granted"
    ELABORATED = "script ready"
    BOUND = "primitive bound"
    SKIPPED = "step skipped"
    READY = "evaluation context set"
    REPORTED = "final report"
    CONTINUE = "verdict: continue"
    RECOVER = "verdict: recover"
    REPLAN = "recovery done, plan again"
    PAUSE = "paused between two steps"
    RESUME = "resumed"
    BREAK = "the next step has a breakpoint"
    STEP = "step, or continue"
    FINISHED = "no step left"
    FAIL = "a worker failed, or verdict: abort"
    STOP = "halt, cancel, timeout or global error"
    SETTLED = "final state written"


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
    (_S.ANALYSING, _E.RECOVER): _S.BINDING,
    (_S.ANALYSING, _E.REPLAN): _S.ELABORATING,
    (_S.ANALYSING, _E.PAUSE): _S.PAUSED,
    (_S.PAUSED, _E.RESUME): _S.BINDING,
    (_S.PAUSED, _E.REPLAN): _S.ELABORATING,
    # breakpoints: nothing is bound before the word for the step, so that its numbers are those of that moment
    **{(state, _E.BREAK): _S.AT_BREAKPOINT for state in (_S.ELABORATING, _S.BINDING, _S.ANALYSING, _S.PAUSED)},
    (_S.AT_BREAKPOINT, _E.STEP): _S.BINDING,
    (_S.AT_BREAKPOINT, _E.PAUSE): _S.PAUSED,
    (_S.AT_BREAKPOINT, _E.STOP): _S.ENDED,
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
    return next_state("command", TABLE, state, event)
