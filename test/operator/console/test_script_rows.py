"""The live script in the console's panel: short rows, what failed and why, what waits."""

from types import SimpleNamespace

from telerobot_nodes.core.protocol import StepState
from telerobot_nodes.operator.console import script_rows, waits

WIDTH = 38  # letters of a row in the panel


def step(name, state, note="", recovery=""):
    return SimpleNamespace(
        name=name, kind="move_to_contact", subsystem="left_arm", state=state, began=1.0, ended=3.5, note=note,
        recovery=recovery,
    )  # fmt: skip


def script(*steps, paused=False):
    return SimpleNamespace(command=1, text="grasp module", state="executing", paused=paused, steps=steps)


def test_the_latest_steps_the_active_one_and_the_next_are_shown():
    steps = [step(f"s{i}", StepState.DONE) for i in range(10)]
    steps += [step("now", StepState.ACTIVE), *(step(f"later{i}", StepState.TO_COME) for i in range(9))]
    rows = script_rows(script(*steps))
    assert rows[0] == ("", "command 1, executing: grasp module")
    assert rows[1] == ("good", "+ s5  2.5 s")
    assert rows[6] == ("asked", "> now: move_to_contact")
    assert rows[7:] == [("", "  later0"), ("", "  later1"), ("", "  later2")]


def test_a_step_fits_the_panel():
    states = [StepState.ACTIVE, StepState.DONE, StepState.FAILED, StepState.TO_COME, StepState.WAITING]
    rows = script_rows(script(*(step("take.touch", state) for state in states)))
    assert max(len(text) for _, text in rows[1:]) <= WIDTH


def test_a_failure_says_why_and_what_was_done_for_a_recovery_names_it():
    rows = script_rows(
        script(
            step("touch_1", StepState.FAILED, "nothing was touched"), step("look", StepState.DONE, recovery="vision")
        )
    )
    assert rows[1:] == [
        ("bad", "x touch_1  2.5 s"),
        ("bad", "  nothing was touched"),
        ("good", "+ look (vision)  2.5 s"),
    ]


def test_only_a_step_that_waits_asks_for_a_person():
    assert waits(script(step("s", StepState.DONE), step("close", StepState.WAITING)))
    assert not waits(script(step("close", StepState.ACTIVE), step("up", StepState.TO_COME)))
