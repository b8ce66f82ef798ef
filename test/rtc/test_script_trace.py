"""The live script: what was tried and why it failed, what is active, what comes next."""

import pytest

from telerobot_nodes.core.protocol import StepState

GRASP = ["grasp_init", "to_approach", "move_in", "touch_1", "touch_2", "to_middle", "close"]


def short(step):
    return step.name.rpartition(".")[2]


def check(scripts):
    """What holds of every script at every moment."""
    for script in scripts:
        states = [step.state for step in script.steps]
        first = states.index(StepState.TO_COME) if StepState.TO_COME in states else len(states)
        assert StepState.ACTIVE not in states[: first - 1]  # only the last one begun
        assert set(states[first:]) <= {StepState.TO_COME}
        assert bool(script.outcome) is (script.state == "ended")
        if script.outcome:
            assert not {StepState.TO_COME, StepState.ACTIVE} & set(states)
        assert all(0.0 <= step.began <= step.ended for step in script.steps[:first] if step.state != StepState.ACTIVE)


def test_a_script_is_shown_from_its_first_step_to_its_end(cell):
    report = cell.run("grasp module with left_arm")
    check(cell.scripts)
    actives = [short(step) for script in cell.scripts for step in script.steps if step.state is StepState.ACTIVE]
    assert list(dict.fromkeys(actives)) == GRASP
    assert [short(step) for step in cell.scripts[0].steps] == GRASP
    last = cell.scripts[-1]
    assert (last.outcome, last.command) == ("succeeded", report.command)
    assert [step.state for step in last.steps] == [StepState.DONE] * len(GRASP)
    assert {step.subsystem for step in last.steps} == {"left_arm", "left_gripper"}


def test_a_step_that_failed_says_why_and_its_recovery_is_named(make_cell):
    cell = make_cell(faults={"close": ["slip"]})
    cell.run("grasp module with left_arm")
    check(cell.scripts)
    steps = cell.scripts[-1].steps
    failed = steps[len(GRASP) - 1]
    assert (short(failed), failed.state) == ("close", StepState.FAILED)
    assert failed.note
    recovering = [step for step in steps if step.recovery]
    assert [short(step) for step in recovering] == ["open_again", "out", "look_once_more"]
    assert [short(step) for step in steps] == [*GRASP, *map(short, recovering), *GRASP]


def test_a_command_that_fails_ends_with_the_step_that_failed(make_cell):
    cell = make_cell(faults={"to_approach": ["joint_limit"]})
    report = cell.run("grasp module with left_arm")
    check(cell.scripts)
    last = cell.scripts[-1]
    assert (last.outcome, last.reason) == ("failed", report.reason)
    assert last.steps[-1].state is StepState.FAILED
    assert last.steps[-1].note in report.reason


@pytest.mark.parametrize("word", ["halt", "cancel left_arm"])
def test_a_step_that_was_stopped_is_shown_as_stopped(cell, word):
    cell.say("hold left_arm for 50 s")
    cell.settle(until=0.5)
    assert cell.scripts[-1].steps[-1].state is StepState.ACTIVE
    cell.say(word)
    cell.settle()
    check(cell.scripts)
    assert cell.scripts[-1].steps[-1].state is StepState.STOPPED


def test_a_pause_is_shown(cell):
    cell.say("hold left_arm for 50 s")
    cell.settle(until=0.5)
    cell.say("pause")
    assert cell.scripts[-1].paused
    cell.say("resume")
    assert not cell.scripts[-1].paused


def test_commands_beside_each_other_have_a_script_each(cell):
    left, right = cell.say("hold left_arm for 5 s"), cell.say("hold right_arm for 2 s")
    cell.settle()
    check(cell.scripts)
    assert {script.command for script in cell.scripts} == {left, right}
    assert [script.command for script in cell.scripts if script.outcome] == [right, left]


def test_what_never_began_has_no_script_and_nothing_is_shown_twice(cell):
    cell.say("grasp nonsense")
    cell.say("where is module")
    cell.say("try grasp module with left_arm")
    cell.settle()
    assert cell.scripts == []
    cell.run("hold left_arm for 1 s")
    same = [script for i, script in enumerate(cell.scripts[1:]) if script.steps == cell.scripts[i].steps]
    assert len(same) < len(cell.scripts) - 1
    assert cell.unit.script_changes(cell.now) == []
