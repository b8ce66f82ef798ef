"""One topic received over a line that loses, doubles and reorders: the order that the table promises."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from telerobot_nodes.graph import Crossing, Order, Priority
from telerobot_nodes.link.datagrams import MOST_PART, Data, Kept, split
from telerobot_nodes.link.inbox import PARTIAL, PATIENCE, TopicInbox
from telerobot_nodes.link.kept import KeptMessages

SIZE = 20 * MOST_PART


def inbox(order):
    return TopicInbox(0, Crossing(Priority.REPORTS, order, size=SIZE))


def message(number, parts):
    return bytes([number % 256]) * ((parts - 1) * MOST_PART + 1)


@pytest.mark.parametrize("order", [Order.ALL, Order.EACH])
@settings(max_examples=30)
@given(
    lengths=st.lists(st.integers(1, 6), min_size=1, max_size=12),
    chance=st.randoms(use_true_random=False),
    loss=st.floats(0.0, 0.6),
)
@pytest.mark.lengthy
def test_all_messages_arrive_once_and_where_promised_in_order_whatever_the_line_does(order, lengths, chance, loss):
    box, store, out = inbox(order), KeptMessages(64), []

    def offer(now, parts):
        shuffled = [part for part in parts for _ in range(chance.choice((1, 1, 2)))]
        chance.shuffle(shuffled)
        for part in shuffled:
            if chance.random() >= loss:
                out.extend(whole for _, whole in box.add(now, now, part) or [])

    for number, parts in enumerate(lengths, 1):
        store.add(0.0, message(number, parts))
        offer(0.0, split(0, number, message(number, parts)))
    for round_ in range(1, 400):
        now = 0.2 * round_
        out.extend(whole for _, whole in box.on_kept(Kept(0, store.oldest, store.latest), True))
        for want in box.wants(now, 0.1):
            offer(now, split(0, want.number, store.get(want.number))[want.first : want.first + want.parts])
    sent = [message(number, parts) for number, parts in enumerate(lengths, 1)]
    assert out == sent if order is Order.ALL else sorted(out) == sorted(sent)
    assert box.lost == 0


@given(st.permutations(range(1, 12)))
def test_of_the_newest_none_comes_after_a_newer_one(order):
    box, out = inbox(Order.NEWEST), []
    for number in order:
        out += [whole[0] for _, whole in box.add(0.0, 0.0, split(0, number, bytes([number]))[0])]
    assert out == sorted(out)
    assert out[-1] == 11


@given(st.permutations(range(1, 12)))
def test_as_they_come_is_as_they_come(order):
    box, out = inbox(Order.AS_THEY_COME), []
    for number in order:
        out += [whole[0] for _, whole in box.add(0.0, 0.0, split(0, number, bytes([number]))[0])]
    assert out == list(order)
    assert box.wants(1.0, 0.1) == []


def test_what_the_sender_has_no_more_is_counted_and_passed_over():
    box = inbox(Order.ALL)
    box.on_kept(Kept(0, 1, 0), True)
    assert box.add(0.0, 0.0, split(0, 4, b"four")[0]) == []
    assert [whole for _, whole in box.on_kept(Kept(0, 3, 4), True)] == []
    assert box.lost == 2
    assert [whole for _, whole in box.add(0.0, 0.0, split(0, 3, b"three")[0])] == [b"three", b"four"]


def test_of_each_none_waits_for_a_missing_one_which_is_asked_for_again():
    box = inbox(Order.EACH)
    box.on_kept(Kept(0, 1, 0), False)
    assert [whole for _, whole in box.add(0.0, 0.0, split(0, 2, b"two")[0])] == [b"two"]
    assert [want.number for want in box.wants(1.0, 0.1)] == [1]
    assert box.add(1.0, 1.0, split(0, 2, b"two")[0]) == []
    assert [whole for _, whole in box.add(1.0, 1.0, split(0, 1, b"one")[0])] == [b"one"]
    assert box.wants(2.0, 0.1) == []


def test_a_late_receiver_gets_the_kept_of_a_durable_topic_and_of_another_only_what_comes():
    durable, other = inbox(Order.ALL), inbox(Order.ALL)
    durable.on_kept(Kept(0, 5, 9), True)
    other.on_kept(Kept(0, 5, 9), False)
    assert [want.number for want in durable.wants(0.0, 0.1)] == [5, 6, 7, 8, 9]
    assert other.wants(0.0, 0.1) == []


def test_the_same_is_not_asked_for_again_before_the_pause_is_over():
    box = inbox(Order.ALL)
    box.on_kept(Kept(0, 1, 2), True)
    assert len(box.wants(0.0, 0.5)) == 2
    assert box.wants(0.4, 0.5) == []
    assert len(box.wants(0.6, 0.5)) == 2


def test_a_message_larger_than_the_topic_allows_is_refused():
    box = inbox(Order.AS_THEY_COME)
    assert box.add(0.0, 0.0, Data(0, 1, 0, 22, bytes(MOST_PART))) is None
    assert box.add(0.0, 0.0, Data(0, 1, 0, 21, bytes(MOST_PART))) == []


def test_beginnings_without_ends_are_bounded_and_forgotten():
    box = inbox(Order.AS_THEY_COME)
    for number in range(1, 1000):
        box.add(0.0, 0.0, Data(0, number, 0, 2, bytes(MOST_PART)))
    assert len(box._partial) == PARTIAL
    box.wants(PATIENCE + 1.0, 0.1)
    assert box._partial == {}


def test_parts_that_disagree_about_their_number_do_not_become_a_message():
    box = inbox(Order.AS_THEY_COME)
    box.add(0.0, 0.0, Data(0, 1, 0, 3, bytes(MOST_PART)))
    assert box.add(0.0, 0.0, Data(0, 1, 1, 2, b"end")) == []


@given(st.lists(st.tuples(st.integers(1, 2**32 - 1), st.integers(1, 2**32 - 1)), max_size=20))
def test_any_numbers_of_a_peer_cost_no_time_and_no_room(rows):
    box = inbox(Order.ALL)
    for oldest, latest in rows:
        box.on_kept(Kept(0, oldest, latest), True)
        assert len(box.wants(0.0, 0.0)) <= 32


def test_the_store_keeps_the_latest_and_numbers_all():
    store = KeptMessages(3)
    assert [store.add(0.0, bytes([n])) for n in range(1, 6)] == [1, 2, 3, 4, 5]
    assert (store.oldest, store.latest) == (3, 5)
    assert [store.get(n) for n in (2, 3, 5, 6)] == [None, b"\x03", b"\x05", None]


def test_what_is_here_is_delivered_before_it_is_passed_over():
    box = inbox(Order.ALL)
    box.on_kept(Kept(0, 1, 0), True)
    box.add(0.0, 0.0, split(0, 2, b"two")[0])
    assert [whole for _, whole in box.on_kept(Kept(0, 4, 4), True)] == [b"two"]
    assert box.lost == 2
