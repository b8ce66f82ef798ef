"""Changes, touches and refusals found in the columns of a run; a bag that cannot be reviewed is refused by name."""

import numpy as np
import pytest

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.graph import Qos
from telerobot_nodes.operator.recording import BagTopic, BagWriter
from telerobot_nodes.operator.review.run_reader import arm_prefix, changes, plan_in_force, read_run, touches
from telerobot_nodes.operator.review.run_record import NOT_CLOSED


def test_a_change_of_any_column_is_a_row_and_the_first_is_one():
    table = {"time": np.arange(5.0), "a": np.array([1, 1, 2, 2, 2]), "b": np.array(["x", "x", "x", "x", "y"])}
    assert list(changes(table, "a", "b")) == [
        {"time": 0.0, "a": 1, "b": "x"},
        {"time": 2.0, "a": 2, "b": "x"},
        {"time": 4.0, "a": 2, "b": "y"},
    ]


@pytest.mark.parametrize(
    ("force", "found"),
    [
        ([0, 0, 0], []),
        ([0, 6, 4, 6, 2, 0], [(1, 4)]),  # one touch while it is not released
        ([6, 2, 6], [(0, 1), (2, 3)]),
        ([0, 9, 9], [(1, 3)]),
        ([np.nan, 6, np.nan, 0], [(1, 2)]),
    ],
)
def test_a_touch_lasts_until_the_force_is_released(force, found):
    assert touches(np.array(force, dtype=float)) == found


def test_the_plan_in_force_is_read_where_there_is_one():
    assert plan_in_force({"/a/plan_in_force": 0}, "/a/") == "/a/path_plan_queue/plan"
    assert plan_in_force({"/a/plan_in_force": 3}, "/a/") == "/a/plan_in_force"


def test_the_arm_is_found_by_its_namespace(tmp_path):
    topics = ["/left/path_plan_queue/plan", "/right/path_plan_queue/plan"]
    assert arm_prefix(topics, "right", tmp_path) == "/right/"
    with pytest.raises(InvalidValueError, match=r"arms.*left.*right.*namespace"):
        arm_prefix(topics, None, tmp_path)


@pytest.mark.lengthy
def test_an_empty_recording_is_refused_by_name(tmp_path):
    plan = BagTopic("telerobot/msg/PlanUpdate", Qos.REPORT)
    BagWriter(tmp_path / "nothing", {"/path_plan_queue/plan": plan}).close()
    with pytest.raises(InvalidValueError, match=r"nothing.*empty"):
        read_run(tmp_path / "nothing")


def test_a_recording_that_was_not_closed_is_read_and_the_timeline_says_so(make_run, tmp_path):
    folder = make_run()
    closed = read_run(folder)
    content = next(folder.glob("*.mcap")).read_bytes()
    (tmp_path / "cut.mcap").write_bytes(content[:-9])
    cut = read_run(tmp_path / "cut.mcap")
    assert cut.executed == closed.executed and len(cut.setpoints) == len(closed.setpoints) > 0
    assert [event.text for event in cut.events if event not in closed.events] == [NOT_CLOSED]


def test_a_recording_cut_before_its_first_message_is_refused_by_name(make_run, tmp_path):
    content = next(make_run().glob("*.mcap")).read_bytes()
    for name, size in (("half", len(content) // 2), ("nothing", 0)):
        (tmp_path / f"{name}.mcap").write_bytes(content[:size])
        with pytest.raises(InvalidValueError, match=rf"{name}\.mcap"):
            read_run(tmp_path / f"{name}.mcap")


def test_messages_that_no_node_could_take_are_left_out_and_the_others_reviewed(make_run):
    run, strangers = read_run(make_run()), read_run(make_run("too few joints"))
    np.testing.assert_array_equal(strangers.setpoints.array("velocity"), run.setpoints.array("velocity"))
    (told,) = strangers.refusals["hardware_interface/setpoint"]
    assert told.endswith("messages, for their arrays are not as long as those of the others") and told[0] != "0"
    assert "hardware_interface/setpoint" not in run.refusals
