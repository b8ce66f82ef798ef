"""The summary of a study with people: the same table and picture as for the scripted operator."""

import json

import pytest

from telerobot_nodes.bench.study import delay_study
from telerobot_nodes.bench.study.performance import Performance
from telerobot_nodes.study.design import SCALES, Ending, StudySettings, Workload
from telerobot_nodes.study.results import StudyFolder, TrialResult, summarize, write_summary

SETTINGS = StudySettings(tasks=("trace",), conditions=("a", "d"), delays=(0.0, 1.0))
PEOPLE = ("ann", "bob", "cy")


def seconds(person, trial):
    return 10.0 + PEOPLE.index(person) + {"a": 0.0, "d": 2.0}[trial.condition] + 5.0 * trial.round_trip


def result(person, trial, ending=Ending.REACHED):
    done = seconds(person, trial) if ending is Ending.REACHED else None
    workload = Workload(dict.fromkeys(SCALES, 5 * PEOPLE.index(person)))
    return TrialResult(person, trial, ending, 9.0, done, 1, 10, workload, "2026-11-27T20:00:00+00:00", "trials/1")


def everything():
    return [result(name, trial) for k, name in enumerate(PEOPLE) for trial in SETTINGS.order(k)]


def test_the_table_is_that_of_the_scripted_operator_with_the_same_times():
    found = everything()
    runs = {}
    for one in sorted(found, key=lambda one: one.person):
        key = (one.trial.task, one.trial.condition, "plain", one.trial.round_trip)
        runs.setdefault(key, []).append(Performance(one.seconds, 11, 0, 1))
    for condition in "bc":  # which nobody did
        for delay in SETTINGS.delays:
            runs["trace", condition, "plain", delay] = [Performance(1.0, 1, 0, 0)] * 3
    wanted = delay_study.table("trace", SETTINGS.delays, runs)
    rows = summarize(SETTINGS, found)["tasks"]["trace"]
    for name in ("seconds", "to_direct_at_0_s", "touches_mean"):
        assert {c: rows[name][c] for c in "ad"} == {c: wanted[name][c] for c in "ad"}
        assert rows[name]["b"] == [None, None]


def test_what_was_not_reached_is_counted_and_in_no_mean():
    found = [
        result(one.person, one.trial, Ending.TIMED_OUT if one.person == "cy" else Ending.REACHED)
        for one in everything()
    ]
    rows = summarize(SETTINGS, found)["tasks"]["trace"]
    assert rows["seconds"]["a"][0][0] == pytest.approx(10.5)
    assert rows["endings"]["a"][0] == {"reached": 2, "timed out": 1, "abandoned": 0}
    assert rows["workload"]["a"][0][0] == pytest.approx(5.0)


def test_ratios_are_of_those_who_did_both():
    found = [
        one for one in everything() if one.person != "ann" or (one.trial.condition, one.trial.round_trip) != ("a", 0.0)
    ]
    rows = summarize(SETTINGS, found)["tasks"]["trace"]
    assert rows["to_direct_at_0_s"]["d"][0][0] == pytest.approx((13.0 + 14.0) / (11.0 + 12.0), abs=1e-3)


def test_table_picture_and_figures_are_written_whatever_is_missing(tmp_path):
    with StudyFolder(tmp_path / "study", SETTINGS) as folder:
        first = folder.left("ann")[0]
        shown = write_summary(folder)
        assert shown.count("-") > 4
        assert not (folder.folder / "study.png").exists()
        folder.add(result("ann", first))
        shown = write_summary(folder)
        assert f"{seconds('ann', first):.1f} +- 0.0" in shown
        assert "0 (1/1)" in shown
    held = json.loads((tmp_path / "study" / "summary.json").read_text())
    assert (held["people"], held["trials"], held["text"]) == (1, 1, shown)
    assert (tmp_path / "study" / "table.txt").read_text() == shown + "\n"
    assert (tmp_path / "study" / "study.png").stat().st_size > 10_000
