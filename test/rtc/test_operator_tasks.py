"""The operator's task list: numbered once, withdrawn once, reported as entered."""

from types import SimpleNamespace

import pytest

from telerobot_nodes.rtc.decision.operator_tasks import OperatorTaskList
from telerobot_nodes.rtc.language import CommandError
from telerobot_nodes.rtc.language.parser import parse_one


def primitive(number, text="close the gripper"):
    return SimpleNamespace(number=number, text=text)


def test_tasks_are_numbered_from_one_and_numbers_are_not_used_again():
    tasks = OperatorTaskList()
    assert [tasks.show(primitive(n)).task for n in (40, 41)] == [1, 2]
    tasks.withdraw(41)
    assert tasks.show(primitive(42)).task == 3
    assert set(tasks.shown) == {1, 3}


def test_a_task_is_withdrawn_once_by_its_primitive():
    tasks = OperatorTaskList()
    tasks.show(primitive(40))
    (withdrawn,) = tasks.withdraw(40)
    assert (withdrawn.task, withdrawn.primitive, withdrawn.shown) == (1, 40, False)
    assert tasks.withdraw(40) == []


def test_readings_are_in_si_and_the_arm_is_reported_as_measured():
    tasks = OperatorTaskList()
    tasks.show(primitive(40))
    report = tasks.report_of(parse_one("done task 1 width = 41 mm"), (1.0, 2.0), (0, 0, 0, 0, 0, 0, 1.0), 3.0)
    assert (report.primitive, report.outcome, report.joints, report.elapsed) == (40, "done", (1.0, 2.0), 3.0)
    assert report.readings == {"width": pytest.approx(0.041)}


def test_a_failed_task_carries_the_operators_reason():
    tasks = OperatorTaskList()
    tasks.show(primitive(40))
    report = tasks.report_of(parse_one('failed task 1 because "no light"'))
    assert (report.outcome, report.note) == ("failed", "no light")


def test_a_task_that_is_not_shown_is_rejected_with_those_that_are():
    tasks = OperatorTaskList()
    with pytest.raises(CommandError, match="task 2 is not shown; shown: none"):
        tasks.report_of(parse_one("done task 2"))
    tasks.show(primitive(40))
    with pytest.raises(CommandError, match="shown: 1"):
        tasks.report_of(parse_one("done task 2"))


@pytest.mark.parametrize("text", ["open gripper", "close gripper", "open drawer by 10 cm", "turn crank by 90 deg"])
def test_a_person_does_every_step_and_need_not_enter_what_was_asked_for(cell, text):
    cell.on_task = lambda task: f"done task {task.task}"
    assert cell.run(f"{text} with left_arm via operator-intervention").outcome == "succeeded"
    assert cell.executor.sent
    assert {primitive.subsystem for primitive in cell.executor.sent} <= {"operator", "camera"}
