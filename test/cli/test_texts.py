"""Words of the command line to values, and reports to lines of text."""

import pytest

from telerobot_nodes.cli.program import is_text
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.client import pairs


@pytest.mark.parametrize(
    ("argument", "text"),
    [("halt", True), (" Halt ", True), ("grasp module", True), ("plan_executor", False), ("helpful", False)],
)
def test_a_text_is_told_from_the_name_of_a_node(argument, text):
    assert is_text(argument) is text


def test_values_of_a_primitive_are_read_by_key_and_may_contain_the_mark():
    assert pairs(["a=1", "b=[0, 1]", "c=x=y"]) == {"a": "1", "b": "[0, 1]", "c": "x=y"}


@pytest.mark.parametrize("words", [["a"], ["=1"], ["a=1", "a=2"]])
def test_a_word_that_is_no_pair_is_rejected(words):
    with pytest.raises(InvalidValueError, match="each key once"):
        pairs(words)
