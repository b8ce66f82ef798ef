"""The parser understands the grammar, and points at what it does not understand."""

import os
import random
import re
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from telerobot_nodes.bench.rtc.generate import random_command
from telerobot_nodes.rtc.language import CommandError, grammar, parse, syntax
from telerobot_nodes.rtc.language.grammar import accepted_terminals
from telerobot_nodes.rtc.language.parser import MAX_BYTES, parse_one

RICH = "grasp module with left_arm maintain avoid-neighbors speed 0.05 guarded unless force > 20 then stop"


def error_of(text):
    with pytest.raises(CommandError) as error:
        parse(text)
    return error.value


def test_the_grammar_is_about_as_large_as_the_sources():
    assert len(grammar().terminals) >= 100
    assert len({rule.origin.name for rule in grammar().rules if not rule.origin.name.startswith("__")}) >= 50


def test_the_sources_command_becomes_a_typed_tree():
    task = parse_one(RICH)
    assert isinstance(task, syntax.Task)
    assert (task.verb, task.target) == ("grasp", syntax.Name("module"))
    arm, kept, guarded, reflex = task.clauses
    assert arm == syntax.With((syntax.Name("left_arm"),))
    assert [item.kind for item in kept.constraints] == ["avoid-neighbors", "speed"]
    assert isinstance(guarded, syntax.Guarded)
    assert reflex.condition == syntax.Comparison(syntax.Measure("force"), ">", syntax.Quantity(20.0))
    assert reflex.action == syntax.Action("stop")


def test_the_sources_spelling_with_capitals_and_underscores_is_understood():
    task = parse_one("grasp Object with Right_arm via Operator_intervention")
    assert task.clauses[1] == syntax.ViaOperator()
    assert parse_one("GRASP x1 MAINTAIN Avoid_Neighbors") == parse_one("grasp x1 maintain avoid-neighbors")


def test_positions_name_line_column_and_offsets():
    first, second = parse("halt;\n  grasp  module")
    assert first.at[:2] == (1, 1)
    assert second.at[:2] == (2, 3)
    assert second.target.at == syntax.Position(2, 10, 15, 21)


def test_units_are_kept_as_written_and_mean_si():
    amount = parse_one("turn crank by 180deg").amount
    assert (amount.number, amount.unit) == (180.0, "deg")
    assert amount.si == pytest.approx(3.141592653589793)
    assert parse_one("push box by 5 mm").amount.si == pytest.approx(0.005)


@pytest.mark.parametrize("text", ["halt", "halt all", "pause", "pause all", "resume", "reset"])
def test_urgent_words_mean_what_the_grammar_says(text):
    assert parse(text) == parse(f"  {text} # through the parser") == tuple(grammar().parse(text))


@pytest.mark.parametrize(
    ("text", "line", "column", "says"),
    [
        ("", 1, 1, "empty"),
        ("   ", 1, 1, "empty"),
        ("grasp", 1, 6, "ends too early"),
        ("grasp with left_arm", 1, 7, "reserved word"),
        ("grsp module", 1, 1, "did you mean grasp?"),
        ("stop", 1, 1, "'halt'"),
        ("grasp module upright", 1, 14, "maintain upright"),
        ("grasp module with left_arm at top", 1, 28, "before the clauses"),
        ("grasp module maintain sped 0.05", 1, 23, "did you mean speed?"),
        ("grasp module maintain speed fast", 1, 29, "a number stands here"),
        ("polish plate for 20 furlongs", 1, 21, "units:"),
        ("polish plate for 20furlongs", 1, 18, "is not a number with a unit"),
        ("polish plate for 1.2.3", 1, 18, "is not a number"),
        ("grasp module via operator", 1, 18, "via operator-intervention"),
        ("grasp module\nwith @", 2, 6, "no meaning"),
        ('grasp module note "open', 1, 19, "no closing quote"),
        ("grasp 'open", 1, 7, "no closing quote"),
        ("turn crank by 90\N{DEGREE SIGN}", 1, 17, "degrees are deg"),
        ("hold left_arm for 1e999", 1, 19, "too large"),
        ("halt command 1.5", 1, 14, "whole number"),
        ("move a to (1, 2)", 1, 11, "3 or 7 numbers"),
        ("define a as { define b as { halt } }", 1, 15, "holds no define"),
        ("grasp module; ; halt", 1, 15, "cannot stand here"),
        ("grasp müll", 1, 8, "no meaning"),
    ],
)
def test_errors_stand_at_the_word_and_help(text, line, column, says):
    error = error_of(text)
    assert (error.line, error.column) == (line, column)
    assert says in str(error)


def test_the_caret_stands_under_the_word():
    lines = str(error_of("halt;\ngrasp module upright")).splitlines()
    assert lines[1].index("upright") == lines[2].index("^")
    assert lines[2].count("^") == len("upright")


def test_the_caret_of_a_long_line_stays_in_view():
    lines = str(error_of("grasp module " + " " * 5000 + "sped 1")).splitlines()
    assert lines[1].index("sped") == lines[2].index("^")
    assert len(lines[1]) < 110


def test_expected_words_are_those_of_the_grammar():
    assert error_of("insert peg").expected == ("into",)
    assert "a name" in error_of("grasp").expected


def test_a_message_over_the_limit_is_refused_unread():
    assert "at most" in str(error_of("#" + "x" * MAX_BYTES))
    assert parse("halt #" + "x" * (MAX_BYTES - 6)) == parse("halt")


def test_bytes_that_are_not_utf8_are_refused_with_their_place():
    error = error_of(b"halt;\ngrasp \xff")
    assert (error.line, error.column) == (2, 7)
    assert "0xff" in str(error)


def test_conditions_are_bounded_in_length_and_depth():
    assert "at most 64" in str(error_of("wait until " + " and ".join(["slip"] * 65)))
    assert "at most 100" in str(error_of("wait until " + "not " * 101 + "slip"))
    assert "cannot stand" not in str(parse_one("wait until " + "(" * 5000 + "slip" + ")" * 5000))


def test_only_one_command_where_one_is_asked_for():
    with pytest.raises(CommandError, match="one command"):
        parse_one("halt; halt")


choices = st.lists(st.integers(0, 10_000), max_size=150)


def command_from(numbers):
    source = iter(numbers)
    return random_command(lambda n: next(source, 0) % n)


def check_mutation(numbers, where, kind, junk):
    text = command_from(numbers)
    i = where % (len(text) + 1)
    mutated = {"drop": text[:i] + text[i + 1 :], "insert": text[:i] + junk + text[i:], "cut": text[:i]}[kind]
    try:
        parse(mutated)
    except CommandError as error:
        assert 1 <= error.line <= mutated.count("\n") + 1
        offset = error.at.start
        assert error.column == offset - (mutated.rfind("\n", 0, offset) + 1) + 1
        check_nothing_before_is_wrong(mutated, error)


def check_nothing_before_is_wrong(text, error):
    """Up to the column the text is the beginning of a command: an error of the beginning is only its end."""
    if error.problem == "the command is empty" or "quote" in error.hint:
        return
    try:
        parse(text[: error.at.start])
    except CommandError as earlier:
        endings = ("the command ends too early", "the command is empty", "3 or 7 numbers", "a whole number from 1")
        assert any(ending in earlier.problem for ending in endings), (text, str(earlier))


mutations = (
    choices,
    st.integers(0, 10_000),
    st.sampled_from(["drop", "insert", "cut"]),
    st.one_of(
        st.sampled_from(["@", "(", ")", " speed ", " then ", ";", "9", "é", '"', "'", "\x00", "\n"]),
        st.text(max_size=3),
    ),
)


@settings(max_examples=250, deadline=None)
@given(*mutations)
@pytest.mark.lengthy
def test_mutated_commands_give_an_error_at_the_right_column_or_a_parse(numbers, where, kind, junk):
    check_mutation(numbers, where, kind, junk)


@pytest.mark.slow
@settings(max_examples=10_000, deadline=None)
@given(*mutations)
def test_ten_thousand_mutated_commands_give_an_error_or_a_parse(numbers, where, kind, junk):
    check_mutation(numbers, where, kind, junk)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_give_an_error_or_a_parse(data):
    try:
        parse(data)
    except CommandError as error:
        assert str(error)


@pytest.mark.lengthy
@settings(max_examples=150, deadline=None)
@given(choices, st.integers(0, 10_000))
def test_a_character_without_meaning_is_pointed_at_exactly(numbers, where):
    text = re.sub(r"'[^']*'", "module", re.sub(r'"(\\.|[^"\\])*"', '""', command_from(numbers)))
    spaces = [i for i, char in enumerate(text) if char == " "] or [len(text)]
    i = spaces[where % len(spaces)]
    error = error_of(text[:i] + " @ " + text[i:])
    assert error.at.start == i + 1
    assert "'@' has no meaning" in str(error)


@pytest.mark.parametrize("seed", range(20))
def test_the_words_that_may_follow_are_those_of_the_parser_library(seed):
    """Found without its copies of the values, at every prefix of generated commands."""
    cursor = grammar().parse_interactive(random_command(random.Random(seed).randrange))
    assert accepted_terminals(cursor) == cursor.accepts()
    for _ in cursor.iter_parse():
        assert accepted_terminals(cursor) == cursor.accepts()


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("wait 5 s", "wait for 5 s"),
        ("turn crank 90 deg", "turn crank by 90 deg"),
        ("lift module 5 cm", "lift module by 5 cm"),
        ("insert pin in hole", "insert pin into hole"),
        ("where is module", "where module"),
        ("grasp the module with left_arm", "grasp module with left_arm"),
        ("grasp module left_arm", "grasp module with left_arm"),
        ("grasp pin; lift module 5 cm with left_arm", "grasp pin; lift module by 5 cm with left_arm"),
    ],
)
def test_one_word_more_or_less_is_the_hint(text, right):
    with pytest.raises(CommandError) as error:
        parse(text)
    assert error.value.hint == right
    assert parse(right)


def test_expected_words_come_in_the_order_of_likelihood():
    with pytest.raises(CommandError) as error:
        parse("grasp module module")
    assert error.value.expected[:4] == ("with", "at", "speed", "until")
    assert error.value.expected[-1] == ";"


@pytest.mark.parametrize(
    "text", ["grasp module\nmove left_arm to home", "wait for 5 s\n  halt", "status\n# a remark\nstatus"]
)
def test_a_command_on_a_line_of_its_own_needs_a_semicolon_before_it(text):
    assert "';' separates commands" in str(error_of(text))


def test_a_clause_on_a_line_of_its_own_is_no_command():
    assert "separates" not in str(error_of("grasp module\n wiht left_arm"))
    assert parse_one("grasp module\n with left_arm")


@pytest.mark.lengthy
def test_the_tables_of_the_first_process_serve_the_next_and_damaged_ones_are_made_anew(tmp_path):
    def parsed_elsewhere(home):
        code = f"from telerobot_nodes.rtc.language import parse; print(parse({RICH!r}))"
        environment = {**os.environ, "XDG_CACHE_HOME": str(home)}
        run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        return run.stdout

    wanted = f"{parse(RICH)}\n"
    assert parsed_elsewhere(tmp_path) == wanted
    (kept,) = (tmp_path / "telerobot" / "grammar").iterdir()
    content, before = kept.read_bytes(), kept.stat()
    assert parsed_elsewhere(tmp_path) == wanted
    assert kept.stat().st_mtime_ns == before.st_mtime_ns
    kept.write_bytes(content[:5000])
    assert parsed_elsewhere(tmp_path) == wanted
    assert len(kept.read_bytes()) > 5000
    assert parsed_elsewhere("/dev/null") == wanted  # no home to write to
