"""Verdicts, choice and merging of rows, and the page made from a result."""

import json
import math
from pathlib import Path
from types import SimpleNamespace

import pytest

from telerobot_nodes.bench import report
from telerobot_nodes.bench.faults import messages
from telerobot_nodes.bench.faults.faults import ROWS, chosen_rows, merged, run, summed, without_folders
from telerobot_nodes.bench.faults.page import markdown
from telerobot_nodes.bench.faults.rows import Outcome, Verdict, at_most, holds, none
from telerobot_nodes.errors import InvalidValueError

MET, MISSED = none("points lost", 0), at_most("stale after", math.inf, 0.5)
DOCS = Path(__file__).parents[3] / "docs"


@pytest.mark.parametrize(
    ("goals", "untried", "verdict"),
    [
        ((MET,), "", Verdict.HELD),
        ((MET,), "memory pressure", Verdict.PART),
        ((MET, MISSED), "", Verdict.PART),
        ((MISSED,), "", Verdict.NOT),
        ((holds("it lives", False),), "", Verdict.NOT),
        ((), "needs root", Verdict.UNTRIED),
        ((), "", Verdict.NOT),
    ],
)
def test_a_row_holds_only_if_every_goal_is_met_and_nothing_was_left_out(goals, untried, verdict):
    assert Outcome("did", goals, untried=untried).verdict is verdict


def test_every_row_of_the_table_is_there_once():
    assert sorted(ROWS) == list(range(1, 36))


def test_rows_are_chosen_by_number():
    assert chosen_rows("3,7") == [3, 7]
    assert chosen_rows("none") == []
    assert sorted(chosen_rows("")) == sorted(ROWS)
    for wrong in ("0", "36", "x", "3,", "-1"):
        with pytest.raises(InvalidValueError, match="rows"):
            chosen_rows(wrong)


def kept(folder, row, goals, verdict, **more):
    entry = {
        "row": row,
        "fault": "link | cut",
        "must": "0 lost",
        "did": "a cut",
        "verdict": verdict.value,
        "observed": "",
        "untried": "",
        "figures": {},
        "goals": [{**goal, "name": f"row {row}: {goal['name']}"} for goal in goals],
        "conditions": report.conditions(),
    }
    report.write(folder / f"row_{row:02d}.json", {**entry, **more})


def test_runs_of_several_days_become_one_result_and_one_page(tmp_path):
    kept(tmp_path, 2, (MET, MISSED), Verdict.PART)
    kept(tmp_path, 1, (), Verdict.UNTRIED, untried="needs root")
    result = merged(tmp_path)
    assert [goal["met"] for goal in result["goals"]] == [True, False]
    page = markdown(json.loads(json.dumps(result)))
    assert "Of 35 rows: 1 held in part, 34 not tried." in page
    assert page.index("## Row 1") < page.index("## Row 2")
    assert "| stale after | never | at most 0.5 s | **missed** |" in page
    assert "| points lost | 0 | 0 | met |" in page
    assert "Not tried here: Needs root." in page
    assert "link / cut" in page  # a bar would end the cell


def test_a_text_of_the_result_names_no_place_of_this_machine():
    told = "journal /states/telerobot-1/plan_executor.journal: No space left on device; 2.0 kbit/s, 50/s"
    assert without_folders(told) == "journal plan_executor.journal: No space left on device; 2.0 kbit/s, 50/s"


def test_the_page_alone_is_made_without_a_graph(tmp_path):
    kept(tmp_path, 4, (MET,), Verdict.HELD)
    result = run({"rows": "none", "folder": str(tmp_path), "page": str(tmp_path / "page.md")})
    assert (tmp_path / "page.md").read_text() == markdown(result)


def test_recordings_with_a_violation_or_that_nobody_can_read_miss_their_goals():
    good = {"error": "", "twice": 0, "out_of_order": 0, "excess": 0}
    assert all(goal["met"] for goal in summed([good, good])["goals"])
    for bad in ({**good, "twice": 1}, {**good, "out_of_order": 1}, {**good, "excess": 1}, {"error": "no recording"}):
        assert [goal["met"] for goal in summed([good, bad])["goals"]].count(False) == 1


def test_the_page_of_the_docs_is_that_of_the_result_beside_it():
    result = json.loads((DOCS / "faults.json").read_text())
    assert (DOCS / "faults.md").read_text() == markdown(result)
    for word in ("/tmp", "/root", "/home"):
        assert word not in (DOCS / "faults.json").read_text()


def test_a_setpoint_of_row_14_is_told_from_one_of_a_loop():
    bad = next(one for one in messages.BAD if one.name == "setpoint, NaN").make()
    assert messages.is_strange(SimpleNamespace(**bad))
    for own in ({"number": 2}, {"position": [0.0] * 6}, {"velocity": [0.1] + [0.0] * 5}):
        assert not messages.is_strange(SimpleNamespace(**bad | own))
