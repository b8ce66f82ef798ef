"""The page of state machines draws every machine completely."""

from enum import Enum
from importlib import import_module

import pytest

from telerobot_nodes.pages.states import MACHINES, diagram, meanings


class State(Enum):
    OFF = "off"
    ON = "drives are powered"


class Event(Enum):
    SWITCH = "switch"
    PUSH_HARD = "a push above the limit"


TABLE = {
    (State.OFF, Event.SWITCH): State.ON,
    (State.OFF, Event.PUSH_HARD): State.ON,
    (State.ON, Event.SWITCH): State.ON,
}


@pytest.mark.parametrize("place", MACHINES.values())
def test_every_machine_is_drawn_with_every_change_of_state(place):
    module, name = place.split(":")
    table = getattr(import_module(module), name)
    text = diagram(table)
    for (state, _), target in table.items():
        assert state is target or f"{state.name} --> {target.name}:" in text


def test_events_between_the_same_states_share_an_arrow_and_loops_are_not_drawn():
    assert diagram(TABLE).splitlines() == ["stateDiagram-v2", "    OFF --> ON: switch, push hard"]


def test_only_values_that_say_more_than_the_name_are_listed():
    rows = meanings(TABLE).splitlines()
    assert rows[3:] == ["| ON | drives are powered |", "| PUSH_HARD | a push above the limit |"]


def test_a_table_whose_names_say_all_has_no_list():
    assert meanings({(State.OFF, Event.SWITCH): State.OFF}) == ""
