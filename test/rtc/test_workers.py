"""Workers: a job is answered once, expected trouble is an error of the answer."""

import pytest

from telerobot_nodes.rtc.decision import Job, JobDone, ObserveArm, Parsed, ParseText, ReloadSkills
from telerobot_nodes.rtc.language import Task, Trial, parse
from telerobot_nodes.rtc.server import Workers


def parsed(cell, text, **more):
    return cell.workers.run(Job(3, 1, cell.library, ParseText(text, **more)), 0.0)


def test_the_answer_carries_the_number_of_its_job(cell):
    assert parsed(cell, "grasp module").job == 3
    assert parsed(cell, "grasp nothing_known") == JobDone(3, error=parsed(cell, "grasp nothing_known").error)


def test_a_task_and_a_trial_become_requests(cell):
    task, trial = parsed(cell, "grasp module").result, parsed(cell, "try grasp module").result
    assert isinstance(task.statements[0], Task)
    assert isinstance(trial.statements[0], Trial)
    assert task.request.skill == trial.request.skill == "grasp"
    assert parsed(cell, "status").result == Parsed(parse("status"))


def test_every_statement_is_checked_before_the_first_begins(cell):
    result = parsed(cell, "grasp module; grasp Module").result
    assert [s.target.text for s in result.statements] == ["module", "module"]
    assert "nothing_known" in parsed(cell, "grasp module; grasp nothing_known").error
    text = "define go(a) as { grasp a }; run go(module); run go(nothing_known)"
    assert "nothing_known" in parsed(cell, text).error


def test_what_was_checked_once_is_checked_again_only_when_its_turn_comes(cell):
    given = parse("grasp module; grasp nothing_known")
    assert len(parsed(cell, "", statements=given, checked=True).result.statements) == 2


def test_statements_given_are_not_parsed_again(cell):
    result = parsed(cell, "this text is no command", statements=parse("grasp Module")).result
    assert result.statements[0].target.text == "module"  # checked, in its known spelling


def test_macros_are_expanded(cell):
    macros = {"go": parse("define go(a) as { grasp a; move left_arm to home }")[0]}
    result = parsed(cell, "run go(module); status", macros=macros).result
    assert [getattr(s, "verb", "") for s in result.statements] == ["grasp", "move", "status"]
    assert "no macro 'gone'" in parsed(cell, "run gone", macros=macros).error


def test_an_error_shows_the_line_of_the_text(cell):
    assert "grasp modul\n" in parsed(cell, "grasp modul").error


def test_skills_are_read_again_only_where_their_folder_is_known(cell, config):
    assert len(cell.workers.run(Job(1, 0, cell.library, ReloadSkills()), 0.0).result.skills) == 34
    nowhere = Workers(cell.database, cell.checks)
    assert "no folder" in nowhere.run(Job(1, 0, cell.library, ReloadSkills()), 0.0).error


@pytest.mark.parametrize("x", [0.1, 0.2])
def test_an_observed_arm_is_entered_in_the_database(cell, x):
    pose = (x, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0)
    cell.workers.run(Job(1, 0, cell.library, ObserveArm("left_arm", (x,) * 6, pose)), 4.0)
    assert cell.database.view.item("left_arm.joints").value == (x,) * 6
    assert cell.database.view.item("left_arm.pose").stamp == 4.0
