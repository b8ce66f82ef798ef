"""Robots whose plan somebody has."""

import pytest
from arbiter_place import Place

from telerobot_nodes.core.protocol import AuthorityKind


@pytest.fixture
def place():
    place = Place()
    assert place.claim("ann") == ""
    return place


@pytest.fixture
def line(place):
    """Bob, eve and joe have requested control from ann."""
    for n in range(3):
        for agent in ("bob", "eve", "joe"):
            place.say(AuthorityKind.REQUEST, agent, number=n % 2)  # decided each time, or copies
    assert (place.arbiter.asker, place.arbiter.waiting) == ("bob", ["eve", "joe"])
    return place
