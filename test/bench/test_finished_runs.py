"""Runs of a study are kept in a file, and are not made again."""

import json

import pytest

from telerobot_nodes.bench.study import delay_study, finished_runs
from telerobot_nodes.bench.study.finished_runs import FinishedRuns
from telerobot_nodes.bench.study.performance import Performance
from telerobot_nodes.errors import InvalidValueError

JOB = ("trace", "a", "plain", 0.5, 3)
RUN = Performance(16.5, 11, 1, 0)


@pytest.fixture
def file(tmp_path):
    file = tmp_path / "runs.jsonl"
    FinishedRuns(file).add(JOB, RUN)
    return file


def test_a_run_is_found_again(file):
    found = FinishedRuns(file)
    assert JOB in found
    assert found[JOB] == RUN
    assert (*JOB[:-1], 4) not in found


def test_a_run_that_never_ended_is_kept_as_such(file):
    FinishedRuns(file).add(("trace", "b", "plain", 0.5, 3), Performance(float("inf"), 0, 0, 0))
    assert FinishedRuns(file)["trace", "b", "plain", 0.5, 3].seconds == float("inf")


def test_runs_of_other_sources_do_not_count_and_stay(file, monkeypatch):
    monkeypatch.setattr(finished_runs, "sources_digest", lambda: "another")
    other = FinishedRuns(file)
    assert JOB not in other
    other.add(JOB, RUN)
    assert len(file.read_text().splitlines()) == 2


def test_a_line_cut_at_the_end_is_made_again(file):
    whole = file.read_text()
    file.write_text(whole + whole[:30])
    found = FinishedRuns(file)
    found.add((*JOB[:-1], 4), RUN)
    assert [json.loads(line)["job"][-1] for line in file.read_text().splitlines()] == [3, 4]


@pytest.mark.parametrize("line", ["no json", "{}", '{"sources": 1, "job": [1]}', "[]"])
def test_a_file_of_something_else_is_refused_and_left_as_it_is(tmp_path, line):
    file = tmp_path / "notes.txt"
    file.write_text(line + "\n")
    with pytest.raises(InvalidValueError, match=r"runs.*notes\.txt:1"):
        FinishedRuns(file)
    assert file.read_text() == line + "\n"


def test_the_study_performs_only_what_the_file_lacks(tmp_path, monkeypatch):
    made = []
    monkeypatch.setattr(delay_study, "perform", lambda *job: made.append(job) or RUN)
    options = {"seeds": 2, "tasks": "trace", "delays": "0,4", "processes": 1, "runs": tmp_path / "runs.jsonl"}
    first = delay_study.run(options)
    assert len(made) == len(set(made)) == 2 * 2 * 6  # six ways to work
    more = delay_study.run({**options, "seeds": 3})
    assert len(made) == 3 * 2 * 6
    assert first["figures"]["tasks"]["trace"].keys() == more["figures"]["tasks"]["trace"].keys()
