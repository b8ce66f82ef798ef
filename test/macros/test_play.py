"""Sequence control stops at the first result that is not accepted, and says which; it waits where a person wants."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.macros import (
    BoundStep,
    Ended,
    MacroEnd,
    MacroStep,
    StepEnd,
    Stops,
    play,
    play_parts,
    stops_of,
)

RESULTS = ("completed", "touched", "max_force", "missed", "refused", "external_stop", "no answer")
ACCEPTABLE = ("completed", "touched", "max_force", "missed")
SUCCESSES = ("completed", "touched")


def step(number, accept):
    return BoundStep(f"m/{number}", MacroStep(str(number), primitive="gcm", accept=accept), {})


@given(st.lists(st.tuples(st.sampled_from(RESULTS), st.lists(st.sampled_from(ACCEPTABLE), max_size=2)), min_size=1))
def test_it_goes_on_exactly_after_accepted_results(cases):
    sent, shown = [], []

    def send(bound):
        sent.append(bound.label)
        return Ended(cases[len(sent) - 1][0], "why")

    end = play([step(n, tuple(accept)) for n, (_, accept) in enumerate(cases)], send, shown.append)
    wrong = [n for n, (result, accept) in enumerate(cases) if result not in (accept or SUCCESSES)]
    assert len(sent) == (wrong[0] + 1 if wrong else len(cases))
    assert end.succeeded == (not wrong)
    assert end.steps == tuple(shown)
    if wrong:
        assert f"m/{wrong[0]}: {cases[wrong[0]][0]}, which is not accepted (why)" == end.reason
    else:
        assert end.reason == ""


def test_nothing_to_send_is_no_success():
    assert not play([], lambda _: Ended("completed"), lambda _: None).succeeded


def test_a_person_is_asked_before_a_step_is_computed_and_what_he_ends_did_not_succeed():
    happened = []

    def steps():
        for number in range(3):
            happened.append(f"computed {number}")
            yield step(number, ())

    def ask(number):
        happened.append(f"asked {number}")
        return "m/2" if number == 2 else ""

    end = play(steps(), lambda _: Ended("completed"), lambda _: None, ask)
    assert happened == ["asked 0", "computed 0", "asked 1", "computed 1", "asked 2"]
    assert [one.label for one in end.steps] == ["m/0", "m/1"]
    assert not end.succeeded
    assert end.reason == "m/2: ended by a person before this step"
    assert play([], lambda _: Ended("completed"), lambda _: None, lambda _: "m/0").reason.startswith("m/0: ended")


LABELS = ("m/go", "m/clear/back", "m/clear/back#2", "m/clear#2/back", "m/clear#2/back#2", "m/touch", "m/touch#2")


@pytest.mark.parametrize(
    ("names", "numbers"),
    [
        ([], set()),
        (["go"], {0}),
        (["touch"], {5, 6}),  # at each of its turns
        (["m/touch"], {5}),  # one turn, by its label
        (["m/touch#2"], {6}),
        (["clear"], {1, 3}),  # before the first step of the macro, at each turn
        (["back"], {1, 2, 3, 4}),
        (["m/clear#2"], {3}),
        (["go", "m/clear#2/back#2"], {0, 4}),
    ],
)
def test_a_name_is_that_of_a_step_or_of_one_turn_of_it(names, numbers):
    assert stops_of(LABELS, False, names) == numbers


def test_every_step_waits_when_it_is_asked_for():
    assert stops_of(LABELS, True, ["go"]) == set(range(len(LABELS)))


@pytest.mark.parametrize(
    ("name", "hint"),
    [("toch", "touch"), ("m", "go, touch"), ("", "go, touch"), ("touch#2", "touch"), ("m/back", "back")],
)
def test_a_name_of_no_step_is_refused_even_if_every_step_waits(name, hint):
    for every in (False, True):
        with pytest.raises(InvalidValueError, match=r"^break: ") as refused:
            stops_of(LABELS, every, [name])
        assert "allowed: a step of the macro" in str(refused.value)
        assert hint in str(refused.value)


STEPS = [BoundStep(f"m/{name}", MacroStep(name, primitive="gcm"), {}) for name in "abcde"]


class Person:
    """Goes on `patience` times."""

    def __init__(self, patience=99):
        self.patience = patience
        self.asked = []

    def __call__(self, label):
        self.asked.append(label)
        return len(self.asked) <= self.patience


def run_parts(before, person, fails=""):
    parts = []

    def run(part):
        parts.append("".join(step.step.name for step in part))
        ends = tuple(StepEnd(step.label, "completed", step.step.name != fails) for step in part)
        return MacroEnd(ends, ends[-1].accepted)

    return play_parts(STEPS, Stops(tuple(step.label for step in STEPS), frozenset(before), person), run), parts


@pytest.mark.parametrize(
    ("before", "sent"), [((), ["abcde"]), ((0,), ["abcde"]), ((2,), ["ab", "cde"]), ((0, 1, 4), ["a", "bcd", "e"])]
)
def test_a_sequence_is_sent_in_parts_that_end_at_breakpoints(before, sent):
    end, parts = run_parts(before, person := Person())
    assert parts == sent
    assert person.asked == [f"m/{'abcde'[number]}" for number in before]
    assert end.succeeded
    assert [step.label for step in end.steps] == [step.label for step in STEPS]


@pytest.mark.parametrize(("patience", "sent"), [(0, []), (1, ["ab"]), (2, ["ab", "c"])])
def test_what_comes_after_the_breakpoint_at_which_a_person_ends_it_is_not_sent(patience, sent):
    end, parts = run_parts((0, 2, 3), Person(patience))
    assert parts == sent
    assert not end.succeeded
    assert len(end.steps) == len("".join(sent))
    assert end.reason == f"m/{'acd'[patience]}: ended by a person before this step"


def test_after_a_part_that_is_not_accepted_nobody_is_asked_and_nothing_sent():
    end, parts = run_parts((2,), person := Person(), fails="b")
    assert (parts, person.asked) == (["ab"], [])
    assert (end.succeeded, end.reason) == (False, "m/b: completed, which is not accepted")
