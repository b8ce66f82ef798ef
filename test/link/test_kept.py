"""Messages kept for retransmission: numbers without gaps, the newest of them, in bounded memory."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from telerobot_nodes.link.kept import KEPT_BYTES, KeptMessages


def test_nothing_is_kept_at_first():
    store = KeptMessages(4)
    assert (store.latest, store.oldest) == (0, 1)
    assert store.get(0) is store.get(1) is None


@given(st.integers(1, 6), st.lists(st.binary(max_size=4), max_size=30))
def test_the_latest_of_every_message_are_kept_by_their_numbers(depth, messages):
    store = KeptMessages(depth)
    assert [store.add(0.0, message) for message in messages] == list(range(1, len(messages) + 1))
    assert store.latest == len(messages)
    assert store.oldest == max(1, len(messages) - depth + 1)
    for number in range(-1, len(messages) + 2):
        kept = store.oldest <= number <= store.latest
        assert store.get(number) == (messages[number - 1] if kept else None)


def test_more_bytes_than_allowed_drop_the_oldest():
    store, third = KeptMessages(64), bytes(KEPT_BYTES // 3)
    for _ in range(3):
        store.add(0.0, third)
    assert store.oldest == 1
    store.add(0.0, third)
    assert (store.oldest, store.latest) == (2, 4)
    store.add(0.0, b"abc")
    assert store.oldest == 3
    assert store.get(5) == b"abc"


@pytest.mark.parametrize("before", [0, 5])
def test_the_latest_is_kept_whatever_its_size(before):
    store = KeptMessages(64)
    for _ in range(before):
        store.add(0.0, b"small")
    number = store.add(0.0, bytes(KEPT_BYTES + 1))
    assert (store.oldest, store.latest) == (number, number)
    assert len(store.get(number)) == KEPT_BYTES + 1
    store.add(0.0, b"next")
    assert (store.oldest, store.get(number + 1)) == (number + 1, b"next")


def test_what_is_too_old_to_be_sent_again_is_dropped():
    store = KeptMessages(64, late=5.0)
    for now in (0.0, 1.0, 2.0):
        store.add(now, b"%d" % now)
    store.forget(6.5)
    assert (store.oldest, store.latest, store.get(3)) == (3, 3, b"2")
    store.forget(100.0)
    assert (store.oldest, store.add(100.0, b"next")) == (4, 4)


def test_without_a_limit_nothing_is_too_old():
    store = KeptMessages(64)
    store.add(0.0, b"old")
    store.forget(1e9)
    assert store.get(1) == b"old"
