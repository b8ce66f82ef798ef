"""Halts and their copies, and the latch that they close; no number of a message can open or jam it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from telerobot_nodes.core.memory import AGENT_LENGTH, SENDERS
from telerobot_nodes.motion.loop.control_state import HaltLatch
from telerobot_nodes.nodes.halts.halt_receipts import HaltReceipts

LATCH_EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("halt"), st.sampled_from(["a", "b", ""]), st.sampled_from([0, 1, 2, 2**63, 2**64 - 1])),
        st.tuples(st.just("resume"), st.just(""), st.sampled_from([0, 1, 2, 3, 2**63, 2**64 - 1])),
        st.tuples(st.just("resume present"), st.just(""), st.just(0)),
    ),
    max_size=60,
)


@given(events=LATCH_EVENTS)
def test_a_latch_is_open_only_after_the_resume_of_the_count_it_shows(events):
    latch, receipts, halts = HaltLatch(), HaltReceipts(), 0
    for kind, sender, number in events:
        before = latch.count
        if kind == "halt":
            received = receipts.take(sender, number, "")
            latch.halt(received.distinct, received.reason)
            halts += 1
            assert latch.halted
            assert before <= latch.count <= before + 1
            assert (sender, number) in received.obeyed(latch.distinct)
        else:
            named = before if kind == "resume present" else number
            was = latch.halted
            latch.resume(named)
            assert latch.halted == (was and named != before)
            assert latch.count == before
    assert latch.count <= halts


def test_a_copy_is_the_same_halt_whoever_else_halts_between():
    receipts = HaltReceipts()
    assert [receipts.take(*halt, "").distinct for halt in (("a", 7), ("b", 7), ("a", 7), ("b", 7))] == [1, 2, 2, 2]


def test_a_lower_number_is_another_halt_as_a_higher_one_is():
    receipts = HaltReceipts()
    assert [receipts.take("a", number, "").distinct for number in (2**64 - 1, 1, 2**63, 1)] == [1, 2, 3, 4]


def test_halts_with_default_fields_are_all_new():
    receipts = HaltReceipts()
    assert [receipts.take("", 0, "").distinct for _ in range(3)] == [1, 2, 3]


@given(
    presses=st.lists(st.tuples(st.sampled_from(["a", ""]), st.sampled_from([0, 0, 1, 2**64 - 1])), max_size=30),
    data=st.data(),
)
@pytest.mark.lengthy
def test_a_press_counts_once_though_it_comes_on_two_ways(presses, data):
    """Each way keeps the order; one may be ahead, or lose all that it carries."""
    receipts, distinct = HaltReceipts(), 0
    lost = data.draw(st.sampled_from(["none", "direct", "forwarded"]))
    latest = {}
    for agent, number in presses:
        ways = [way for way in data.draw(st.permutations(["direct", "forwarded"])) if way != lost]
        distinct += number == 0 or latest.get(agent) != number
        latest[agent] = number
        assert {receipts.take(agent, number, "", way).distinct for way in ways} == {distinct}


def test_halts_without_a_number_are_paired_also_when_one_way_is_late():
    receipts = HaltReceipts()
    ways = ["direct", "direct", "forwarded", "direct", "forwarded", "forwarded", "forwarded"]
    assert [receipts.take("", 0, "", way).distinct for way in ways] == [1, 2, 2, 3, 3, 3, 4]


def test_a_receipt_is_shown_once_the_loop_has_obeyed():
    receipts = HaltReceipts()
    receipts.take("a", 1, "")
    received = receipts.take("b", 5, "")
    assert received.obeyed(0) == []
    assert received.obeyed(1) == [("a", 1)]
    assert received.obeyed(2) == [("a", 1), ("b", 5)]


@pytest.mark.lengthy
def test_a_hundred_thousand_strangers_and_long_names_take_no_room():
    receipts = HaltReceipts()
    for number in range(100_000):
        received = receipts.take(f"{number}" + "x" * 1000 * (number % 97 == 0), 1, "")
    kept = received.obeyed(100_000)
    assert len(kept) == SENDERS
    assert max(len(agent) for agent, _ in kept) <= AGENT_LENGTH


@given(
    presses=st.lists(st.sampled_from([0, 1, 2, 2**64 - 1]), max_size=20),
    late=st.lists(st.integers(0, 10), min_size=20, max_size=20),
)
def test_a_late_way_brings_copies_however_far_it_is_behind(presses, late):
    """Each way keeps the order; the second brings a halt some halts after the first."""
    presses = [number for i, number in enumerate(presses) if number == 0 or i == 0 or presses[i - 1] != number]
    receipts, distinct, behind = HaltReceipts(), 0, []
    for count, (number, wait) in enumerate(zip(presses, late, strict=False), 1):
        distinct = receipts.take("a", number, "", "first").distinct
        assert distinct == count
        behind.append(number)
        while len(behind) > wait:
            assert receipts.take("a", behind.pop(0), "", "second").distinct == distinct
    assert all(receipts.take("a", number, "", "second").distinct == distinct for number in behind)


def test_two_halts_in_one_breath_are_two_though_the_forwarded_ones_come_after_both():
    receipts = HaltReceipts()
    halts = [(5, "text"), (6, "text"), (5, "unit"), (6, "unit"), (6, "text"), (7, "unit"), (7, "text")]
    assert [receipts.take("a", number, "", way).distinct for number, way in halts] == [1, 2, 2, 2, 2, 3, 3]


def test_a_sender_of_a_thousand_halts_takes_no_room_and_the_next_is_new():
    receipts = HaltReceipts()
    for number in range(1, 1001):
        distinct = receipts.take("a", number, "", "first").distinct
    assert distinct == 1000
    assert receipts.take("a", 990, "", "second").distinct == 1000  # a copy
    assert receipts.take("a", 1001, "", "second").distinct == 1001
