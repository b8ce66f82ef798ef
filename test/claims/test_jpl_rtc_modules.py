"""The modules of the run-time control: section 5 of [JPL-RTC].

Each docstring names the section and the function.
"""

import numpy as np
import pytest

from telerobot_nodes.rtc.decision import (
    AnalysisUnit,
    BindPrimitive,
    CommandReport,
    HaltSubsystem,
    Job,
    ParseText,
)
from telerobot_nodes.rtc.decision.command_states import TABLE, State
from telerobot_nodes.rtc.elaboration import elaborate
from telerobot_nodes.rtc.language import parse
from telerobot_nodes.rtc.skills import Answer, ResourceManager
from telerobot_nodes.rtc.skills.resources import Kind, Resource
from telerobot_nodes.rtc.world import Database, DatabaseError, Item, Validity, Write


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


def test_s5_no_distinction_is_made_between_operator_and_planner(make_cell, steps):
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


def test_s5_the_geometric_database_is_open_to_every_subsystem(cell):
    """5: the RTC's geometric database is accessible to any subsystem; asking disturbs no command."""
    number = cell.say("grasp module with left_arm", sender="planner")
    cell.settle(until=1.0)
    for sender in ("camera", "planner", "ana"):
        cell.say("where module", sender=sender)
        assert cell.replies[-1].text.startswith("module: (0.7000, -0.1700, 0.2500")
    cell.settle()
    assert cell.reports[number].outcome == "succeeded"


def test_s5_hypotheses_may_be_whole_sequences(cell):
    """5: the planner can simulate as much as possible; a later task finds the world that the earlier would leave."""
    assert cell.run("try { grasp module with left_arm; lift module by 5 cm }").trial.works
    assert not cell.run("try { lift module by 5 cm }").trial.works
    assert cell.executor.sent == []


def test_s5_a_task_done_by_a_person_is_entered_where_the_person_says(make_cell):
    """5: the response of the operator confirms; kinematics and geometry update the database."""
    cell = make_cell()
    cell.on_task = lambda task: f"done task {task.task}"
    assert cell.run("grasp module with right_arm via operator-intervention").outcome == "succeeded"
    item = cell.database.view.item("module.pose")
    assert (item.frame, item.validity) == ("right_arm", Validity.VALID)


def test_s5_two_commands_never_write_one_location(cell):
    """5: a location is written by one at a time: a second command for the object waits or is refused."""
    first = cell.say("grasp module with left_arm")
    cell.settle(until=0.5)
    second = cell.run("grasp module with right_arm no-wait")
    assert second.outcome == "refused"
    cell.settle()
    assert cell.reports[first].outcome == "succeeded"
    assert cell.database.view.read("left_arm.holds") == "module"
