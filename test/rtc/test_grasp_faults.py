"""The grasp of the source's figure 4 with a fault at every step: it recovers or reports exactly as the tables say."""

import numpy as np
import pytest

from telerobot_nodes.rtc.world import Validity, Write

NOMINAL = ["grasp_init", "to_approach", "move_in", "touch_1", "touch_2", "to_middle", "close"]
VISION = ["leave", "look_again"]
GRASP = ["open_again", "out", "look_once_more"]

# step, faults of its executions one after the other, outcome, steps sent, what the reason says
TABLE = [
    ("grasp_init", ["blocked"], "succeeded", NOMINAL[:1] + GRASP + NOMINAL, ""),
    ("grasp_init", ["blocked", "blocked"], "failed", NOMINAL[:1] + GRASP + NOMINAL[:1], "blocked"),
    ("to_approach", ["collision"], "succeeded", [*NOMINAL[:2], "back_off", *NOMINAL[1:]], ""),
    ("to_approach", ["collision", "collision"], "failed", [*NOMINAL[:2], "back_off", "to_approach"], "contact where"),
    ("to_approach", ["timeout"], "succeeded", [*NOMINAL[:2], "back_off", *NOMINAL[1:]], ""),
    ("to_approach", ["joint_limit"], "failed", NOMINAL[:2], "safety limit"),
    ("move_in", ["collision"], "succeeded", NOMINAL[:3] + VISION + NOMINAL[1:], ""),
    ("touch_1", ["missed"], "succeeded", NOMINAL[:4] + VISION + NOMINAL[1:], ""),
    ("touch_1", ["missed", "missed"], "succeeded", NOMINAL[:4] + VISION + NOMINAL[1:4] + GRASP + NOMINAL, ""),
    (
        "touch_1",
        ["missed", "missed", "missed"],
        "failed",
        NOMINAL[:4] + VISION + NOMINAL[1:4] + GRASP + NOMINAL[:4],
        "nothing was touched",
    ),
    ("touch_1", ["collision"], "succeeded", NOMINAL[:4] + VISION + NOMINAL[1:], ""),
    ("touch_2", ["missed"], "succeeded", NOMINAL[:5] + VISION + NOMINAL[1:], ""),
    ("to_middle", ["collision"], "succeeded", NOMINAL[:6] + GRASP + NOMINAL, ""),
    ("close", ["slip"], "succeeded", NOMINAL + GRASP + NOMINAL, ""),
    ("close", ["empty"], "succeeded", NOMINAL + GRASP + NOMINAL, ""),
    ("close", ["gripped_wrong"], "succeeded", NOMINAL + GRASP + NOMINAL, ""),
    ("close", ["slip", "empty"], "failed", NOMINAL + GRASP + NOMINAL, "hold nothing"),
]
TABLE += [(step, ["sensor_loss"], "failed", NOMINAL[: i + 1], "sensor data") for i, step in enumerate(NOMINAL)]
TABLE += [(step, ["refused"], "failed", NOMINAL[: i + 1], "refused") for i, step in enumerate(NOMINAL)]
TABLE += [(step, ["estop"], "failed", NOMINAL[: i + 1], "global error") for i, step in enumerate(NOMINAL)]
TABLE += [(step, ["nonsense"], "failed", NOMINAL[: i + 1], "none of") for i, step in enumerate(NOMINAL)]


@pytest.mark.parametrize(("step", "faults", "outcome", "sent", "reason"), TABLE)
def test_a_fault_at_a_step_is_trimmed_or_reported_as_the_table_says(make_cell, step, faults, outcome, sent, reason):
    cell = make_cell(faults={step: faults})
    report = cell.run("grasp module with left_arm")
    assert [primitive.step for primitive in cell.executor.sent] == sent
    assert report.outcome == outcome
    assert reason in report.reason
    view = cell.database.view
    assert (view.read("left_arm.holds") == "module") == (outcome == "succeeded")
    assert not any(item.validity is Validity.BUSY for item in view.query())
    if outcome == "failed" and step in ("touch_1", "touch_2", "close"):
        assert view.item("module.pose").validity is Validity.SUSPECT  # never claimed, not confirmed


@pytest.mark.parametrize("step", NOMINAL)
def test_a_halt_at_any_step_ends_it_and_claims_nothing(make_cell, step):
    cell = make_cell()
    number = cell.say("grasp module with left_arm")
    while not cell.executor.sent or cell.executor.sent[-1].step != step:
        cell.settle(until=cell.now + 0.02)
    began = cell.now
    cell.say("halt", sender="somebody")
    cell.settle()
    report = cell.reports[number]
    assert (report.outcome, report.step) == ("halted", step)
    assert cell.now - began < 0.5
    assert cell.database.view.read("left_arm.holds") == ""
    assert len(cell.executor.sent) == NOMINAL.index(step) + 1
    assert cell.unit.resources.holders("left_arm") == ()


@pytest.mark.parametrize("step", NOMINAL)
def test_a_subsystem_that_falls_silent_is_noticed(make_cell, step):
    cell = make_cell(faults={step: ["silent"]})
    cell.executor.silent.update(("left_arm", "left_gripper") if step == "close" else ())
    report = cell.run("grasp module with left_arm timeout 300 s")
    assert report.outcome == "failed"
    assert "does not answer" in report.reason


def test_the_object_is_found_again_where_it_really_is(make_cell):
    cell = make_cell(faults={"touch_1": ["missed"]})
    cell.executor.truth["module.pose"] = (0.45, -0.20, 0.38, 0, 0, 0, 1)
    assert cell.run("grasp module with left_arm").outcome == "succeeded"
    np.testing.assert_allclose(cell.database.view.pose("module")[:2], [0.45, -0.20], atol=0.02)


def test_an_object_seen_where_it_cannot_be_is_not_believed(make_cell):
    cell = make_cell(faults={"touch_1": ["missed"]})
    cell.database.claim("test", ["module"])
    cell.database.release("test")
    cell.executor.truth["module.pose"] = (0.0, 0.8, 0.08, 0, 0, 0, 1)
    cell.executor.truth["module.pose"] = (-0.5, 0.5, 0.08, 0, 0, 0, 1)
    report = cell.run("locate module")
    assert (report.outcome, "cannot be" in report.reason) == ("failed", True)


@pytest.mark.lengthy
def test_what_slips_out_while_it_is_carried_is_held_no_longer_and_is_where_nobody_knows(make_cell):
    cell = make_cell(faults={"raise": ["slip"]})
    report = cell.run("pick module and place on dock with left_arm")
    assert (report.outcome, report.step) == ("failed", "raise")
    assert "slipped" in report.reason
    view = cell.database.view
    assert view.read("left_arm.holds") == ""
    assert view.item("module.pose").validity is Validity.SUSPECT
    assert view.item("module.pose").frame == ""  # it moves with the arm no more
    assert "not to be trusted" in cell.run("grasp module with left_arm").reason


def test_only_an_arm_that_holds_something_watches_its_fingers(cell):
    cell.run("pick module and place on dock with left_arm")
    grips = {primitive.step: primitive.grip for primitive in cell.executor.sent}
    width = next(p for p in cell.executor.sent if p.step == "take.close").parameters["width"]
    assert {step for step, grip in grips.items() if grip} == {"raise", "over", "down"}
    assert grips["raise"] == width


def test_the_middle_is_half_way_between_the_two_touches(cell):
    cell.run("grasp module with left_arm")
    by_step = {primitive.step: primitive for primitive in cell.executor.sent}
    results = [np.array(by_step[name].parameters["tr_tn_dest"]) for name in ("touch_1", "touch_2", "to_middle")]
    np.testing.assert_allclose(results[2][:3], 0.5 * (results[0] + results[1])[:3], atol=0.01)


def test_a_grasp_may_be_tried_again_as_a_whole(make_cell):
    cell = make_cell(faults={"to_approach": ["joint_limit"]})
    report = cell.run("grasp module with left_arm retry 2 times")
    assert report.outcome == "succeeded"
    assert len(report.trims) == 1


def test_what_is_not_trusted_is_not_tried_again_blindly(make_cell):
    cell = make_cell(faults={"close": ["sensor_loss"]})
    report = cell.run("grasp module with left_arm retry 2 times")
    assert (report.outcome, "not to be trusted" in report.reason) == ("failed", True)


def test_an_accepted_result_counts_as_success(make_cell):
    cell = make_cell(faults={"touch_1": ["missed"]})
    cell.run("grasp module with left_arm accept missed")
    assert [primitive.step for primitive in cell.executor.sent] == NOMINAL


def test_an_irreversible_step_is_never_repeated(make_cell):
    cell = make_cell(faults={"let_go": ["blocked"]})
    cell.run("grasp module with left_arm")
    report = cell.run("pick module and place on dock with left_arm retry 3")
    assert report.outcome == "failed"
    assert [p.step for p in cell.executor.sent].count("let_go") == 1


@pytest.mark.lengthy
def test_a_trial_does_not_cross_an_irreversible_step(make_cell):
    cell = make_cell(faults={"leave": ["collision", "collision"]})
    report = cell.run("pick module and place on dock with left_arm retry 3")
    assert report.outcome == "failed"
    assert [p.step for p in cell.executor.sent].count("let_go") == 1
    assert [p.step for p in cell.executor.sent].count("leave") == 2  # its own trial repeats it, nothing before it


def test_after_a_trial_nothing_is_planned_from_touches_of_the_time_before(make_cell):
    """The bolt beside it was grasped first; the middle of the module is not between a bolt's side and its own."""
    cell = make_cell(faults={"close": ["gripped_wrong"]})
    cell.executor.truth["module.pose"] = (0.70, -0.17, 0.25, 0, 0, 0, 1)
    cell.database.claim("test", ["module"])
    cell.database.write("test", [Write("module.pose", (0.70, -0.05, 0.25, 0, 0, 0, 1))], 0.0)
    cell.database.release("test")
    assert cell.run("grasp module with left_arm").outcome == "succeeded"
    middles = [np.array(p.parameters["tr_tn_dest"]) for p in cell.executor.sent if p.step == "to_middle"]
    assert len(middles) == 2
    np.testing.assert_allclose(middles[1][:2], [0.70, -0.17], atol=0.015)
