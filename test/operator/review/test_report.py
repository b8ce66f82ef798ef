"""The summary of a run as lines to read."""

from dataclasses import fields

import pytest

from telerobot_nodes.operator.review import RunSummary, summary_lines

NUMBERS = {"int": 3, "float": 0.5, "str": "x"}


def summary(**values):
    plain = {f.name: NUMBERS[f.type] for f in fields(RunSummary) if f.type in NUMBERS and f.name != "picture"}
    return RunSummary(**{**plain, **values})


@pytest.mark.parametrize(
    ("label", "values", "text"),
    [
        (
            "path error",
            {"rms_error_m": 0.0012, "max_error_m": float("nan")},
            "1.200 mm RMS, not known max over 3 samples",
        ),
        (
            "lead",
            {"forward_sim_lead_s": float("nan"), "max_lead_s": 2.0},
            "not known at the end of the plan, 2.000 s at most",
        ),
        ("round trip", {"round_trip_s": 2.0}, "2.000 s (median)"),
    ],
)
def test_a_figure_has_its_unit_or_is_not_known(label, values, text):
    assert dict(summary_lines(summary(**values)))[label] == text


def test_delays_and_picture_appear_only_when_there_are_some():
    bare = dict(summary_lines(summary()))
    assert not {"link up", "link down", "picture"} & set(bare)
    delay = {"median": 1.0, "p95": 1.5, "max": 2.0, "sent": 9, "arrived": 8, "twice": 1}
    lines = dict(summary_lines(summary(up_delay_s=delay, picture="run.png")))
    assert lines["link up"] == "1.000 s median, 1.500 s p95; 8 of 9 arrived, 1 twice"
    assert lines["picture"] == "run.png"


def test_every_refusal_is_a_line():
    lines = summary_lines(summary(refusals={"queue": ["a", "b"], "executor": ["c"]}))
    assert lines[-3:] == [("refused by queue", "a"), ("refused by queue", "b"), ("refused by executor", "c")]


NO_PLAN = dict.fromkeys(("points_planned", "duplicates", "lost", "out_of_order", "unknown", "limit_violations"), 0)


@pytest.mark.parametrize(
    ("commands", "failed", "primitives", "stopped", "passed"),
    [
        (1, 0, 0, 0, True),
        (3, 1, 9, 0, False),
        (2, 0, 9, 3, True),  # what the commands' recoveries made good
        (0, 0, 2, 0, True),
        (0, 0, 2, 1, False),
        (0, 0, 0, 0, False),  # nothing was done
    ],
)
def test_a_run_without_plan_points_is_judged_by_its_commands_and_else_by_its_primitives(
    commands, failed, primitives, stopped, passed
):
    done = {"commands": commands, "commands_failed": failed, "primitives": primitives, "primitives_failed": stopped}
    assert summary(**NO_PLAN, **done).passed == passed
    assert not summary(**{**NO_PLAN, "limit_violations": 1}, **done).passed
    assert not summary(**{**NO_PLAN, "lost": 1}, **done).passed
