"""Answers to status, show, where and help."""

import pytest


def answer(cell, text):
    cell.say(text)
    return cell.replies[-1].text


def test_status_names_state_step_and_pause(cell):
    cell.say("hold left_arm for 20 s as first")
    cell.settle(until=1.0)
    cell.say("pause command 1")
    text = answer(cell, "status first")
    assert text.startswith("command 1 (operator): executing, paused at ")
    assert text.endswith("hold left_arm for 20 s as first")
    assert answer(cell, "status command 9") == "none"


def test_status_begins_with_the_global_error(make_cell):
    cell = make_cell(faults={"go": ["estop"]})
    cell.run("move left_arm to dock")
    assert answer(cell, "status").startswith("global error: ")
    assert answer(cell, "reset").startswith("reset: ")
    assert answer(cell, "status") == "none"


def test_where_gives_pose_and_validity(cell):
    assert answer(cell, "where module") == "module: (0.7000, -0.1700, 0.2500, 0.0000, 0.0000, 0.0000, 1.0000), valid"
    assert "has no 'nothing.pose'" in answer(cell, "where nothing")


@pytest.mark.parametrize(
    ("subject", "part"),
    [
        ("objects", "module"),
        ("skills", "grasp (grasp): Grasp an object"),
        ("resources", "left_arm (exclusive): free"),
        ("database", "module.mass = 0.8 (valid)"),
        ("module", "module.width = 0.04 (valid)"),
        ("macros", "none"),
        ("tasks", "none"),
        ("commands", "none"),
    ],
)
def test_show_lists_what_is_known(cell, subject, part):
    assert part in answer(cell, f"show {subject}")


def test_show_names_holders_tasks_and_macros(cell):
    cell.say("hold left_arm for 20 s")
    cell.say("define go as { move left_arm to home }")
    cell.settle(until=1.0)
    assert "left_arm (exclusive): command 1" in answer(cell, "show resources")
    assert answer(cell, "show macros") == "define go as { move left_arm to home }"


@pytest.mark.parametrize(
    ("word", "part"),
    [("grasp", "Grasp an object"), ("insert_held", "."), ("grsp", "did you mean grasp"), ("", "help WORD")],
)
def test_help_explains_words_and_skills(cell, word, part):
    assert part in answer(cell, f"help {word}")
