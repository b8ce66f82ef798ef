"""From grammar rules to the tree: positions, numbers, limits."""

import pytest

from telerobot_nodes.rtc.language import Both, CommandError, Define, Direction, Either, Name, Negation, Quantity
from telerobot_nodes.rtc.language import syntax as tree
from telerobot_nodes.rtc.language.parser import parse_one


def clause(text):
    return parse_one(f"push box {text}").clauses[0]


@pytest.mark.parametrize(
    ("text", "clause_"),
    [
        ("guarded", tree.Guarded()),
        ("via operator-intervention", tree.ViaOperator()),
        ("with left_arm and right_arm", tree.With((Name("left_arm"), Name("right_arm")))),
        ("maintain upright", tree.Maintain((tree.Constraint("upright"),))),
        ("speed 2 cm", tree.Maintain((tree.Constraint("speed", Quantity(2.0, "cm")),))),
        ("as first", tree.Setting("as", Name("first"))),
        ("no-wait", tree.Setting("busy", "no-wait")),
        ("retry 2 times", tree.Setting("retry", Quantity(2.0))),
        (r'note "a \"b\" \\"', tree.Setting("note", 'a "b" \\')),
        ("accept contact or 'done'", tree.Accept(("contact", "done"))),
        ("shared operator x y program z", tree.Shared(("x", "y"), ("z",))),
    ],
)
def test_a_clause_becomes_its_class(text, clause_):
    assert clause(text) == clause_


def test_every_part_knows_where_it_stands():
    task = parse_one("push box\n  by 5 cm with left_arm")
    assert (task.at.line, task.at.column) == (1, 1)
    assert (task.amount.at.line, task.amount.at.column, task.amount.at.end - task.amount.at.start) == (2, 6, 4)
    assert (task.clauses[0].at.column, task.clauses[0].names[0].at.column) == (11, 16)


@pytest.mark.parametrize(
    ("text", "direction"),
    [
        ("along -z", Direction("along", word="z", sign=-1)),
        ("along z", Direction("along", word="z")),
        ("toward dock", Direction("toward", name=Name("dock"))),
        ("up", Direction("heading", word="up")),
    ],
)
def test_a_direction_keeps_its_sign_and_its_word(text, direction):
    assert parse_one(f"push box {text}").direction == direction


def test_terms_of_one_kind_are_one_condition():
    condition = clause("until contact and slip and not collision or force > 3").condition
    assert isinstance(condition, Either)
    assert isinstance(condition.terms[0], Both)
    assert len(condition.terms[0].terms) == 3
    assert isinstance(condition.terms[0].terms[2], Negation)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("push box by 1e999 m", "too large"),
        ("move left_arm to (1, 2)", "3 or 7 numbers"),
        ("halt command 1.5", "whole number"),
        ("done task 0", "whole number"),
        ("define a as { try push box }", "no define and no try"),
        ("push box until " + " and ".join(["contact"] * 65), "at most 64 terms"),
        ("push box until " + "not " * 101 + "contact", "at most 100 deep"),
    ],
)
def test_what_no_command_can_mean_is_rejected(text, problem):
    with pytest.raises(CommandError, match=problem):
        parse_one(text)


def test_a_macro_has_its_parameters_and_its_body():
    macro = parse_one("define go(a, b) as { push a; push b }")
    assert isinstance(macro, Define)
    assert [name.text for name in macro.parameters] == ["a", "b"]
    assert [task.target.text for task in macro.body] == ["a", "b"]
    assert parse_one("define go as { push box }").parameters == ()


def test_inspect_has_a_place_and_a_source():
    task = parse_one("inspect dock from table")
    assert (task.place.name.text, task.source.name.text, task.relation) == ("dock", "table", "")
