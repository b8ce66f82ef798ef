from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from telerobot_nodes.core.protocol import HardwareState
from telerobot_nodes.errors import TransitionError
from telerobot_nodes.hardware.estop import TRANSITIONS, Event, Readiness


@pytest.mark.parametrize("state", list(HardwareState))
def test_every_state_takes_the_estop(state):
    assert TRANSITIONS[state, Event.ESTOP] is HardwareState.ESTOP


@pytest.mark.parametrize("event", [event for event in Event if event is not Event.RESET])
def test_only_a_reset_leaves_the_estop(event):
    assert TRANSITIONS.get((HardwareState.ESTOP, event), HardwareState.ESTOP) is HardwareState.ESTOP


def test_a_reset_never_leads_to_motion():
    assert {after for (_, event), after in TRANSITIONS.items() if event is Event.RESET} == {HardwareState.HOLDING}


@pytest.mark.lengthy
@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(Event), max_size=30))
def test_an_undefined_event_raises_and_changes_nothing(events):
    readiness = Readiness()
    for event in events:
        before = readiness.state, readiness.reason
        if (readiness.state, event) in TRANSITIONS:
            readiness.handle(event, "why")
            assert (readiness.reason == "") == (readiness.state is HardwareState.READY)
        else:
            with pytest.raises(TransitionError):
                readiness.handle(event, "why")
            assert (readiness.state, readiness.reason) == before


def test_the_first_reason_of_a_latch_stays():
    readiness = Readiness()
    readiness.handle(Event.ESTOP, "button")
    readiness.handle(Event.ESTOP, "button again")
    readiness.handle(Event.FAULT, "late fault")
    readiness.handle(Event.STALE, "no setpoint")
    assert readiness.reason == "button"


def test_setpoints_are_taken_only_when_ready_or_holding():
    assert {state for (state, event) in TRANSITIONS if event is Event.SETPOINT} == {
        HardwareState.READY,
        HardwareState.HOLDING,
    }
