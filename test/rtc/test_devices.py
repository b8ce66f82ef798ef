"""Devices of the workcell file alone: a sensor that a skill reads, a second camera, an arm without a gripper."""

import shutil

import pytest

from telerobot_nodes.errors import ParameterFileError
from telerobot_nodes.rtc.skills import load_library

WEIGH = """\
skill: weigh
doc: Weigh an object on the scale.
verbs: [weigh]
takes: {object: objects}
performer: none
uses: [object]
scripts:
  weigh:
    - {step: weigh_it, do: read_sensor, parameters: {sensor: "'scale'"}, table: reading,
       writes: {"{object}.mass": {value: weigh_it.value}}}
"""
SENSOR = "sensors: {scale: {topic: /scale/mass, type: std_msgs/msg/Float64}}\n"


@pytest.fixture
def folder(config, tmp_path):
    shutil.copytree(config, tmp_path / "rtc")
    return tmp_path / "rtc"


def change(folder, old, new):
    file = folder / "workcell.yaml"
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new, 1))


@pytest.fixture
def weighing(folder, harness):
    change(folder, "cameras:", SENSOR + "cameras:")
    (folder / "skills" / "weigh.yaml").write_text(WEIGH.replace("weigh_it.value", "measured.value"))
    return harness.Cell(load_library(folder), folder)


@pytest.mark.lengthy
def test_a_skill_reads_a_sensor_and_enters_the_number(weighing):
    weighing.executor.sensors["scale"] = 1.25
    report = weighing.run("weigh module")
    assert report.outcome == "succeeded", report.reason
    assert weighing.database.view.read("module.mass") == 1.25


def test_a_silent_sensor_fails_and_enters_nothing(weighing):
    weighing.executor.faults["weigh_it"] = ["no_reading"]
    assert weighing.run("weigh module").outcome == "failed"
    assert weighing.database.view.read("module.mass") == 0.8


def test_a_sensor_that_the_workcell_has_not_is_named(folder):
    change(folder, "cameras:", SENSOR + "cameras:")
    (folder / "skills" / "weigh.yaml").write_text(
        WEIGH.replace("'scale'", "'scal'").replace("weigh_it.value", "measured.value")
    )
    with pytest.raises(ParameterFileError, match=r"weigh\.yaml:9:\d+: sensor: .*did you mean scale"):
        load_library(folder)


def test_the_second_camera_locates_when_it_is_named(folder, harness):
    change(folder, "cameras: {camera: {}}", "cameras: {camera: {}, wrist_camera: {topic: /wrist/objects}}")
    cell = harness.Cell(load_library(folder), folder)
    assert cell.run("locate module with wrist_camera").outcome == "succeeded"
    assert cell.run("locate module").outcome == "succeeded"
    assert [primitive.subsystem for primitive in cell.executor.sent] == ["wrist_camera", "camera"]


def test_an_arm_without_gripper_is_never_chosen_to_grasp(folder, harness):
    change(folder, "left_arm: {gripper: left_gripper, ", "left_arm: {robot: ur5, ")
    library = load_library(folder)
    assert (library.workcell.arms["left_arm"].gripper, library.workcell.arms["left_arm"].robot) == ("", "ur5")
    cell = harness.Cell(library, folder)
    number = cell.say("grasp module with left_arm")
    cell.settle()
    assert "left_arm has no gripper" in (cell.reports[number].reason if number else cell.replies[-1].text)
    assert cell.run("move left_arm by 2 cm up").outcome == "succeeded"
    cell.run("grasp module")
    assert "left_arm" not in {primitive.subsystem for primitive in cell.executor.sent[1:]}
