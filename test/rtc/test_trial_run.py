"""Hypothesis tests answer whether it would work, and if not why and at which step, numbers included."""

import pytest

from telerobot_nodes.core.protocol import trial_of
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.rtc.language import Trial, parse


def test_the_steps_of_a_trial_are_those_of_the_execution_with_their_numbers(cell):
    trial = cell.run("try pick module and place on dock with left_arm").trial
    cell.run("pick module and place on dock with left_arm")
    assert [step.step for step in trial.steps] == [primitive.step for primitive in cell.executor.sent]
    planned = [step.target for step in trial.steps if step.step in ("take.to_approach", "over")]
    sent = [p.parameters["tr_tn_dest"] for p in cell.executor.sent if p.step in ("take.to_approach", "over")]
    assert planned[0] == pytest.approx(sent[0])
    assert trial.duration > 5.0


@pytest.mark.parametrize(
    ("text", "step", "says"),
    [
        ("try release module with left_arm", "plan", "left_arm does not hold module"),
        ("try turn box with left_arm", "plan", "box does not turn"),
        ("try move left_arm to (2, 0, 0.3)", "plan", "out of reach"),
        ("try move left_arm by 5 m along x", "nudge", "out of reach"),
        ("try grasp module with left_arm maintain avoid-task-region bench", "to_approach", "is in region bench"),
        ("try grasp fixture with left_arm", "to_approach", ""),
        ("try pick module and place on shelf with left_arm maintain safe-work-range bench", "take.to_approach", ""),
        ("try move left_arm to dock maintain safe-work-range panel_zone", "go", "outside panel_zone"),
    ],
)
def test_what_would_not_work_is_told_with_the_step(cell, text, step, says):
    report = cell.run(text)
    if says:
        assert report.outcome == "failed"
        assert report.trial.steps[-1].step == step
        assert says in report.reason


def test_a_load_that_is_too_heavy_is_found_before_it_is_lifted(cell):
    report = cell.run("try move left_arm to dock payload 3 kg")
    assert (report.outcome, "more than left_arm carries" in report.reason) == ("failed", True)
    report = cell.run("try move left_arm to (0.85, 0.8, 0.3) payload 2.4 kg")
    assert (report.outcome, "so far out" in report.reason) == ("failed", True)


def test_a_collision_on_the_way_is_found(make_cell):
    cell = make_cell(balls={"post": ((0.48, 0.035, 0.46), 0.08)})
    report = cell.run("try move left_arm to dock")
    assert (report.outcome, "post" in report.reason) == ("failed", True)
    assert cell.run("try move left_arm to dock via (0.3, -0.3, 0.8), (0.6, 0.2, 0.8)").outcome == "succeeded"


def test_another_grasp_point_is_chosen_when_the_first_cannot_be_reached(make_cell):
    cell = make_cell()
    original = cell.checks.kinematics.solve

    def no_plain_down(arm, pose, seed):
        from telerobot_nodes.errors import OutOfReachError

        if abs(abs(pose[4]) - 1.0) < 1e-6 and pose[2] < 0.45:
            raise OutOfReachError("not like this")
        return original(arm, pose, seed)

    cell.checks.kinematics.solve = no_plain_down
    trial = cell.run("try grasp module with left_arm").trial
    assert trial.works
    reached = next(step for step in trial.steps if step.step == "touch_1")
    assert abs(reached.target[4]) == pytest.approx(0.7071, abs=1e-3)
    failed = cell.run("try grasp module at top with left_arm")
    assert "not like this" in failed.reason


def test_a_trial_runs_beside_a_command_and_holds_nothing(cell):
    cell.say("hold left_arm for 20 s")
    cell.settle(until=1.0)
    trial = cell.say("try move left_arm to dock")
    cell.settle(until=2.0)
    assert trial in cell.reports
    assert cell.unit.resources.holders("left_arm") == (1,)
    cell.settle()


def test_a_task_is_tried_where_the_one_before_it_ends(cell):
    alone = cell.run("try lift module by 5 cm with left_arm")
    assert (alone.outcome, "does not hold module" in alone.reason) == ("failed", True)
    trial = cell.run("try { grasp module with left_arm; lift module by 5 cm; place module on dock }").trial
    assert trial.works
    assert {step.step.split(":")[0] for step in trial.steps} == {"1", "2", "3"}
    assert trial.duration == pytest.approx(sum(step.duration for step in trial.steps))
    assert cell.executor.sent == []
    assert cell.database.view.read("left_arm.holds") == ""


@pytest.mark.parametrize(
    ("text", "says", "last"),
    [
        ("grasp module; release box", "task 2: left_arm does not hold box", "2: plan"),
        ("grasp module with left_arm; move left_arm to (2, 0, 0.3)", "task 2: step go: left_arm: [2.0", "2: plan"),
        ("move left_arm to (2, 0, 0.3); grasp module", "task 1: step go: left_arm: [2.0", "1: plan"),
        ("grasp module with left_arm; wait for 1 s speed 0.1", "task 2: speed: wait has no step", "2: plan"),
    ],
)
def test_the_task_that_would_not_work_is_named(cell, text, says, last):
    report = cell.run(f"try {{ {text} }}")
    assert (report.outcome, report.trial.steps[-1].step) == ("failed", last)
    assert report.reason.startswith(says)


def test_a_macro_is_tried(cell):
    cell.say("define fetch(thing) as { grasp thing with left_arm; move left_arm to home }")
    trial = cell.run("try run fetch(module)")
    assert trial.trial.works
    assert trial.text == "grasp module with left_arm; move left_arm to home"
    assert cell.run("try { run fetch(module); lift module by 5 cm }").outcome == "succeeded"
    cell.say("try run ftech(module)")
    cell.settle()
    assert cell.executor.sent == []


@pytest.mark.parametrize(
    "text",
    ["grasp module; lift module", "try grasp module; lift module", "try { grasp module; lift module }", "TRY  run f"],
)
def test_nothing_of_a_text_that_is_tried_is_done(text):
    (trial,) = parse(trial_of(text))
    assert isinstance(trial, Trial)


@pytest.mark.parametrize("text", ["grasp module }; lift module; try { grasp module", "{ a } ; b"])
def test_a_text_that_would_leave_its_trial_is_refused(text):
    with pytest.raises(InvalidValueError, match="brace"):
        trial_of(text)
