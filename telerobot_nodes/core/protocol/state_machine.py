"""Look-up in a table of states and events; an unknown pair raises and changes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import TypeVar

from telerobot_nodes.errors import TransitionError

State = TypeVar("State", bound=Enum)
Event = TypeVar("Event", bound=Enum)


def next_state(machine: str, table: Mapping[tuple[State, Event], State], state: State, event: Event) -> State:
    """State after `event`; raises TransitionError naming the machine when the table has no such pair."""
    following = table.get((state, event))
    if following is None:
        raise TransitionError(machine, state.name, event.name)
    return following
