"""Steps that wait for a person's word: `confirm each step`, breakpoints, `step`, `continue`."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from telerobot_nodes.core.protocol import StepState
from telerobot_nodes.rtc.decision.command_states import State

GRASP = ["grasp_init", "to_approach", "move_in", "touch_1", "touch_2", "to_middle", "close"]


def short(step):
    return step.name.rpartition(".")[2]


def sent(cell):
    return [primitive.step.rpartition(".")[2] for primitive in cell.executor.sent]


def begin(cell, text):
    """Number of the command that a text begins, once its words have been read."""
    before = len(cell.replies)
    cell.say(text)
    cell.settle(until=cell.now)
    return next(reply.command for reply in cell.replies[before:] if reply.command)


def waits_at(cell, command):
    """Name of the step that waits; "" for none."""
    record = cell.unit.commands.get(command)
    return record.step_name if record and record.state is State.AT_BREAKPOINT else ""


def refused(cell, text):
    cell.say(text)
    cell.settle(until=cell.now)
    assert not cell.replies[-1].ok
    return cell.replies[-1].text


def test_each_step_waits_for_its_word_and_nothing_moves_meanwhile(cell):
    command = begin(cell, "confirm each step; grasp module with left_arm")
    for done, name in enumerate(GRASP):
        cell.settle()
        assert (waits_at(cell, command), sent(cell)) == (name, GRASP[:done])
        cell.say("step")
    cell.settle()
    assert (cell.reports[command].outcome, sent(cell)) == ("succeeded", GRASP)


def test_the_live_script_and_a_progress_report_show_what_waits(cell):
    command = begin(cell, "break at close; grasp module with left_arm")
    cell.settle()
    last = cell.scripts[-1]
    assert last.state == "waits for your step"
    assert [short(step) for step in last.steps if step.state is StepState.WAITING] == ["close"]
    assert [p.text for p in cell.progress if p.step == "close" and p.shown] == ["waits for your step"]
    cell.say("status")
    assert "waits for your step at close" in cell.replies[-1].text
    cell.say(f"continue command {command}")
    assert not any(step.state is StepState.WAITING for step in cell.scripts[-1].steps)
    cell.settle()
    assert cell.reports[command].outcome == "succeeded"


@pytest.mark.parametrize(
    ("at", "first"),
    [
        ("close", "take.close"),
        ("'take.close'", "take.close"),
        ("grasp", "take.grasp_init"),
        ("take", "take.grasp_init"),
        ("pick", "take.grasp_init"),
        ("let_go, raise", "raise"),
    ],
)
def test_a_breakpoint_is_a_step_or_the_first_step_of_a_skill(cell, at, first):
    command = begin(cell, f"break at {at}; pick module and place on dock with left_arm")
    cell.settle()
    assert waits_at(cell, command) == first
    cell.say("continue")
    cell.settle()
    if "," in at:
        assert waits_at(cell, command) == "let_go"
        cell.say("continue")
        cell.settle()
    assert cell.reports[command].outcome == "succeeded"


def test_a_skill_in_the_middle_of_a_command_has_its_breakpoint_where_it_is_entered(cell):
    command = begin(cell, "break at insert_held; insert pin into hole with left_arm")
    cell.settle()
    waits = waits_at(cell, command)
    assert waits.startswith("put_in.")
    assert sent(cell)
    cell.say("continue")
    cell.settle()
    assert cell.reports[command].outcome == "succeeded"


def test_breakpoints_of_a_command_are_added_and_leave_the_tasks_of_the_same_text_alone(cell):
    command = begin(cell, "break at touch_1; grasp module with left_arm")
    other = begin(cell, f"break command {command} at close; hold right_arm for 1 s")
    cell.settle()
    assert (waits_at(cell, command), other in cell.reports) == ("touch_1", True)
    assert cell.unit.commands[command].breakpoints.names == {"touch_1", "close"}
    late = begin(cell, f"break command {command} at to_middle; pick box and place on dock with right_arm")
    assert cell.unit.commands[late].breakpoints.names == frozenset()
    for name in ("to_middle", "close"):
        cell.say(f"continue command {command}")
        cell.settle()
        assert waits_at(cell, command) == name
    cell.say(f"continue command {command}")
    cell.settle()
    assert cell.reports[command].outcome == "succeeded"


def test_step_from_a_breakpoint_goes_on_step_by_step_until_continue(cell):
    command = begin(cell, "break at touch_1; grasp module with left_arm")
    cell.settle()
    cell.say("step")
    cell.settle()
    assert waits_at(cell, command) == "touch_2"
    cell.say("continue")
    cell.settle()
    assert cell.reports[command].outcome == "succeeded"


def test_a_command_that_runs_waits_before_its_next_step(cell):
    command = cell.say("grasp module with left_arm")
    cell.settle(until=0.01)
    cell.say("step")
    cell.settle()
    assert waits_at(cell, command) == "to_approach"
    cell.say("break at to_middle; continue")
    cell.settle()
    assert waits_at(cell, command) == "to_middle"
    cell.say("clear breakpoints; continue")
    cell.settle()
    assert cell.reports[command].outcome == "succeeded"


def test_a_step_that_waits_is_bound_with_what_is_known_when_it_goes_on(cell):
    command = begin(cell, "confirm each step; move left_arm to dock")
    cell.settle()
    arm = cell.executor.joints["left_arm"]
    arm[0] += 0.1  # the database hears of it before the word
    from telerobot_nodes.rtc.world import Write

    cell.database.claim("test", {"left_arm"})
    cell.database.write("test", [Write("left_arm.joints", tuple(arm.tolist()))], cell.now)
    cell.database.release("test")
    cell.say("step")
    cell.settle(until=cell.now + 0.001)
    first = cell.executor.sent[-1].trajectory.points[0]
    assert first == pytest.approx(arm)
    cell.say("continue")
    cell.settle()
    assert cell.reports[command].outcome == "succeeded"


def test_the_steps_of_a_recovery_wait_too(make_cell):
    cell = make_cell(faults={"close": ["slip"]})
    command = begin(cell, "break at open_again; grasp module with left_arm")
    cell.settle()
    assert waits_at(cell, command) == "open_again"
    assert cell.scripts[-1].steps[len(GRASP) - 1].state is StepState.FAILED
    cell.say("continue")
    cell.settle()
    assert cell.reports[command].outcome == "succeeded"


def test_the_next_task_of_the_text_waits_as_the_first_did(cell):
    first = begin(cell, "confirm each step; move left_arm by 2 cm up; move left_arm by 2 cm down")
    cell.settle()
    cell.say("step")
    cell.settle()
    assert cell.reports[first].outcome == "succeeded"
    assert waits_at(cell, first + 1)
    cell.say("step")
    cell.settle()
    assert cell.reports[first + 1].outcome == "succeeded"


@pytest.mark.parametrize(
    ("word", "outcome"),
    [("halt", "halted"), ("halt left_arm", "halted"), ("cancel left_arm", "cancelled"), ("stop!", "halted")],
)
def test_halt_and_cancel_end_a_command_that_waits(cell, word, outcome):
    command = begin(cell, "confirm each step; move left_arm to dock")
    cell.settle()
    assert cell.unit.resources.holders("left_arm") == (command,)
    cell.say(word)
    assert cell.reports[command].outcome == outcome
    assert cell.unit.resources.holders("left_arm") == ()
    assert "no command is under way" in refused(cell, "step")
    assert sent(cell) == []


def test_a_pause_is_not_ended_by_a_step_and_a_breakpoint_not_by_a_resume(cell):
    command = begin(cell, "confirm each step; move left_arm to dock")
    cell.settle()
    cell.say("pause")
    cell.say("step")
    cell.settle()
    assert (waits_at(cell, command), sent(cell)) == ("", [])
    cell.say("resume")
    cell.settle()
    assert (waits_at(cell, command) != "", sent(cell)) == (True, [])
    cell.say("step")
    cell.settle()
    assert cell.reports[command].outcome == "succeeded"


def test_the_time_at_a_breakpoint_is_no_time_of_the_command(cell):
    command = begin(cell, "break at go; move left_arm to dock timeout 20 s")
    cell.settle()
    assert waits_at(cell, command) == "go"
    cell.settle(until=cell.now + 300.0)
    cell.now += 300.0
    cell.take(cell.unit.tick(cell.now))
    assert waits_at(cell, command) == "go"
    cell.say("continue")
    cell.settle()
    assert cell.reports[command].outcome == "succeeded"


def test_the_words_for_one_command_leave_another_alone(cell):
    left = begin(cell, "confirm each step; move left_arm to home")
    right = begin(cell, "confirm each step; move right_arm to home")
    cell.settle()
    cell.say("step right_arm")
    cell.settle()
    assert (right in cell.reports, waits_at(cell, left) != "") == (True, True)
    cell.say(f"continue command {left}")
    cell.settle()
    assert cell.reports[left].outcome == "succeeded"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("step", "no command is under way"),
        ("continue", "no command is under way"),
        ("clear breakpoints", "no command is under way"),
        ("confirm each step", "stands before the tasks"),
        ("confirm each step; try grasp module", "nothing moves in a try"),
        ("break at clsoe; grasp module", "did you mean close"),
        ("break at close", "no command is under way"),
        ("grasp module; confirm each step", "cannot follow a task"),
        ("step command 7", "command 7 is not under way"),
    ],
)
def test_a_word_that_can_do_nothing_is_refused(cell, text, says):
    assert says in refused(cell, text)
    assert cell.unit.commands == {}


def test_a_word_that_does_nothing_to_a_running_command_is_refused(cell):
    cell.say("hold left_arm for 50 s")
    cell.settle(until=1.0)
    assert "has no step 'close'" in refused(cell, "break at close")
    assert "no command waits for its steps" in refused(cell, "continue")
    assert "there are no breakpoints" in refused(cell, "clear breakpoints")


WORDS = ["step", "continue", "pause", "resume", "break at close", "clear breakpoints", "step command 1"]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(WORDS), st.floats(0.0, 3.0)), max_size=20))
@pytest.mark.lengthy
def test_any_order_of_words_ends_in_a_command_that_can_be_finished_and_does_each_step_once(
    library, config, harness, words
):
    cell = harness.Cell(library, config)
    command = begin(cell, "confirm each step; grasp module with left_arm")
    for word, later in words:
        cell.say(word)
        cell.settle(until=cell.now + later)
    for _ in range(3):  # at most a pause and a breakpoint are in the way
        cell.say("resume")
        cell.say("continue")
        cell.settle()
    assert (cell.reports[command].outcome, sent(cell)) == ("succeeded", GRASP)
