"""One command that two arms and a camera do together, as data [JPL-RTC section 5]."""

import shutil

import pytest
import rtc_harness
from two_arm_skills import BRING, MEET

from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.rtc.skills import load_library

TEXT = "meet at dock with left_arm and right_arm"


@pytest.fixture
def folder(config, tmp_path):
    shutil.copytree(config, tmp_path / "rtc")
    for name, text in (("bring", BRING), ("meet", MEET)):
        (tmp_path / "rtc" / "skills" / f"{name}.yaml").write_text(text)
    return tmp_path / "rtc"


@pytest.fixture
def cell(folder):
    return rtc_harness.Cell(load_library(folder), folder)


@pytest.mark.lengthy
def test_one_command_moves_the_camera_then_one_arm_then_the_other(cell):
    report = cell.run(TEXT)
    assert report.outcome == "succeeded", report.reason
    assert [(p.step, p.subsystem) for p in cell.executor.sent] == [
        ("see", "camera"), ("first.go", "left_arm"), ("second.go", "right_arm"), ("apart.go", "left_arm"),
    ]  # fmt: skip
    left, right = (cell.database.view.pose(f"{side}_arm") for side in ("left", "right"))
    assert left[2] - right[2] == pytest.approx(0.30 - 0.20)


def test_the_order_of_the_names_says_which_arm_is_which(cell):
    assert cell.run("meet at dock with right_arm and left_arm").outcome == "succeeded"
    assert [p.subsystem for p in cell.executor.sent] == ["camera", "right_arm", "left_arm", "right_arm"]


def test_both_arms_are_taken_at_once_and_free_at_the_end(cell):
    number = cell.say(TEXT)
    cell.settle(until=1.0)
    assert {"left_arm", "right_arm", "camera"} <= cell.unit.resources.held_by(number)
    assert "right_arm is held by" in cell.run("move right_arm to home").reason
    cell.settle()
    assert cell.reports[number].outcome == "succeeded"
    assert not cell.unit.resources.held_by(number)


@pytest.mark.parametrize("words", ["", " with left_arm", " with left_arm and left_arm"])
def test_a_second_arm_must_be_named(cell, words):
    report = cell.run("meet at dock" + words)
    assert (report.outcome, "two arms; name both" in report.reason) == ("refused", True), report.reason


def test_a_fault_of_the_second_arm_ends_the_command_for_both(cell):
    cell.executor.faults = {"second.go": ["joint_limit"]}
    report = cell.run(TEXT)
    assert (report.outcome, report.step) == ("failed", "second.go")
    assert [p.step for p in cell.executor.sent] == ["see", "first.go", "second.go"]


def test_a_halt_of_either_arm_ends_it(cell):
    for arm in ("left_arm", "right_arm"):
        number = cell.say(TEXT)
        cell.settle(until=cell.now + 1.0)
        cell.say(f"halt {arm}")
        cell.settle()
        assert cell.reports[number].outcome == "halted"
        cell.say("reset")
        cell.settle()


def test_a_reflex_acts_on_the_arm_that_it_stopped(cell):
    cell.executor.faults = {"second.go": ["reflex_1"]}
    cell.run(TEXT + " unless force > 20 then retreat by 2 cm")
    assert [(p.step, p.subsystem) for p in cell.executor.sent][-1] == ("back", "right_arm")


def test_what_the_second_arm_cannot_reach_is_refused_before_anything_moves(cell):
    report = cell.run("meet at (0.8, 0.8, 1.25, 0, 1, 0, 0) with left_arm and right_arm")
    assert report.outcome == "failed"
    assert "out of reach" in report.reason
    assert not cell.executor.sent


def test_a_skill_for_one_arm_still_refuses_a_second(cell):
    with pytest.raises(TelerobotError):
        raise TelerobotError(cell.run("grasp module with left_arm and right_arm").reason)
    assert not cell.executor.sent
