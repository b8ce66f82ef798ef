"""Event control: primitives, actions and skills, trimming; section 4 and figure 4 of [JPL-RTC].

Each docstring names the section and the function.
"""

from types import SimpleNamespace

import numpy as np
import pytest

from telerobot_nodes.core.protocol import StepState
from telerobot_nodes.rtc.decision import (
    ElaborateScript,
)
from telerobot_nodes.rtc.decision.command_states import State
from telerobot_nodes.rtc.skills import TIMEOUT, Then
from telerobot_nodes.rtc.skills.primitives import Space, check_stops


def test_s4_a_primitive_has_the_four_parts(cell):
    """4: primitive T = (P, M, F, R)."""
    cell.run("move left_arm to dock report every 0.5 s")
    primitive = cell.executor.sent[-1]
    assert len(primitive.trajectory.points) > 1  # P
    assert primitive.law == "position"  # M
    assert primitive.stops  # F
    assert primitive.report.every == 0.5  # R


def test_s4_stop_functions_are_complete_and_unambiguous(cell, library):
    """4: some condition must eventually be triggered, only one at a time: the outcomes are finite and foreseen."""
    for kind in library.kinds.values():
        check_stops(kind.name, kind.stops)
        assert kind.stops[-1].outcome == TIMEOUT
    cell.run("grasp module with left_arm until slip unless force > 9 then stop")
    for primitive in cell.executor.sent:
        assert len(set(primitive.outcomes)) == len(primitive.outcomes)


def test_s4_every_outcome_of_every_step_is_planned_for(library):
    """4: F is defined before the start of execution, allowing preplanning for all possible outcomes of T."""
    for skill in library.skills.values():
        for step in (step for script in skill.scripts.values() for step in script if step.kind):
            rows = library.tables[step.table].rows
            assert all(stop.outcome in rows for stop in library.kinds[step.kind].stops)


def test_s4_the_lower_level_is_a_trusted_soldier(cell):
    """4: the commanding level waits for the report and does not supervise."""
    number = cell.say("move left_arm to dock")
    cell.settle(until=1.0)
    assert cell.unit.commands[number].state is State.EXECUTING
    assert cell.unit.wake_at() > cell.now + 10.0  # nothing to look after before the report


def test_s4_case_1_and_2_actions_are_one_primitive(cell):
    """4: cases 1 and 2, actions: one primitive, of several that would do."""
    cell.run("move left_arm to dock")
    cell.run("move left_arm to module interpolate task")
    assert [primitive.kind for primitive in cell.executor.sent] == ["move_free", "move_straight"]


def test_s4_case_3_skills_are_sequences_bound_at_run_time(cell):
    """4: case 3: the sequence is given, the numbers of each primitive are determined at run time."""
    cell.run("grasp module with left_arm")
    middle = next(p for p in cell.executor.sent if p.step == "to_middle")
    touched = [next(p for p in cell.executor.sent if p.step == name) for name in ("touch_1", "touch_2")]
    mean = 0.5 * sum(np.array(p.parameters["tr_tn_dest"][:3]) for p in touched)
    np.testing.assert_allclose(middle.parameters["tr_tn_dest"][:3], mean, atol=0.01)


def test_s4_case_4_another_sequence_may_be_taken(cell, steps):
    """4: case 4: more than one sequence is available; the decision tree chooses by the object."""
    cell.run("grasp module with left_arm")
    cell.run("grasp pin with right_arm")
    assert "touch_1" in steps(cell)
    assert "down" in steps(cell)


def test_s4_candidates_are_ranked_and_the_choice_becomes_hard(make_cell):
    """4: the RTC ranks possibilities; after execution has started the rule becomes hard."""
    cell = make_cell(faults={"touch_1": ["missed"]})
    chosen = []
    run = cell.workers.run

    def watch(job, now):
        chosen.extend([job.work.chosen] if isinstance(job.work, ElaborateScript) and job.work.chosen else [])
        return run(job, now)

    cell.workers = SimpleNamespace(run=watch)
    cell.run("grasp module with left_arm")
    best = cell.library.workcell.command_objects["grasp", "module"]["grasp_points"]["top"]
    assert chosen[0][""].candidates["grasp_point"] == best
    assert all(
        primitive.parameters["tr_tn_dest"][4] > 0.99
        for primitive in cell.executor.sent
        if "left_arm" in primitive.subsystem
    )


def test_s4_trimming_loop_of_the_source(make_cell):
    """4: bind, set up the evaluation context, send, wait, evaluate; trim if any is available, else report up."""
    cell = make_cell(faults={"close": ["slip"]})
    report = cell.run("grasp module with left_arm")
    assert report.trims == ("close: grasp",)
    cell = make_cell(faults={"to_approach": ["joint_limit"]})
    assert cell.run("grasp module with left_arm").outcome == "failed"


def test_s4_actions_cannot_be_trimmed_beyond_their_own_repetition(library):
    """4: by virtue of the definition of trimming, actions cannot be trimmed: no other sequence is theirs."""
    assert all(trial.then is Then.RETRY and not trial.steps for trial in library.skills["move"].recoveries.values())


def test_s4_irreversible_actions_are_not_tried_again(make_cell, steps):
    """4: if it failed, and the action were reversible, then another candidate could be tried."""
    cell = make_cell(faults={"let_go": ["blocked"]})
    assert cell.run("pick module and place on dock with left_arm retry 3").outcome == "failed"
    assert steps(cell).count("let_go") == 1


def test_s4_reports_carry_what_the_source_lists(cell):
    """4: R: joint positions, force and torque readings, and the reason for end of execution."""
    number = cell.say("move left_arm to dock")
    cell.settle(until=0.01)
    report = next(iter(cell.executor.running.values())).report
    assert len(report.joints) == 6
    assert len(report.wrench) == 6
    assert report.outcome == "reached"
    cell.settle()
    assert cell.reports[number].outcome == "succeeded"


def test_s4_an_approach_is_a_set_distance_from_the_grasp(cell):
    """4: ad-hoc domain knowledge: the approach position is a set distance away from the grasping point."""
    cell.run("grasp module with left_arm")
    approach, inside = (
        np.array(p.parameters["tr_tn_dest"][:3]) for p in cell.executor.sent if p.step in ("to_approach", "move_in")
    )
    assert np.linalg.norm(approach - inside) == pytest.approx(0.10)


def test_s4_the_command_object_table_gives_parameters_per_action_and_object(library):
    """4: a command-object cross table provides for every action the parameters for each known object."""
    table = library.workcell.command_objects
    assert table["grasp", "module"]["grip_force"] != table["grasp", "default"]["grip_force"]


def test_s4_control_can_be_surrendered_to_the_operator(make_cell):
    """4: in a case of ultimate failure, control can always be surrendered to the operator."""
    cell = make_cell(faults={"close": ["slip", "slip"]})
    assert cell.run("grasp module with left_arm").outcome == "failed"
    cell.on_task = lambda task: f"done task {task.task}"
    assert cell.run("locate module").outcome == "succeeded"
    assert cell.run("grasp module with left_arm via operator-intervention").outcome == "succeeded"


def test_figure_4_the_grasp_script_and_its_trial_stack(cell, library):
    """Figure 4: init, plan, move free, move in, touch GP1 (1 2), touch GP2 (1 2), GP = 0.5*(GP1+GP2), move, close."""
    cell.run("grasp module with left_arm")
    kinds = [primitive.kind for primitive in cell.executor.sent]
    assert kinds == [
        "open_gripper",
        "move_free",
        "move_guarded",
        "move_to_contact",
        "move_to_contact",
        "move_straight",
        "close_gripper",
    ]
    by_name = {step.name: step for step in library.skills["grasp"].scripts["touch_both_sides"]}
    assert by_name["touch_1"].recoveries == by_name["touch_2"].recoveries == ("vision", "grasp")
    assert library.skills["grasp"].plan["touched"].text == "mean(touch_1.pose, touch_2.pose)"


def test_s4_the_reporting_function_reports_on_the_way(cell):
    """4: R determines the event reports to the RTC: at an interval, and when a condition comes true."""
    cell.run("wait for 2 s report every 0.5 s")
    shown = [entry.text for entry in cell.progress if entry.shown]
    assert shown == ["0.5 s of 2 s", "1.0 s of 2 s", "1.5 s of 2 s", "2.0 s of 2 s"]


def test_s4_the_control_law_of_a_primitive_is_its_own(cell):
    """4: M, position mode or compliant mode control."""
    cell.run("polish plate for 2 s with left_arm")
    laws = {primitive.step: primitive.law for primitive in cell.executor.sent}
    assert (laws["come"], laws["rub"]) == ("position", "compliant")


@pytest.mark.parametrize(("thing", "force"), [("module with left_arm", 30.0), ("crank with left_arm", 20.0)])
def test_s4_the_row_of_the_table_is_what_the_fingers_close_with(cell, thing, force):
    """4: the command-object cross table provides the parameters of the action for each known object."""
    cell.run(f"grasp {thing}")
    close = next(primitive for primitive in cell.executor.sent if primitive.kind == "close_gripper")
    assert close.parameters["force"] == force


def test_s4_case_1_a_given_joint_position_by_given_interpolation(cell):
    """4: case 1: moving an arm to a given joint position using given joint interpolation."""
    cell.run("move left_arm to joints (30 cm, -10 cm, 70 cm, 0 rad, 180 deg, 0 rad)")
    (sent,) = cell.executor.sent
    line = sent.trajectory.points - sent.trajectory.points[0]
    assert sent.trajectory.space is Space.JOINT
    assert np.linalg.matrix_rank(line, tol=1e-9) <= 1
    np.testing.assert_allclose(sent.trajectory.points[-1], (0.3, -0.1, 0.7, 0, np.pi, 0), atol=1e-9)


def test_s4_the_action_stack_is_empty_at_the_end_and_its_steps_were_bound_one_by_one(cell):
    """4: the loop: bind, send, wait for the report, evaluate, until the action stack is empty."""
    number = cell.say("grasp module with left_arm")
    cell.settle()
    states = [[step.state for step in script.steps] for script in cell.scripts if script.command == number]
    assert all(sum(state is StepState.ACTIVE for state in script) <= 1 for script in states)
    assert set(states[-1]) == {StepState.DONE}
