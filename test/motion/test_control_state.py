import pytest

from telerobot_nodes.errors import TransitionError
from telerobot_nodes.motion.control_state import TRANSITIONS, ControlEvent, ControlState, next_state


def test_trouble_leads_to_fault_and_rest_and_stop_are_defined_in_every_state():
    for state in ControlState:
        assert next_state(state, ControlEvent.TROUBLE) is ControlState.FAULT
        assert (state, ControlEvent.REST) in TRANSITIONS
        assert (state, ControlEvent.STOP) in TRANSITIONS


def test_nothing_moves_out_of_fault_or_a_stop_in_progress():
    assert (ControlState.FAULT, ControlEvent.FOLLOW) not in TRANSITIONS
    assert (ControlState.STOPPING, ControlEvent.FOLLOW) not in TRANSITIONS


def test_only_a_window_leads_to_tracking():
    into = {event for (state, event), after in TRANSITIONS.items() if after is ControlState.TRACKING}
    assert into == {ControlEvent.FOLLOW}


def test_an_unknown_pair_raises_and_names_both():
    with pytest.raises(TransitionError, match=r"CLEARED.*TRACKING"):
        next_state(ControlState.TRACKING, ControlEvent.CLEARED)
