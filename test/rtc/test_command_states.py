"""The table of a command's states: complete, and left only through its events."""

import pytest

from telerobot_nodes.errors import TransitionError
from telerobot_nodes.rtc.decision.command_states import MOVING, TABLE, Event, State, step


def test_the_nominal_path_of_a_command_with_one_step():
    state = State.PARSING
    for event in (
        Event.GRANTED,
        Event.ELABORATED,
        Event.BOUND,
        Event.READY,
        Event.REPORTED,
        Event.CONTINUE,
        Event.FINISHED,
    ):
        state = step(state, event)
    assert state is State.ENDED


def test_a_report_of_a_stopped_command_settles_the_database_first():
    state = step(State.EXECUTING, Event.STOP)
    assert state is State.STOPPING
    assert step(step(state, Event.REPORTED), Event.SETTLED) is State.ENDED


@pytest.mark.parametrize("event", Event)
def test_an_ended_command_stays_ended(event):
    with pytest.raises(TransitionError, match="command"):
        step(State.ENDED, event)


def test_a_primitive_moves_only_while_it_executes_or_stops():
    assert {a for a, event in TABLE if event is Event.REPORTED} == MOVING
