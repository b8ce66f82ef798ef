"""What is printed parses to the same tree, for every command the grammar can make."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from telerobot_nodes.bench.rtc.generate import random_command
from telerobot_nodes.rtc.language import Name, Task, grammar, parse, print_statement
from telerobot_nodes.rtc.language.parser import parse_one
from telerobot_nodes.rtc.language.printer import print_program


def check_round_trip(text):
    tree = parse(text)
    printed = print_program(tree)
    assert parse(printed) == tree
    assert print_program(parse(printed)) == printed


@settings(max_examples=300, deadline=None)
@given(st.lists(st.integers(0, 10_000), max_size=150))
@pytest.mark.lengthy
def test_generated_commands_round_trip(numbers):
    source = iter(numbers)
    check_round_trip(random_command(lambda n: next(source, 0) % n, (" ", "  ", "\n", " # remark\n")))


@pytest.mark.slow
@settings(max_examples=10_000, deadline=None)
@given(st.integers(0, 2**64))
def test_ten_thousand_generated_commands_round_trip(seed):
    check_round_trip(random_command(random.Random(seed).randrange))


@pytest.mark.lengthy
def test_generated_commands_use_every_rule_of_the_grammar():
    choose = random.Random(3).randrange
    texts = [random_command(choose) for _ in range(4000)]
    used = " ".join(texts)
    words = [t.pattern.value for t in grammar().terminals if type(t.pattern).__name__ == "PatternStr"]
    assert [word for word in words if word not in used] == []


@pytest.mark.parametrize(
    "text",
    [
        "grasp module with left_arm maintain avoid-neighbors speed 0.05 guarded unless force > 20 then stop",
        "pick module and place on dock with left_arm",
        "inspect panel from (0.5, 0, 0.4) in world",
        "wait until not (force z > 5 N or contact on wall) and slip",
        "approach module standoff 0.1 m",
        "teleoperate left_arm in camera",
        "open gripper by 0.04 m with left_arm",
        "define fetch(thing) as { grasp thing; halt }; run fetch(module)",
    ],
)
def test_the_canonical_spelling_is_printed_as_it_is(text):
    assert print_program(parse(text)) == text


@settings(max_examples=100, deadline=None)
@given(st.text(st.characters(codec="utf-8", exclude_characters="'\n", exclude_categories=["Cs"]), min_size=1))
def test_any_name_survives_in_quotes(text):
    task = Task("grasp", target=Name(text))
    assert parse_one(print_statement(task)) == task
