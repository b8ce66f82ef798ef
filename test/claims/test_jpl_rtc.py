"""A test per function the JPL telerobot's run-time control architecture states in its sections 3 to 5 [JPL-RTC].

Each test's docstring names the section and the function. The workcell is `test/support/rtc_harness.py`: everything is
real but the arms, whose primitives a kinematic executor completes.
"""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import rtc_harness

from telerobot_nodes.rtc.decision import (
    AnalysisUnit,
    BindPrimitive,
    CommandReport,
    ElaborateScript,
    HaltSubsystem,
    Job,
    ParseText,
)
from telerobot_nodes.rtc.decision.command_states import TABLE, State
from telerobot_nodes.rtc.elaboration import elaborate
from telerobot_nodes.rtc.language import parse
from telerobot_nodes.rtc.language.parser import parse_one
from telerobot_nodes.rtc.skills import TIMEOUT, Answer, ResourceManager, Then, load_library
from telerobot_nodes.rtc.skills.primitives import check_stops
from telerobot_nodes.rtc.skills.resources import Kind, Resource
from telerobot_nodes.rtc.world import Database, DatabaseError, Item, Validity, Write

ROOT = Path(__file__).parents[2]
CONFIG = ROOT / "config" / "rtc"


@pytest.fixture(scope="module")
def library():
    return load_library(CONFIG)


@pytest.fixture
def make_cell(library):
    return lambda **options: rtc_harness.Cell(library, CONFIG, **options)


@pytest.fixture
def cell(make_cell):
    return make_cell()


def steps(cell):
    return [primitive.step for primitive in cell.executor.sent]


# ---------------------------------------------------------------- section 2 and 3: requirements
def test_s3_process_level_operations_are_mechanized(cell):
    """3: mechanize process level operations, such as grasps and parts mating."""
    assert cell.run("grasp module with left_arm").outcome == "succeeded"
    assert cell.run("insert pin into hole with right_arm").outcome == "succeeded"


def test_s3_1_a_task_is_commanded_without_knowing_how_it_is_done(cell):
    """3.1: a task oriented language in which actions are specified implicitly."""
    cell.run("grasp module")
    assert len(steps(cell)) == 7


def test_s3_1_constraints_are_kept_during_the_task(cell):
    """3.1: a constraint specification scheme; figure 2: safe-work-range, avoid-task-region, neighbors, pose, speed."""
    cell.run("move left_arm to dock")
    free = cell.executor.sent[-1].trajectory.duration
    cell.run("move left_arm to home")
    cell.run("move left_arm to dock maintain speed 0.02")
    assert cell.executor.sent[-1].trajectory.duration > 2 * free
    report = cell.run("move left_arm to module maintain avoid-task-region bench")
    assert "in region bench" in report.reason


def test_s3_1_the_sample_command_of_figure_2_is_understood():
    """Figure 2: GRASP goal maintain reflex, with GUARDED and UNLESS condition THEN action."""
    task = parse_one(
        "GRASP module WITH left_arm MAINTAIN safe-work-range avoid-task-region bench avoid-neighbors pose-during-motion"
        " speed 0.05 GUARDED UNLESS force > 20 THEN stop UNLESS slip THEN hold"
    )
    assert [type(clause).__name__ for clause in task.clauses] == ["With", "Maintain", "Guarded", "Reflex", "Reflex"]


def test_s3_1_shared_control_is_a_constraint_too(cell):
    """3.1 and 2: operator and program jointly, here by degrees of freedom."""
    cell.run("polish plate for 2 s with left_arm shared operator x y program z rx ry rz")
    rub = next(primitive for primitive in cell.executor.sent if primitive.step == "rub")
    assert rub.parameters["sel_vect_tp"] == (True, True, False, False, False, False)


def test_s2_shared_control_may_be_passive_guarding(cell):
    """2: monitoring operator actions, ensuring that joystick actions do not lead to collision."""
    cell.run("teleoperate left_arm unless force > 10 N then stop")
    drive = cell.executor.sent[-1]
    assert drive.parameters["max_force_thres"] == 10.0
    assert {"force_limit", "joint_limit", "reflex_1"} <= set(drive.outcomes)


def test_s2_traded_control_hands_off_with_the_state_of_the_world(cell):
    """2: a hand-off protocol that ensures that information about the world state is communicated."""
    cell.run("trade left_arm to operator")
    assert cell.run("move left_arm to dock").outcome == "failed"
    cell.executor.joints["left_arm"] = cell.executor.joints["left_arm"] + np.array([0.0, 0.1, 0, 0, 0, 0])
    assert cell.run("return left_arm to program").outcome == "succeeded"
    assert cell.database.view.pose("left_arm")[1] == pytest.approx(-0.1)


def test_s3_2_knowledge_is_scripts_as_data(tmp_path, library):
    """3.2: script based techniques permit the transfer of available knowledge with the least effort."""
    assert len(list((CONFIG / "skills").glob("*.yaml"))) == len(library.skills) >= 15


def test_s3_3_parallel_tracks_do_not_conflict_over_resources(cell):
    """3.3: resource logic to ensure that conflicts do not occur when simultaneous tracks are in progress."""
    first, second = cell.say("grasp module with left_arm"), cell.say("grasp box with right_arm")
    third = cell.say("move left_arm to dock")
    cell.settle()
    assert [cell.reports[n].outcome for n in (first, second, third)] == ["succeeded", "succeeded", "refused"]


def test_s3_3_error_recovery_of_independent_resources_is_coordinated(make_cell):
    """3.3: detection and recovery for each of the independently controlled resources must be coordinated."""
    cell = make_cell(faults={"touch_1": ["estop"]})
    cell.say("grasp module with left_arm")
    other = cell.say("hold right_arm for 100 s")
    cell.settle()
    assert cell.reports[other].outcome == "halted"


def test_s3_4_workers_are_dispatched_by_messages(cell):
    """3.4: a message passing multiprocessing system with dynamic task allocation."""
    jobs = [output.job for output in cell.interface.submit("a", "grasp module", 0.0) if hasattr(output, "job")]
    assert [type(job.work) for job in jobs] == [ParseText]
    assert cell.workers.run(jobs[0], 0.0) == cell.workers.run(jobs[0], 0.0)  # memoryless


def test_s3_5_progress_is_fed_back_in_event_space(make_cell):
    """3.5: the actual progress of a subtask is monitored to guide further actions."""
    cell = make_cell(faults={"touch_1": ["missed"]})
    assert cell.run("grasp module with left_arm").outcome == "succeeded"
    assert "look_again" in steps(cell)


# ---------------------------------------------------------------- section 4: event control
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


def test_s4_case_4_another_sequence_may_be_taken(cell):
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
    assert chosen[0][""]["grasp_point"] == best
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


def test_s4_irreversible_actions_are_not_tried_again(make_cell):
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


# ---------------------------------------------------------------- section 5: implementation
def test_s5_behaviour_is_controlled_by_reconfigurable_data_sets(cell):
    """5: the inputs, outputs and details of each module are controlled by data sets, reconfigurable at run time."""
    cell.say("reload skills")
    cell.settle()
    assert cell.replies[-1].ok


def test_s5_commands_are_independent_under_time_shift(make_cell):
    """5: all commands must be independent of each other with respect to time shifts."""
    ends = []
    for shift in (0.0, 1.0, 5.0):
        cell = make_cell()
        cell.at(0.0, lambda cell=cell: cell.say("grasp module with left_arm"))
        cell.at(shift, lambda cell=cell: cell.say("grasp box with right_arm"))
        cell.settle()
        ends.append(sorted((report.text, report.outcome) for report in cell.reports.values()))
    assert ends[0] == ends[1] == ends[2]


def test_s5_one_command_may_use_several_resources(cell):
    """5: there is no rule which states that a single command can use only one resource."""
    number = cell.say("grasp module with left_arm")
    cell.settle(until=0.5)
    assert cell.unit.resources.held_by(number) == {"left_arm", "left_gripper", "module"}


def test_s5_sharable_non_sharable_and_queue_based_resources():
    """5: managing access to various sharable, non-sharable and queue-based resources."""
    manager = ResourceManager([Resource("arm"), Resource("camera", Kind.QUEUED), Resource("light", Kind.SHAREABLE, 2)])
    answers = [
        manager.request(n, [name]).answer for n, name in enumerate(("arm", "arm", "camera", "camera", "light", "light"))
    ]
    assert answers[1] is Answer.REFUSED
    assert answers[3] is Answer.WAITING
    assert answers[4] is answers[5] is Answer.GRANTED


def test_s5_an_error_terminates_its_command_or_all_when_it_is_global(make_cell):
    """5: a simple termination of the command, or of all currently executing commands if the error is a global one."""
    cell = make_cell(faults={"to_approach": ["joint_limit"]})
    failed, other = cell.say("grasp module with left_arm"), cell.say("hold right_arm for 3 s")
    cell.settle()
    assert (cell.reports[failed].outcome, cell.reports[other].outcome) == ("failed", "succeeded")


def test_s5_unconnected_operations_are_simply_done_in_series(cell):
    """5: if the two operations are unconnected, they can simply be done in series, as two separate commands."""
    cell.say("move left_arm to dock; move left_arm to home")
    cell.settle()
    assert [report.outcome for report in cell.reports.values()] == ["succeeded", "succeeded"]


def test_s5_the_command_parser_makes_a_working_form_of_readable_ascii():
    """5, Command Parser: ascii with fairly readable content; roughly 100 terminals, 50 clauses."""
    assert parse("grasp Object with Right_arm via Operator_intervention")


def test_s5_no_distinction_is_made_between_operator_and_planner(make_cell):
    """5: from the RTC viewpoint there is no distinction made between the human operator and the AI planner."""
    reports = []
    for sender in ("operator", "planner"):
        cell = make_cell()
        cell.run("grasp module with left_arm", sender)
        reports.append(steps(cell))
    assert reports[0] == reports[1]


def test_s5_the_elaborator_decides_on_a_script_and_its_off_nominal_ones(cell, library):
    """5, Script Elaborator: a specific sequence with specific possibilities for off-nominal events."""
    parsed = cell.workers.run(Job(1, 1, library, ParseText("grasp module with left_arm")), 0.0).result
    script = elaborate(parsed.request, library, cell.database.view, cell.checks)
    assert len(script.steps) == 7
    assert {name for _, name in script.recoveries} == {"away", "vision", "grasp"}


def test_s5_the_elaborator_backtracks_from_later_to_earlier_numbers(cell, library):
    """5: a precise grasp point may be needed to backtrack a trajectory to the current position of the arm."""
    parsed = cell.workers.run(Job(1, 1, library, ParseText("grasp module with left_arm")), 0.0).result
    script = elaborate(parsed.request, library, cell.database.view, cell.checks)
    bound = {planned.step.name: planned.bound.get("target") for planned in script.steps}
    assert bound["to_approach"] is not None  # from the grasp point, which a later step reaches
    assert bound["to_middle"] is None  # known only when both sides have been touched


def test_s5_parameters_already_bound_stay(cell, library):
    """5, Action Binder: a parameter may be already fixed when it arrives, which does not disrupt the operation."""
    parsed = cell.workers.run(Job(1, 1, library, ParseText("grasp module with left_arm")), 0.0).result
    script = elaborate(parsed.request, library, cell.database.view, cell.checks)
    job = Job(2, 1, library, BindPrimitive(parsed.request, script.steps[1], 9))
    primitive = cell.workers.run(job, 0.0).result
    np.testing.assert_allclose(primitive.parameters["tr_tn_dest"], script.steps[1].bound["target"], atol=1e-9)


@pytest.mark.parametrize("text", ["move left_arm to dock", "move left_arm to dock interpolate task"])
def test_s5_trajectories_are_linear_in_joint_or_task_space(cell, text):
    """5, Action Binder: joint/task space linearly interpolated trajectories in a piecewise fashion."""
    cell.run(text)
    points = cell.executor.sent[-1].trajectory.points[:, :3]
    line = points[-1] - points[0]
    off = np.cross(points - points[0], line / np.linalg.norm(line))
    assert np.linalg.norm(off, axis=1).max() < 1e-9
    assert len(points) > 2


def test_s5_the_binder_checks_kinematics_load_and_collision(make_cell):
    """5, Action Binder: kinematic and load-carrying constraints together with collision detection."""
    cell = make_cell(balls={"post": ((0.48, 0.035, 0.46), 0.08)})
    assert "out of reach" in cell.run("move left_arm to (3, 0, 0)").reason
    assert "carries" in cell.run("move left_arm to home payload 5 kg").reason
    assert "post" in cell.run("move left_arm to dock").reason


def test_s5_the_analysis_unit_recommends_and_the_decision_unit_may_ignore_it(cell):
    """5, Analysis Unit: the decision unit may ignore the recommendation if a halt has been sent meanwhile."""
    number = cell.say("move left_arm to dock")
    cell.settle(until=0.5)
    cell.say("halt")
    cell.settle()
    assert cell.reports[number].outcome == "halted"
    assert cell.database.view.item("left_arm.pose").validity is Validity.VALID  # its report was still analysed


def test_s5_only_the_analysis_unit_writes_the_database(cell):
    """5: this is the single side effect present in the execution of any module."""
    before = cell.database.view.revision
    parsed = cell.workers.run(Job(1, 1, cell.library, ParseText("grasp module")), 0.0).result
    script = elaborate(parsed.request, cell.library, cell.database.view, cell.checks)
    job = Job(2, 1, cell.library, BindPrimitive(parsed.request, script.steps[1], 9))
    cell.workers.run(job, 0.0)
    assert cell.database.view.revision == before
    AnalysisUnit(cell.library, cell.database, cell.checks).observe("left_arm", (0.0,) * 6, (0, 0, 0, 0, 0, 0, 1.0), 1.0)
    assert cell.database.view.revision > before


def test_s5_a_location_has_one_writer_and_validity_flags():
    """5, Database Server: written by only one AU at any given time; validity flags say whether others may read."""
    database = Database([Item("a.v", 1.0)])
    database.claim("one", ["a"])
    with pytest.raises(DatabaseError):
        database.claim("two", ["a"])
    database.write("one", [Write("a.v", validity=Validity.SUSPECT)], 0.0)
    with pytest.raises(DatabaseError):
        database.view.read("a.v")


def test_s5_the_decision_unit_is_a_small_finite_state_machine():
    """5, Decision Unit: simply a finite state machine with the four-phase command processing built into it."""
    assert len(State) < 15
    assert len(TABLE) < 60


def test_s5_a_halt_is_answered_with_subsystem_halts_at_once(cell):
    """5: it can process the halt and send out subsystem halt primitives very rapidly."""
    for text in ("hold left_arm for 99 s", "hold right_arm for 99 s", "wait for 99 s"):
        cell.say(text)
    cell.settle(until=0.5)
    outputs = cell.interface.submit("operator", "halt", cell.now)
    assert isinstance(outputs[0], HaltSubsystem)
    cell.take(outputs)
    cell.settle()
    assert all(report.outcome == "halted" for report in cell.reports.values())


def test_s5_a_report_of_the_halt_goes_back_to_the_commander(cell):
    """5: a report of the halt is sent back to the higher level system commanding the RTC."""
    cell.say("hold left_arm for 99 s", sender="planner")
    cell.settle(until=0.5)
    cell.say("halt", sender="operator")
    cell.settle()
    report = cell.reports[1]
    assert isinstance(report, CommandReport)
    assert (report.sender, report.reason) == ("planner", "halt by operator")


def test_s5_hypotheses_are_tested_on_an_identical_copy_without_commanding(cell):
    """5: the planner can simulate as much as possible of a command without commanding any subsystem activity."""
    before = cell.database.view.query()
    trial = cell.run("try pick module and place on dock with left_arm").trial
    assert trial.works
    assert cell.executor.sent == []
    assert cell.database.view.query() == before
    assert not cell.run("try move left_arm to (5, 0, 0)").trial.works


def test_s5_the_operator_is_a_subsystem_with_the_same_primitives(make_cell):
    """5: the performing subsystem is the operator; the primitives are shown, the results entered, kinematics used."""
    cell = make_cell()
    shown = []
    cell.on_task = lambda task: (shown.append(task.text), f"done task {task.task}")[1]
    assert cell.run("grasp Module with Right_arm via Operator_intervention").outcome == "succeeded"
    assert shown[0] == "move right_arm to neighborhood-of module"
    assert shown[1] == "move right_arm to grasp-point-of module"
    assert cell.database.view.read("right_arm.holds") == "module"


def test_s5_errors_are_not_propagated_into_the_world_model(make_cell):
    """5: sensor feedback as often as possible; error propagation into the world model must be eliminated."""
    cell = make_cell(faults={"close": ["gripped_wrong", "gripped_wrong"]})
    cell.run("grasp module with left_arm")
    assert cell.database.view.read("left_arm.holds") == "something"  # it is as thick as no module
    assert cell.database.view.item("module.pose").validity is Validity.SUSPECT
