"""`until` and `accept` end a step as a person wishes; what it was to do is not confirmed by that."""

import pytest

from telerobot_nodes.rtc.world import Validity

HELD = "grasp module with left_arm"


def item(cell, key):
    return cell.database.view.item(key)


@pytest.mark.parametrize(
    ("clause", "fault"),
    [("until time > 1 s", "until"), ("accept timeout", "timeout"), ("accept 'collision'", "collision")],
)
@pytest.mark.parametrize("text", ["place module on dock with left_arm", "pick module and place on dock with left_arm"])
def test_an_object_that_did_not_come_down_is_not_let_go(make_cell, text, clause, fault):
    cell = make_cell(faults={"down": 5 * [fault], "over": [None]})
    if text.startswith("place"):
        assert cell.run(HELD).outcome == "succeeded"
    report = cell.run(f"{text} {clause}")
    assert report.outcome == "failed"
    assert "did not come down" in report.reason
    assert "let_go" not in [primitive.step for primitive in cell.executor.sent]
    assert item(cell, "left_arm.holds").value == "module"
    assert item(cell, "module.pose").frame == "left_arm"


@pytest.mark.parametrize(
    ("text", "step", "fault"),
    [
        ("insert pin into hole with left_arm until force > 5", "into", "until"),
        ("insert pin into hole with left_arm accept force_limit", "into", "force_limit"),
        ("insert pin into hole with left_arm accept not_found", "look", "not_found"),
    ],
)
def test_nothing_is_entered_as_put_in_that_did_not_go_in(make_cell, text, step, fault):
    cell = make_cell(faults={step: 5 * [fault]})
    name = text.split()[1]
    cell.run(text)
    assert step in [primitive.step.rpartition(".")[2] for primitive in cell.executor.sent]
    view = cell.database.view
    assert not view.has(f"{name}.in") or (view.item(f"{name}.in").validity, view.item(f"{name}.in").value) != (
        Validity.VALID,
        text.split()[3],
    )


def test_what_slipped_is_not_held_though_the_slip_is_accepted(make_cell):
    cell = make_cell(faults={"up": ["slip"]})
    assert cell.run(HELD).outcome == "succeeded"
    cell.run("lift module with left_arm accept slip")
    assert item(cell, "left_arm.holds").value == ""
    assert item(cell, "module.pose").validity is not Validity.VALID


def test_an_object_that_was_missed_and_then_gripped_is_held_nobody_knows_how(make_cell):
    cell = make_cell(faults={"touch_1": ["missed"]})
    report = cell.run(f"{HELD} accept missed")
    assert report.outcome == "succeeded"
    assert (item(cell, "left_arm.holds").value, item(cell, "left_arm.holds").validity) == ("module", Validity.VALID)
    assert item(cell, "module.pose").validity is Validity.SUSPECT


def test_what_was_measured_is_entered_though_another_value_of_the_step_is_not_known(make_cell):
    """Fingers that have opened hold nothing, though it is not known where the object is."""
    cell = make_cell(faults={"touch_1": ["missed"]})
    report = cell.run("pick module and place on dock with left_arm accept missed")
    assert (report.outcome, report.step) == ("failed", "let_go")
    assert (item(cell, "left_arm.holds").value, item(cell, "left_arm.holds").validity) == ("", Validity.VALID)
    assert item(cell, "module.pose").validity is Validity.SUSPECT


@pytest.mark.parametrize("result", ["estop", "halted", "link_loss", "sensor_loss", "refused"])
def test_what_stops_an_arm_for_safety_or_never_began_is_no_success(cell, result):
    number = cell.say(f"move left_arm to home accept '{result}'")
    cell.settle()
    report = cell.reports[number]
    assert report.outcome == "failed"
    assert f"accept: '{result}' is no result of move" in report.reason
    assert cell.executor.sent == []
