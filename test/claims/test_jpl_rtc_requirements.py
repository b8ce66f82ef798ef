"""What the run-time control of the JPL telerobot must do: sections 2 and 3 of [JPL-RTC].

Each docstring names the section and the function.
"""

import numpy as np
import pytest

from telerobot_nodes.rtc.decision import (
    ParseText,
)
from telerobot_nodes.rtc.language.parser import parse_one


def test_s3_process_level_operations_are_mechanized(cell):
    """3: mechanize process level operations, such as grasps and parts mating."""
    assert cell.run("grasp module with left_arm").outcome == "succeeded"
    assert cell.run("insert pin into hole with right_arm").outcome == "succeeded"


def test_s3_1_a_task_is_commanded_without_knowing_how_it_is_done(cell, steps):
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


def test_s3_2_knowledge_is_scripts_as_data(config, library):
    """3.2: script based techniques permit the transfer of available knowledge with the least effort."""
    assert len(list((config / "skills").glob("*.yaml"))) == len(library.skills) >= 15


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


def test_s3_5_progress_is_fed_back_in_event_space(make_cell, steps):
    """3.5: the actual progress of a subtask is monitored to guide further actions."""
    cell = make_cell(faults={"touch_1": ["missed"]})
    assert cell.run("grasp module with left_arm").outcome == "succeeded"
    assert "look_again" in steps(cell)


@pytest.mark.parametrize(
    ("action", "next_step"),
    [("stop", None), ("retreat by 4 cm", "back"), ("comply", "yield"), ("ask operator", "ask")],
)
def test_s3_1_the_action_of_a_reflex_is_done(make_cell, steps, action, next_step):
    """Figure 2: UNLESS condition THEN action; what the report says was done was sent."""
    cell = make_cell(faults={"go": ["reflex_1"]})
    cell.on_task = lambda task: f'failed task {task.task} because "no"'
    report = cell.run(f"move left_arm to dock unless force > 20 then {action}")
    assert report.outcome == "failed"
    assert steps(cell)[1:] == ([next_step] if next_step else [])


@pytest.mark.parametrize(("given", "bodily"), [("", False), (" maintain avoid-neighbors", True)])
def test_s3_1_neighbors_are_kept_away_from(make_cell, given, bodily):
    """Figure 2: avoid-neighbors; a path 5 mm beside a neighbour is refused only where the command says so."""
    free = make_cell()
    free.run("move left_arm to dock")
    path = free.executor.sent[-1].trajectory.points
    beside = path[len(path) // 2][:3] + np.array([0.0, 0.0, 0.085])
    report = make_cell(balls={"post": (tuple(beside), 0.08)}).run(f"move left_arm to dock{given}")
    assert ("post" in report.reason) == bodily
