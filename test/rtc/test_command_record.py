"""The record of a command: recoveries, retries, deadlines."""

from types import SimpleNamespace

import pytest

from telerobot_nodes.rtc.decision import CommandRecord
from telerobot_nodes.rtc.decision.command_states import Event, State
from telerobot_nodes.rtc.skills import Recovery, Then


def planned(name, prefix="", recoveries=()):
    step = SimpleNamespace(name=name, recoveries=recoveries)
    return SimpleNamespace(name=prefix + name, step=step, frame=SimpleNamespace(prefix=prefix))


STEPS = (planned("open"), planned("touch", recoveries=("again", "look")), planned("close"))
AGAIN, LOOK = Recovery("again", Then.RETRY), Recovery("look", Then.RESTART, from_step="open")
LEAVE = Recovery("leave", Then.CONTINUE)


class Script:
    steps = STEPS
    recoveries = {("", "again"): (AGAIN, ()), ("", "look"): (LOOK, (planned("see"),))}  # noqa: RUF012
    chosen = {}  # noqa: RUF012

    def index(self, prefix, step):
        return next((n for n, s in enumerate(STEPS) if s.name == prefix + step), 0)


def request(**more):
    values = {"retries": 0, "skill": "grasp", "timeout": 0.0, "label": ""}
    return SimpleNamespace(**values | more)


@pytest.fixture
def record():
    library = SimpleNamespace(
        skills={"grasp": SimpleNamespace(reversible=True), "weld": SimpleNamespace(reversible=False)}
    )
    made = CommandRecord(1, "ana", "grasp module", 100.0, library, state=State.ANALYSING, request=request())
    made.begin(Script())
    made.planned = STEPS[1]
    return made


def test_a_script_is_stacked_with_its_first_step_on_top(record):
    assert [s.name for s in record.stack] == ["close", "touch", "open"]


def test_recoveries_are_taken_in_order_each_once(record):
    assert [found and found[0].name for found in (record.take_recovery() for _ in range(3))] == ["again", "look", None]


def test_a_step_of_a_recovery_has_none(record):
    record.planned = planned("see", recoveries=("again",))
    assert record.take_recovery() is None


def test_a_recovery_that_restarts_forgets_later_results(record):
    record.results = {"open": {}, "touch": {}, "close": {}}
    record.push_recovery(LOOK, (planned("see"),))
    assert ([s.name for s in record.stack], record.replan) == (["see"], ("", "open"))
    record.begin(Script())
    assert (record.results, record.replan, len(record.stack)) == ({}, None, 3)


def test_a_recovery_that_repeats_the_step_keeps_earlier_results(record):
    record.results = {"open": {}, "touch": {}}
    record.push_recovery(AGAIN, ())
    record.begin(Script())
    assert (set(record.results), [s.name for s in record.stack]) == ({"open"}, ["close", "touch"])


def test_a_recovery_that_continues_keeps_the_rest_of_the_stack(record):
    record.stack = [STEPS[2]]
    record.push_recovery(LEAVE, (planned("a"), planned("b")))
    assert ([s.name for s in record.stack], record.replan) == (["close", "b", "a"], None)
    assert record.recoveries == ["touch: leave"]


@pytest.mark.parametrize(
    ("done", "recovery", "again"), [("open", LOOK, "open"), ("open", AGAIN, ""), ("close", LEAVE, "")]
)
def test_an_irreversible_step_is_not_repeated(record, done, recovery, again):
    record.irreversible = [done]
    assert record.repeats_irreversible(recovery) == again


@pytest.mark.parametrize(
    ("retries", "used", "skill", "irreversible", "state", "may"),
    [
        (1, 0, "grasp", [], State.ANALYSING, True),
        (1, 0, "grasp", [], State.BINDING, True),
        (1, 0, "grasp", [], State.ELABORATING, False),
        (1, 1, "grasp", [], State.ANALYSING, False),
        (1, 0, "weld", [], State.ANALYSING, False),
        (1, 0, "grasp", ["close"], State.ANALYSING, False),
    ],
)
def test_a_whole_command_is_repeated_only_where_nothing_forbids_it(
    record, retries, used, skill, irreversible, state, may
):
    record.request, record.state = request(retries=retries, skill=skill), state
    record.retries_used, record.irreversible = used, irreversible
    assert record.may_retry is may


def test_a_retry_starts_from_nothing(record):
    record.results["open"] = {}
    record.take_recovery()
    record.restart("it slipped")
    assert (record.state, record.stack, record.results, record.script) == (State.ELABORATING, [], {}, None)
    assert (record.recoveries, record.recoveries_used) == (["retry 1: it slipped"], {})


def test_the_deadline_counts_from_the_start_but_not_for_trials(record):
    assert record.deadline == float("inf")
    record.request = request(timeout=5.0)
    assert record.deadline == 105.0
    record.is_trial = True
    assert record.deadline == float("inf")


def test_a_subsystem_is_lost_after_its_own_limit_but_not_on_hold(record):
    record.primitive, record.sent_at = SimpleNamespace(limit=10.0), 200.0
    assert record.lost_at(5.0) == 215.0
    record.paused = True
    assert record.lost_at(5.0) == float("inf")


def test_an_event_goes_through_the_table(record):
    record.go(Event.CONTINUE)
    assert record.state is State.BINDING
