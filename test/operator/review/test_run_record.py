"""Events of a recorded run, and growing tables."""

from pathlib import Path

import numpy as np
import pytest

from telerobot_nodes.operator.review.run_reader import read_run
from telerobot_nodes.operator.review.run_record import EventKind, Rows, RunRecord


def test_an_event_is_recorded_only_when_its_value_changes():
    run = RunRecord(Path("bag"))
    for time, value in ((0.0, 1), (1.0, 1), (2.0, 2), (3.0, 1)):
        run.changed(time, "queue", EventKind.BRAKE, value, f"brake {value}")
    assert [(event.time, event.text) for event in run.events] == [(0.0, "brake 1"), (2.0, "brake 2"), (3.0, "brake 1")]


def test_kinds_change_independently():
    run = RunRecord(Path("bag"))
    run.changed(0.0, "queue", EventKind.BRAKE, 1, "brake")
    run.changed(1.0, "queue", EventKind.HALT, 1, "halt")
    assert [event.kind for event in run.events] == [EventKind.BRAKE, EventKind.HALT]


def test_a_change_without_a_text_is_no_event_but_counts():
    run = RunRecord(Path("bag"))
    for time, text in ((0.0, "conflict"), (1.0, ""), (2.0, "conflict")):
        run.changed(time, "simulator", EventKind.CONFLICT, text, text)
    assert [event.time for event in run.events] == [0.0, 2.0]


def test_a_refusal_is_recorded_once():
    run = RunRecord(Path("bag"))
    for reason in ("late", "late", "", "far"):
        run.refuse(1.0, "executor", reason)
    assert run.refusals == {"executor": ["late", "far"]}
    assert [event.kind for event in run.events] == [EventKind.REFUSAL] * 2


def test_a_table_gives_its_columns_as_arrays():
    rows = Rows(("time", "position"))
    rows.add(0.0, [1.0, 2.0])
    rows.add(0.1, [3.0, 4.0])
    assert len(rows) == 2
    assert rows.array("time").tolist() == [0.0, 0.1]
    assert rows.array("position").shape == (2, 2)


@pytest.mark.lengthy
def test_a_recording_is_read_into_events_of_several_kinds_and_changes_in_order(make_run):
    run = read_run(make_run())
    kinds = {event.kind for event in run.events}
    assert {EventKind.CONTROL, EventKind.TIME_CLUTCH, EventKind.LINK, EventKind.REFUSAL} <= kinds
    assert len(run.plan) == 200
    assert np.all(np.diff([change.time for change in run.plan]) >= 0.0)
