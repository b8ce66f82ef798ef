"""Reports and results as values: which ends are good, what the answer is, and key=value words."""

import pytest

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.client.reports import (
    CommandEnd,
    CommandReport,
    CommandResult,
    PrimitiveEnd,
    PrimitiveResult,
    ReportKind,
    pairs,
)


def test_a_text_is_good_when_it_was_executed_works_or_was_answered():
    good = {end for end in CommandEnd if CommandResult(end).ok}
    assert good == {CommandEnd.SUCCEEDED, CommandEnd.WORKS, CommandEnd.ANSWERED}
    assert [end for end in PrimitiveEnd if PrimitiveResult(end).ok] == [PrimitiveEnd.SUCCEEDED]


@pytest.mark.parametrize("end", CommandEnd)
def test_the_answer_of_a_query_is_its_text_and_of_anything_else_the_reason(end):
    report = CommandReport(ReportKind.REPLY, "module is on dock")
    expected = "module is on dock" if end is CommandEnd.ANSWERED else "slipped"
    assert CommandResult(end, "slipped", report).answer == expected
    assert CommandResult(end, "slipped").answer == "slipped"


def test_words_become_values_by_key():
    assert pairs(["a=1", "b=x=y", "c="]) == {"a": "1", "b": "x=y", "c": ""}


@pytest.mark.parametrize("words", [["a"], ["=1"], ["a=1", "a=2"], [""]])
def test_a_word_without_key_and_a_key_given_twice_are_rejected(words):
    with pytest.raises(InvalidValueError, match=r"value: .*allowed: key=value, each key once") as caught:
        pairs(words)
    assert caught.value.value == words[-1]
