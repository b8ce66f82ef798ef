"""State of the link to one peer: the table, and the watch that feeds it."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from telerobot_nodes.core.protocol import LinkState
from telerobot_nodes.link.link_states import TABLE, LinkEvent, after
from telerobot_nodes.link.peer_watch import PeerWatch

STALE = 0.5


def beat(watch, now, age=0.1, echo=None, offset=1000.0, way=0.0):
    watch.hear(now)
    watch.on_beat(now, now - way + offset, age, echo, 0.0, 0)
    watch.update(now)


def test_every_state_has_an_answer_to_every_event_that_can_meet_it():
    impossible = set()
    for state in LinkState:
        for event in LinkEvent:
            if (state, event) not in TABLE:
                impossible.add((state, event))
    assert impossible == set()


@given(st.sampled_from(LinkState))
def test_silence_ends_every_state_but_waiting(state):
    expected = LinkState.WAITING if state is LinkState.WAITING else LinkState.STALE
    assert after(state, LinkEvent.SILENT) is expected


def test_a_peer_that_is_heard_and_hears_is_fresh_and_silence_makes_it_stale():
    watch = PeerWatch(STALE)
    watch.update(0.0)
    assert watch.state is LinkState.WAITING
    watch.meet(1.0)
    watch.update(1.0)
    assert watch.state is LinkState.BACK
    beat(watch, 1.1)
    assert watch.state is LinkState.FRESH
    watch.update(1.1 + STALE)
    assert watch.state is LinkState.FRESH
    watch.update(1.2 + STALE)
    assert watch.state is LinkState.STALE


def test_a_peer_that_does_not_hear_is_half_open_as_soon_as_it_says_so():
    watch = PeerWatch(STALE)
    watch.meet(0.0)
    beat(watch, 0.1)
    beat(watch, 0.2, age=STALE + 0.1)
    assert watch.state is LinkState.HALF_OPEN
    beat(watch, 0.3)
    assert watch.state is LinkState.FRESH


def test_a_peer_that_never_answers_is_half_open_after_the_grace():
    watch = PeerWatch(STALE)
    watch.meet(0.0)
    for at in range(1, 25):
        beat(watch, 0.1 * at, age=math.inf)
        assert watch.state is LinkState.BACK
    for at in range(25, 29):
        beat(watch, 0.1 * at, age=math.inf)
    assert watch.state is LinkState.HALF_OPEN


def test_after_a_silence_the_old_answer_of_the_peer_does_not_count():
    watch = PeerWatch(STALE)
    watch.meet(0.0)
    beat(watch, 0.1)
    watch.update(2.0)
    watch.hear(2.1)
    watch.update(2.1)
    assert watch.state is LinkState.BACK
    beat(watch, 2.2)
    assert watch.state is LinkState.FRESH


def test_a_handshake_that_does_not_fit_is_refused_until_it_fits():
    watch = PeerWatch(STALE)
    watch.mismatch = "the robot differs"
    watch.hear(0.0)
    watch.update(0.0)
    assert watch.state is LinkState.REFUSED
    watch.update(1.0)
    assert watch.state is LinkState.REFUSED  # its hellos are rare
    watch.update(3.0)
    assert watch.state is LinkState.STALE
    watch.mismatch = ""
    watch.meet(3.1)
    watch.update(3.1)
    assert watch.state is LinkState.BACK


@pytest.mark.parametrize("offset", [0.0, 3600.0, 1e6])
def test_ages_do_not_depend_on_the_clocks_of_the_hosts(offset):
    watch = PeerWatch(STALE)
    watch.meet(0.0)
    for at in range(1, 20):
        now = 0.1 * at
        beat(watch, now, echo=now - 1.0, offset=offset, way=0.5)
    assert watch.round_trip == pytest.approx(1.0)
    assert watch.lateness(2.0, 1.5 + offset) == pytest.approx(0.0, abs=1e-6)
    assert watch.lateness(2.0, 1.0 + offset) == pytest.approx(0.5)


def test_the_shortest_way_is_forgotten_when_the_link_has_become_longer():
    watch = PeerWatch(STALE)
    watch.meet(0.0)
    for at in range(1, 100):
        beat(watch, 0.1 * at, echo=0.1 * at - 0.2, way=0.1)
    for at in range(100, 700):
        beat(watch, 0.1 * at, echo=0.1 * at - 2.0, way=1.0)
    assert watch.round_trip == pytest.approx(2.0)
    assert watch.lateness(70.0, 69.0 + 1000.0) == pytest.approx(0.0, abs=1e-6)


def test_an_echo_from_the_future_is_no_round_trip():
    watch = PeerWatch(STALE)
    watch.meet(0.0)
    beat(watch, 0.1, echo=5.0)
    assert watch.round_trip == -1.0
