"""The analysis unit is the only writer, writes all or nothing, and claims nothing it cannot confirm."""

import pytest

from telerobot_nodes.rtc.decision import AnalysisUnit
from telerobot_nodes.rtc.skills import Report, Verdict
from telerobot_nodes.rtc.world import DatabaseError, Validity


@pytest.fixture
def running(cell):
    """A grasp whose first touch is under way: the context as the decision unit holds it."""
    number = cell.say("grasp module with left_arm")
    while cell.unit.commands[number].step_name != "touch_1" or not cell.executor.running:
        cell.settle(until=cell.now + 0.02)
    return cell, cell.unit.commands[number].context, AnalysisUnit(cell.library, cell.database, cell.checks)


def contact(cell, context, **changes):
    report = cell.executor.running[context.primitive.number].report
    return Report(**(report.__dict__ | changes))


@pytest.mark.lengthy
def test_what_a_primitive_disturbs_is_busy_while_it_runs(running):
    cell, context, _ = running
    assert set(context.before) == {"module.pose", "left_arm.joints", "left_arm.pose"}
    for key in context.before:
        assert cell.database.view.item(key).validity is Validity.BUSY


def test_a_good_report_gives_trust_back_and_enters_the_arm(running):
    cell, context, unit = running
    report = contact(cell, context)
    advice = unit.evaluate(context, report, 9.0)
    assert advice.verdict is Verdict.CONTINUE
    assert cell.database.view.read("left_arm.joints") == report.joints
    assert cell.database.view.item("module.pose").validity is Validity.VALID
    assert cell.database.view.item("left_arm.pose").author == "command 1"


def test_a_bad_report_leaves_what_was_disturbed_suspect(running):
    cell, context, unit = running
    advice = unit.evaluate(context, contact(cell, context, outcome="missed"), 9.0)
    assert (advice.verdict, advice.note) == (Verdict.RECOVER, "nothing was touched where the object should be")
    assert cell.database.view.item("module.pose").validity is Validity.SUSPECT
    assert cell.database.view.item("left_arm.pose").validity is Validity.VALID  # the arm itself was measured


def test_a_report_without_the_arm_leaves_the_arm_suspect(running):
    cell, context, unit = running
    unit.evaluate(context, contact(cell, context, outcome="timeout", joints=(), pose=()), 9.0)
    assert cell.database.view.item("left_arm.pose").validity is Validity.SUSPECT


def test_a_report_that_cannot_be_judged_is_no_success(running):
    cell, context, unit = running
    advice = unit.evaluate(context, contact(cell, context, pose=(), joints=()), 9.0)
    assert advice.verdict is Verdict.ABORT
    assert "cannot be judged" in advice.note


def test_the_same_report_gives_the_same_recommendation(running):
    cell, context, unit = running
    report = contact(cell, context)
    first, second = unit.evaluate(context, report, 9.0), unit.evaluate(context, report, 9.0)
    assert (first.verdict, first.note) == (second.verdict, second.note)


def test_an_entity_somebody_else_writes_is_not_written(running):
    cell, context, unit = running
    cell.database.claim("somebody else", ["module"])
    before = cell.database.view.query()
    advice = unit.evaluate(context, contact(cell, context), 9.0)
    assert advice.verdict is Verdict.ABORT
    assert "written by somebody else" in advice.note
    assert cell.database.view.query() == before
    with pytest.raises(DatabaseError):
        unit.open(context, 9.0)


def test_an_abandoned_primitive_that_was_never_sent_changes_nothing(running):
    cell, context, unit = running
    unit.abandon(context, sent=False, now=9.0)
    assert cell.database.view.item("module.pose").validity is Validity.VALID
    unit.abandon(context, sent=True, now=9.0)
    assert cell.database.view.item("module.pose").validity is Validity.SUSPECT
