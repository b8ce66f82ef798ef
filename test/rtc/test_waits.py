"""Timed waits: end by time, by a signal or by the condition of the command."""

from types import SimpleNamespace

import pytest

from telerobot_nodes.rtc.decision.waits import TimedWaits
from telerobot_nodes.rtc.language.parser import parse_one


def condition(text):
    return parse_one(f"wait until {text}").clauses[0].condition


def begun(text="", seconds=10.0, now=100.0, every=0.0):
    waits = TimedWaits()
    request = SimpleNamespace(until=condition(text) if text else None, report_every=every)
    waits.begin(SimpleNamespace(number=7, parameters={"seconds": seconds}), request, now)
    return waits


def outcomes(waits, now):
    return [(report.primitive, report.outcome, report.elapsed) for report in waits.over(now)]


def test_a_wait_ends_by_time():
    waits = begun()
    assert waits.next_end() == 110.0
    assert outcomes(waits, 109.9) == []
    assert outcomes(waits, 110.0) == [(7, "reached", 10.0)]


def test_a_removed_wait_reports_nothing():
    waits = begun()
    waits.remove(7)
    waits.remove(7)
    assert (waits.next_end(), outcomes(waits, 200.0)) == (float("inf"), [])


@pytest.mark.parametrize(
    ("text", "lamp", "now", "ends"),
    [
        ("signal lamp", True, 101.0, True),
        ("signal lamp", False, 101.0, False),
        ("not signal lamp", False, 101.0, True),
        ("time > 2 s", False, 102.5, True),
        ("time > 2 s", False, 101.5, False),
        ("time < 2 s", False, 101.5, True),
        ("signal lamp and time > 2 s", True, 101.5, False),
        ("signal lamp or time > 2 s", True, 101.5, True),
        ("force > 5", True, 105.0, False),
        ("contact", True, 105.0, False),
        ("not contact", True, 105.0, False),  # nothing measures it: nothing is known
        ("not signal part_ready", True, 105.0, False),
        ("time >= 1 s", False, 101.0, True),
    ],
)
def test_a_condition_on_signals_and_time_ends_a_wait_early(text, lamp, now, ends):
    waits = begun(text)
    waits.signals["lamp"] = lamp
    assert [outcome for _, outcome, _ in outcomes(waits, now)] == (["until"] if ends else [])


def test_a_wait_for_a_condition_that_never_comes_has_failed():
    waits = begun("signal lamp")
    (report,) = waits.over(110.0)
    assert (report.outcome, report.note) == ("timeout", "the condition did not hold within 10 s")


@pytest.mark.parametrize("text", ["time > 2 s", "time >= 2 s", "signal lamp or not time < 2 s"])
def test_a_wait_looks_again_when_its_condition_comes_true_by_time(text):
    waits = begun(text)
    assert 102.0 < waits.next_end() < 102.01
    assert [outcome for _, outcome, _ in outcomes(waits, waits.next_end())] == ["until"]


def test_a_moment_that_has_passed_wakes_nobody_again():
    waits = begun("signal lamp and time > 2 s")
    assert outcomes(waits, 102.5) == []
    assert waits.next_end() == 110.0


def test_a_wait_without_seconds_is_over_at_once():
    waits = TimedWaits()
    waits.begin(SimpleNamespace(number=1, parameters={}), None, 5.0)
    assert outcomes(waits, 5.0) == [(1, "reached", 0.0)]


def test_a_wait_reports_at_its_interval():
    waits = begun(every=3.0)
    assert (waits.next_end(), waits.progress(102.9)) == (103.0, [])
    assert [report.note for report in waits.progress(103.5)] == ["3.5 s of 10 s"]
    assert (waits.next_end(), waits.progress(105.9)) == (106.0, [])


def test_a_report_that_is_late_does_not_delay_the_next():
    waits = begun(every=0.5)
    assert [bool(waits.progress(now)) for now in (100.4, 100.7, 100.9, 101.0, 101.45, 101.5)] == [
        False, True, False, True, False, True,
    ]  # fmt: skip
