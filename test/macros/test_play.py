"""Sequence control stops at the first result that is not accepted, and says which."""

from hypothesis import given
from hypothesis import strategies as st

from telerobot_nodes.macros import BoundStep, Ended, MacroStep, play

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
