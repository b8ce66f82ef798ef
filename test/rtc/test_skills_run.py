"""Every skill of `config/rtc` runs to its end in the kinematic workcell, and leaves the database as it says."""

import numpy as np
import pytest
import rtc_harness

from telerobot_nodes.rtc.world import DatabaseError, Validity

COMMANDS = [
    "grasp module with left_arm maintain avoid-neighbors speed 0.05 guarded unless force > 20 then stop",
    "grasp module at turned with right_arm",
    "pick module and place on dock with left_arm",
    "turn crank by 360 deg clockwise with left_arm",
    "turn bolt by 90 deg",
    "open door by 60 deg with right_arm",
    "close door",
    "open drawer by 5 cm",
    "close drawer",
    "open gripper by 0.05 m with left_arm",
    "close gripper with left_arm",
    "insert pin into hole with left_arm",
    "remove pin from hole",
    "seat stud in thread",
    "push box by 5 cm along x",
    "pull drawer",
    "slide box by 3 cm along y",
    "level module",
    "polish plate for 5 s with left_arm maintain force 5 N shared operator x y program z rx ry",
    "inspect module",
    "look at dock",
    "locate module",
    "hold left_arm for 2 s",
    "comply left_arm along x y",
    "teleoperate left_arm in world",
    "tare left_arm",
    "wait for 3 s",
    "trade left_arm to operator",
    "move left_arm to above dock offset 0.1",
    "move left_arm to home",
    "move left_arm to (0.3, 0.1, 0.5)",
    "move left_arm to (0, 0, 0.1, 0, 1, 0, 0) in module",
    "move left_arm by 0.1 along -z",
    "move left_arm by 5 cm toward module",
    "move guarded left_arm to neighborhood-of module",
    "move left_arm to grasp-point-of module interpolate task",
    "move left_arm to joints (0.1 m, 0.2 m, 0.6 m, 0, 0, 0)",
    "move left_arm to dock via (0.3, 0, 0.8), above table maintain safe-work-range",
    "touch table with left_arm",
    "follow survey with left_arm",
    "approach module standoff 0.2 with left_arm",
    "retract left_arm by 5 cm",
]


@pytest.mark.parametrize("text", COMMANDS)
def test_the_skill_runs_to_its_end(cell, text):
    report = cell.run(text)
    assert report.outcome == "succeeded", report
    assert not any(item.validity is Validity.BUSY for item in cell.database.view.query())
    assert not cell.executor.busy_clashes


@pytest.mark.parametrize("text", COMMANDS)
def test_the_skill_can_be_tried_without_commanding_anything(cell, text):
    before = cell.database.view.query()
    report = cell.run("try " + text)
    assert report.outcome == "succeeded", report
    assert report.trial.steps
    assert cell.executor.sent == []
    assert cell.database.view.query() == before


def test_grasping_releasing_and_placing_follow_the_object_in_the_database(cell):
    cell.run("grasp module with left_arm")
    assert cell.database.view.read("left_arm.holds") == "module"
    assert cell.database.view.item("module.pose").frame == "left_arm"
    cell.run("lift module by 0.1")
    assert cell.database.view.pose("module")[2] == pytest.approx(0.35, abs=0.02)
    assert cell.run("place module on dock").outcome == "succeeded"
    assert cell.database.view.read("left_arm.holds") == ""
    item = cell.database.view.item("module.pose")
    assert (item.frame, item.validity) == ("", Validity.VALID)
    np.testing.assert_allclose(cell.database.view.pose("module")[:2], [0.66, 0.27], atol=0.02)


def test_the_arm_that_holds_the_object_is_chosen(cell):
    cell.run("grasp module with right_arm")
    cell.run("lift module")
    assert cell.executor.sent[-1].subsystem == "right_arm"
    assert cell.run("release module").outcome == "succeeded"


def test_the_nearest_arm_is_chosen_when_none_is_named(cell):
    cell.run("grasp stud")
    assert cell.executor.sent[-1].subsystem == "right_gripper"


def test_an_arm_that_is_traded_is_left_alone_until_it_is_returned(cell):
    assert cell.run("trade left_arm to operator").outcome == "succeeded"
    report = cell.run("move left_arm to dock")
    assert (report.outcome, "operator's" in report.reason) == ("failed", True)
    cell.executor.joints["left_arm"] = cell.executor.joints["left_arm"] + np.array([0.05, 0, 0, 0, 0, 0])
    with pytest.raises(DatabaseError):
        cell.database.view.pose("left_arm")  # nobody believes where it was
    assert cell.run("return left_arm to program").outcome == "succeeded"
    assert cell.database.view.pose("left_arm")[0] == pytest.approx(0.35)
    assert cell.run("move left_arm to dock").outcome == "succeeded"


def test_returning_an_arm_that_held_something_asks_the_operator(make_cell):
    cell = make_cell()
    cell.on_task = lambda task: f"done task {task.task}"
    cell.run("grasp module with left_arm")
    cell.run("trade left_arm to operator")
    report = cell.run("return left_arm to program")
    assert report.outcome == "succeeded"
    assert report.steps_done == 3


def test_a_new_skill_is_a_file(config, tmp_path):
    import shutil

    from telerobot_nodes.rtc.skills import load_library

    shutil.copytree(config, tmp_path / "rtc")
    (tmp_path / "rtc" / "skills" / "wave.yaml").write_text(
        "skill: wave\ndoc: Wave.\namount: length\nuses: [arm]\ndefaults: {amount: 0.05}\nscripts:\n  wave:\n"
        '    - {step: left, do: move_straight, target: "shift(here, [0, 1, 0], amount)", table: motion}\n'
        '    - {step: right, do: move_straight, target: "shift(left.pose, [0, -1, 0], 2 * amount)", table: motion}\n'
    )
    cell = rtc_harness.Cell(load_library(tmp_path / "rtc"), tmp_path / "rtc")
    report = cell.run("perform wave by 10 cm with left_arm")
    assert (report.outcome, report.steps_done) == ("succeeded", 2)


def test_the_database_follows_an_arm_the_operator_moves(cell):
    cell.run("trade left_arm to operator")
    for k in range(5):
        cell.now += 1.0
        cell.executor.joints["left_arm"] = cell.executor.joints["left_arm"] + np.array([0.01, 0, 0, 0, 0, 0])
        cell.measure("left_arm")
        cell.settle()
        assert cell.database.view.pose("left_arm")[0] == pytest.approx(0.31 + 0.01 * k)


def test_a_slip_on_the_way_leaves_hand_and_fingers_in_doubt(cell):
    """Also in a command that does not use the gripper."""
    assert cell.run("grasp module with left_arm").outcome == "succeeded"
    cell.executor.faults = {"go": ["slip"]}
    report = cell.run("move left_arm to dock")
    assert (report.outcome, "slipped" in report.reason) == ("failed", True)
    view = cell.database.view
    assert view.item("left_arm.holds").value == ""
    assert view.item("left_gripper.width").validity is Validity.SUSPECT
