"""The transcript of commands, from messages of the decision unit."""

from types import SimpleNamespace

import pytest

from telerobot_nodes.core.protocol import PrimitiveOutcome
from telerobot_nodes.operator.review.command_log import PRIMITIVES, PROGRESS, REPLY, Line, as_text, lines_of

ENDED = {
    "kind": 2,
    "command": 3,
    "outcome": "failed",
    "step": "grasp",
    "reason": "slip",
    "steps_done": 2,
    "elapsed": 4.0,
}


def lines(topic, **fields):
    return list(lines_of(topic, SimpleNamespace(**fields)))


def test_a_command_is_shown_with_its_sender():
    assert lines("commands", sender="anna", text="halt") == [("anna", "> halt")]


def test_a_reply_of_severallines_of_is_shown_line_by_line():
    reply = lines("reports", kind=REPLY, text="one\ntwo")
    assert reply == [("decision unit", "one"), ("decision unit", "two")]


def test_progress_names_the_step_if_there_is_one():
    progress = {"kind": PROGRESS, "command": 3, "reason": "moving"}
    assert lines("reports", step="grasp", **progress) == [("command 3", "grasp: moving")]
    assert lines("reports", step="", **progress) == [("command 3", "moving")]


@pytest.mark.parametrize(
    ("trims", "text"),
    [
        ([], "failed at grasp: slip (2 steps, 4.0 s)"),
        (["regrasp"], "failed at grasp: slip (2 steps, 4.0 s; corrected: regrasp)"),
    ],
)
def test_the_end_of_a_command_names_outcome_step_and_corrections(trims, text):
    assert lines("reports", trims=trims, **ENDED) == [("command 3", text)]


@pytest.mark.parametrize("state", PrimitiveOutcome)
def test_a_primitive_is_shown_only_when_it_has_ended(state):
    shown = lines(PRIMITIVES, state=int(state), name="press", reason="force", elapsed=1.0)
    assert bool(shown) == (state is not PrimitiveOutcome.RUNNING)


def test_a_task_of_the_operator_appears_and_is_taken_away():
    assert lines("tasks", task=4, text="hold it", shown=True) == [("operator's task", "task 4: hold it")]
    assert "task 4" in lines("tasks", task=4, text="", shown=False)[0][1]


def test_the_columns_are_as_wide_as_the_longest_name():
    text = as_text([Line(1.5, "anna", "> halt"), Line(12.25, "decision unit", "ok")])
    assert text.splitlines() == ["    1.50  anna           > halt", "   12.25  decision unit  ok"]
