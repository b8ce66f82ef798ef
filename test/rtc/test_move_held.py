"""`move OBJECT`: what an arm holds is moved, with its underside on the place; what nobody holds is not."""

import pytest
import rtc_harness


@pytest.fixture
def cell(library, config):
    return rtc_harness.Cell(library, config)


@pytest.mark.parametrize("text", ["move module by 5 cm up", "move module to dock", "move guarded module to dock"])
def test_what_nobody_holds_is_not_moved(cell, text):
    report = cell.run(text)
    assert (report.outcome, cell.executor.sent) == ("failed", [])
    assert "does not hold module" in report.reason


def test_what_is_held_is_moved_by_a_distance(cell):
    cell.run("grasp module with left_arm")
    before = cell.database.view.pose("module")
    assert cell.run("move module by 5 cm up").outcome == "succeeded"
    assert cell.database.view.pose("module")[2] == pytest.approx(before[2] + 0.05)


@pytest.mark.parametrize(
    ("text", "above"),
    [("move module to dock", 0.0), ("move module to above dock", 0.1), ("move guarded module to dock", 0.0)],
)
def test_what_is_held_comes_to_a_place_with_its_underside(cell, text, above):
    cell.run("grasp module with left_arm")
    cell.run("lift module by 10 cm")
    report = cell.run(text)
    assert report.outcome == "succeeded", report.reason
    dock, module = cell.database.view.pose("dock"), cell.database.view.pose("module")
    height = cell.database.view.read("module.height")
    assert module[:3] - dock[:3] == pytest.approx([0.0, 0.0, above + 0.5 * height])


@pytest.mark.parametrize("where", ["(0.5, 0, 0.5)", "home", "grasp-point-of box"])
def test_where_only_the_tool_can_be_meant_the_arm_is_to_be_named(cell, where):
    cell.run("grasp module with left_arm")
    report = cell.run(f"move module to {where}")
    assert report.outcome == "failed"
    assert "name the arm" in report.reason


def test_an_arm_still_brings_its_tool_to_the_place(cell):
    cell.run("move left_arm to dock")
    assert cell.database.view.pose("left_arm")[:3] == pytest.approx(cell.database.view.pose("dock")[:3])
