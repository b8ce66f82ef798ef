"""Macros are replaced by what they stand for, names of their parameters included."""

import pytest

from telerobot_nodes.rtc.language import CommandError, Name, expand_macro, parse
from telerobot_nodes.rtc.language.macros import substitute
from telerobot_nodes.rtc.language.parser import parse_one
from telerobot_nodes.rtc.language.printer import print_program


def macros(*texts):
    return {define.name.text: define for define in (parse_one(text) for text in texts)}


def test_parameters_are_replaced_wherever_they_stand():
    known = macros("define fetch(thing, arm) as { grasp thing with arm until contact on thing; move arm to home }")
    out = expand_macro(parse_one("run fetch(module, left_arm)"), known)
    assert print_program(out) == "grasp module with left_arm until contact on module; move left_arm to home"


def test_macros_may_run_macros():
    known = macros("define a(n) as { grasp n }", "define b as { run a(module); halt }")
    assert print_program(expand_macro(parse_one("run b"), known)) == "grasp module; halt"


@pytest.mark.parametrize(
    ("run", "says"),
    [("run fecth(x1)", "did you mean fetch"), ("run fetch", "takes 1 names, not 0"), ("run loop", "runs itself")],
)
def test_a_macro_that_cannot_be_expanded_is_refused(run, says):
    known = macros("define fetch(t) as { grasp t }", "define loop as { run loop2 }", "define loop2 as { run loop }")
    with pytest.raises(CommandError, match=says):
        expand_macro(parse_one(run), known)


def test_a_macro_that_grows_without_bound_is_refused():
    texts = [f"define m{i} as {{ {'; '.join([f'run m{i + 1}'] * 8)} }}" for i in range(8)]
    known = macros(*texts, "define m8 as { halt }")
    with pytest.raises(CommandError, match="expands to more"):
        expand_macro(parse_one("run m0"), known)


def test_nothing_is_copied_when_nothing_changes():
    tree = parse("grasp module with left_arm; halt")
    assert substitute(tree, lambda name: name) is tree
    assert substitute(tree, lambda name: Name(name.text.upper())) != tree
