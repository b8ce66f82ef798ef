"""What a reflex says is done, and confirmed, before the command ends; or the command goes on when a person says so."""

import numpy as np
import pytest
import reacting_cell


@pytest.fixture
def world(library, config):
    return reacting_cell.ReactingCell(library, config)


def pressed(cell, text, step="go", **faults):
    """A command whose reflex stops it half way."""
    cell.executor.faults = {step: ["reflex_1"], **faults}
    return cell.run(text)


def test_stop_stops(world):
    report = pressed(world, "move left_arm to dock unless force > 20 then stop")
    assert (report.outcome, report.reason) == ("failed", "reflex: force > 20, stopped")
    assert world.executor.sent[-1].step == "go"


def test_retreat_goes_back_by_the_distance(world):
    report = pressed(world, "move left_arm to dock unless force > 20 then retreat by 4 cm")
    assert (report.outcome, report.reason) == ("failed", "reflex: force > 20, retreat by 4 cm: done")
    back = world.executor.sent[-1]
    assert back.kind == "move_straight"
    points = back.trajectory.points
    assert points[-1][2] - points[0][2] == pytest.approx(0.04)  # the tool points down: back is up
    assert not world.falsehoods()


def test_a_retreat_that_does_not_happen_is_not_reported_as_done(world):
    report = pressed(world, "move left_arm to dock unless force > 20 then retreat by 4 cm", back=["collision"])
    assert report.outcome == "failed"
    assert report.reason == "reflex: force > 20, retreat by 4 cm: contact where none was expected"


def test_release_opens_the_fingers_and_the_database_knows(world):
    world.run("grasp module with left_arm")
    world.run("lift module by 10 cm")
    report = pressed(world, "move left_arm to dock unless force > 20 then release")
    assert (report.outcome, report.reason) == ("failed", "reflex: force > 20, release: done")
    assert not world.real.held
    assert world.database.view.read("left_arm.holds") == ""
    assert not world.falsehoods()


def test_comply_yields_in_all_axes(world):
    pressed(world, "move left_arm to dock unless force > 20 then comply")
    last = world.executor.sent[-1]
    assert (last.kind, last.parameters["comply_vect"]) == ("hold", (True,) * 6)


def test_ask_operator_goes_on_when_the_answer_is_done(world):
    world.on_task = lambda task: f"done task {task.task}"
    report = pressed(world, "move left_arm to dock unless force > 20 then ask operator")
    assert report.outcome == "succeeded"
    assert [primitive.step for primitive in world.executor.sent] == ["go", "ask", "go"]
    np.testing.assert_allclose(world.database.view.pose("left_arm")[:2], (0.66, 0.27), atol=1e-6)


def test_a_motion_by_a_distance_that_goes_on_ends_where_it_would_have(world):
    world.on_task = lambda task: f"done task {task.task}"
    before = world.database.view.pose("left_arm")[2]
    text = "move left_arm by 10 cm up unless force > 20 then ask operator"
    assert pressed(world, text, step="nudge").outcome == "succeeded"
    assert world.database.view.pose("left_arm")[2] - before == pytest.approx(0.10)


@pytest.mark.parametrize(
    ("before", "text", "step"),
    [
        ((), "move left_arm by 10 cm up retry 2", "nudge"),
        ((), "retract left_arm by 10 cm retry 2", "back"),
        (("grasp module with left_arm",), "lift module by 10 cm", "up"),
    ],
)
def test_a_motion_by_a_distance_that_is_tried_again_ends_where_it_would_have(world, before, text, step):
    for first in before:
        assert world.run(first).outcome == "succeeded"
    height = world.database.view.pose("left_arm")[2]
    world.executor.faults = {step: ["collision"]}
    assert world.run(text).outcome == "succeeded"
    assert [primitive.step for primitive in world.executor.sent][-2:] == [step, step]
    assert world.database.view.pose("left_arm")[2] - height == pytest.approx(0.10)


@pytest.mark.parametrize(
    ("before", "text"),
    [
        (("grasp module with left_arm",), "release module"),
        (("grasp module with left_arm", "lift module"), "place module on dock"),
        ((), "pick module and place on dock with left_arm"),
    ],
)
def test_a_step_is_tried_again_though_what_the_skill_requires_is_over(world, before, text):
    for first in before:
        assert world.run(first).outcome == "succeeded"
    world.executor.faults = {"leave": ["collision"]}
    report = world.run(text)
    assert (report.outcome, report.trims) == ("succeeded", ("leave: again",)), report.reason
    assert [primitive.step for primitive in world.executor.sent][-3:] == ["let_go", "leave", "leave"]
    assert not world.falsehoods()


def test_ask_operator_ends_the_command_when_the_answer_is_failed(world):
    shown = []
    world.on_task = lambda task: shown.append(task.text) or f'failed task {task.task} because "a box is there"'
    report = pressed(world, "move left_arm to dock unless force > 20 then ask operator")
    assert "force > 20" in shown[0]
    assert (report.outcome, "a box is there" in report.reason) == ("failed", True)


def test_a_halt_during_a_reaction_ends_the_command_once(world):
    number = world.say("move left_arm to dock unless force > 20 then retreat by 4 cm")
    world.executor.faults = {"go": ["reflex_1"]}
    world.executor.faults = {"back": ["silent"], "go": ["reflex_1"]}
    world.at(8.0, lambda: world.say("halt"))
    world.settle()
    assert world.reports[number].outcome in ("halted", "failed")
    assert world.report_count[number] == 1


def test_nobody_performs_a_reaction_by_name(world):
    assert "only a reflex" in world.run("perform react with left_arm").reason
