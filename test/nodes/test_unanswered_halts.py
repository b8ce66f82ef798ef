"""Halts that are left to the decision unit: answered, or obeyed by the arm after the limit, each exactly once."""

import pytest

pytest.importorskip("rclpy")

from telerobot_nodes.core.protocol import HaltId
from telerobot_nodes.nodes.halts import TextHalt
from telerobot_nodes.nodes.halts.unanswered_halts import ANSWER_LIMIT, MOST, Key, UnansweredHalts

HALT = TextHalt(HaltId("eve.text", 3), "halt by shell")
KEY = Key("host/shell/1", 3)


@pytest.fixture
def halts():
    waiting = UnansweredHalts()
    waiting.add(KEY, 10.0, "/texts", HALT)
    return waiting


def test_what_is_not_answered_in_time_is_overdue_once(halts):
    assert halts.overdue(10.0 + 0.9 * ANSWER_LIMIT) == []
    assert halts.overdue(10.0 + ANSWER_LIMIT) == [("/texts", HALT)]
    assert halts.overdue(20.0) == []


def test_an_answer_ends_the_waiting(halts):
    halts.answered(KEY, 10.1)
    assert halts.overdue(20.0) == []


@pytest.mark.parametrize("other", [Key("host/shell/1", 4), Key("host/shell/2", 3), Key("host/shell/1", 0)])
def test_the_answer_to_another_text_changes_nothing(halts, other):
    halts.answered(other, 10.1)
    assert halts.overdue(20.0) == [("/texts", HALT)]


def test_a_copy_does_not_prolong_the_waiting(halts):
    halts.add(KEY, 10.0 + 0.9 * ANSWER_LIMIT, "/texts", HALT)
    assert halts.overdue(10.0 + ANSWER_LIMIT) == [("/texts", HALT)]


def test_an_answer_that_arrives_before_its_text_counts_for_a_while(halts):
    early = Key("ben", 8)
    halts.answered(early, 9.9)
    halts.add(early, 10.0, "/texts", HALT)
    halts.answered(KEY, 10.1)
    assert halts.overdue(20.0) == []
    halts.add(early, 20.0, "/texts", HALT)
    assert halts.overdue(30.0) == [("/texts", HALT)]


def test_texts_without_a_number_have_no_early_answer(halts):
    unnumbered = Key("ben", 0)
    halts.answered(unnumbered, 10.0)
    halts.add(unnumbered, 10.1, "/texts", HALT)
    assert len(halts.overdue(20.0)) == 2


def test_none_is_lost_when_too_many_wait(halts):
    for number in range(MOST):
        halts.add(Key("flood", number + 1), 10.1, "/texts", HALT)
    assert len(halts.overdue(10.2)) == 1
    assert len(halts.overdue(20.0)) == MOST


def test_only_the_latest_answers_are_remembered(halts):
    for number in range(1, MOST + 2):
        halts.answered(Key("flood", number), 10.0)
    halts.answered(KEY, 10.0)
    halts.add(Key("flood", 1), 10.1, "/texts", HALT)
    halts.add(Key("flood", MOST), 10.1, "/texts", HALT)
    assert len(halts.overdue(20.0)) == 1
