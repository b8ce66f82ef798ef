"""`telerobot primitive`: the final report as values and lines."""

import math
from types import SimpleNamespace

import pytest

from telerobot_nodes.cli.primitive import STATES, _line, _lines, as_values
from telerobot_nodes.core.protocol import PrimitiveOutcome

REPORT = SimpleNamespace(
    id=4,
    name="move_to_touch",
    state=1,
    phase="ended",
    reason="TOUCHED",
    detail="",
    gripper=0.02,
    elapsed=1.25,
    sensor_distance=0.0034,
    sensor_angle=0.1,
    joint_position=[0.1, 0.2],
    tool_pose=[0.5, 0.0, 0.25, 0.0, 1.0, 0.0, 0.0],
    wrench=[3.0, 0.0, -4.0, 1.0, 1.0, 1.0],
    reading_names=["depth", "force"],
    readings=[0.0123456789, 5.0],
)


def report(**values):
    return SimpleNamespace(**{**vars(REPORT), **values})


def test_states_are_those_of_the_message_in_its_order():
    assert [STATES[outcome] for outcome in PrimitiveOutcome] == [outcome.name.lower() for outcome in PrimitiveOutcome]


def test_the_report_as_values_has_every_reading_by_its_name():
    values = as_values(REPORT)
    assert values["state"] == "succeeded"
    assert values["readings"] == {"depth": 0.0123456789, "force": 5.0}
    assert values["wrench"] == [3.0, 0.0, -4.0, 1.0, 1.0, 1.0]
    assert (values["id"], values["elapsed"], values["reason"]) == (4, 1.25, "TOUCHED")


def test_readings_without_names_are_not_shown_as_others():
    with pytest.raises(ValueError, match="zip"):
        as_values(report(readings=[1.0]))


def test_progress_shows_the_force_alone_and_the_way_in_millimetres():
    assert _line(REPORT).split() == ["1.25", "s", "ended", "5.00", "N,", "sensors", "moved", "3.4", "mm"]
    assert f"{math.sqrt(2.0):.2f} N" in _line(report(wrench=[1.0, 1.0, 0.0, 9.0, 9.0, 9.0]))


def test_the_end_names_state_reason_and_detail():
    lines = _lines(report(state=3, reason="REFUSED", detail="max_force_thres: -3"))
    assert lines[0] == "move_to_touch refused, REFUSED: max_force_thres: -3"
    assert _lines(REPORT)[0] == "move_to_touch succeeded, TOUCHED"
    assert _lines(REPORT)[1:] == [
        "  elapsed   1.250 s",
        "  tool      0.5000 0.0000 0.2500 0.0000 1.0000 0.0000 0.0000",
        "  depth     0.0123457",
        "  force     5",
    ]


def test_a_primitive_that_never_began_has_no_time_and_no_place():
    assert len(_lines(report(elapsed=0.0, tool_pose=[], reading_names=[], readings=[]))) == 1
