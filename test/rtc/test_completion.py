"""Completion offers what may stand at the cursor, and nothing else."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from telerobot_nodes.bench.rtc.generate import random_command
from telerobot_nodes.rtc.language import KINDS, UNITS, Vocabulary, check, complete, parse

VOCABULARY = Vocabulary(
    objects=frozenset({"module", "crank"}),
    places=frozenset({"dock"}),
    arms=frozenset({"left_arm", "right_arm"}),
    regions=frozenset({"bench"}),
    macros=frozenset({"fetch"}),
    cameras=frozenset({"camera"}),
    points=frozenset({"top"}),
    agents=frozenset({"operator"}),
)


def at_end(text):
    return complete(text, len(text), VOCABULARY)


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        ("gras", ("grasp",)),
        ("grasp ", ("crank", "module")),
        ("grasp module at ", ("top",)),
        ("look at ", ("above", "grasp-point-of", "home", "joints", "neighborhood-of", "crank", "dock", "module")),
        ("locate module with ", ("camera", "left_arm", "right_arm")),
        ("move guarded ", ("crank", "left_arm", "module", "right_arm")),
        ("try grasp ", ("crank", "module")),
        ("grasp module as ", ()),
        ("grant left_arm to ", ("operator", "program")),
        ("grasp mod", ("module",)),
        ("grasp module with ", ("camera", "left_arm", "right_arm")),
        ("grasp module with LEFT-", ("left_arm",)),
        ("grasp module with left_arm and r", ("right_arm",)),
        ("grasp module maintain avoid-task-region ", ("bench",)),
        ("grasp module maintain avoid_", ("avoid-neighbors", "avoid-task-region")),
        ("run f", ("fetch",)),
        ("insert peg ", ("into",)),
        ("grasp @ ", ()),
        ("sped ", ()),
        ("halt; pau", ("pause",)),
    ],
)
def test_words_and_names_that_fit_are_offered(text, offered):
    assert at_end(text) == offered


@pytest.mark.parametrize(
    "text", ["grasp ", "locate module with ", "where ", "release module on ", "grasp module at ", "halt "]
)
def test_every_name_that_is_offered_is_accepted(text):
    for word in at_end(text):
        if VOCABULARY.find(word.strip("'"), *KINDS):
            statement = check(parse(text + word)[0], VOCABULARY)
            assert statement.verb == text.split()[0]


def test_what_stands_after_the_cursor_does_not_matter():
    assert complete("grasp mo with left_arm", 8, VOCABULARY) == ("module",)
    assert complete("grasp", 99, VOCABULARY) == ("grasp",)
    assert "grasp" in complete("", -3, VOCABULARY)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 10_000), max_size=100), st.integers(0, 1000))
@pytest.mark.lengthy
def test_a_keyword_that_was_typed_is_among_those_offered_before_it(numbers, pick):
    source = iter(numbers)
    text = random_command(lambda n: next(source, 0) % n)
    words = text.split(" ")
    i = pick % len(words)
    before = " ".join(words[:i])
    is_keyword = words[i].isalpha() and words[i].islower() and words[i] not in UNITS
    if is_keyword and not any(q in before for q in "'\"#("):
        offered = complete(text, len(before) + (i > 0), VOCABULARY)
        named = VOCABULARY.find(words[i], *KINDS)  # names are offered only where they are accepted
        assert words[i] in offered or named or i == 0 or words[i] in text.split("'")
