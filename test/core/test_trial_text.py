"""A text that is tried: whatever it is, nothing of it is done."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from telerobot_nodes.core.protocol import trial_of
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.rtc.language import CommandError, Trial, parse, print_statement

TASKS = ("move left_arm to dock", "grasp module", "wait for 1 s", "lift module by 5 cm")


@pytest.mark.parametrize("text", ["grasp module", "try grasp module", "TRY  { grasp module }", " try {grasp module}"])
def test_a_task_is_tried_once_with_or_without_the_word(text):
    (trial,) = parse(trial_of(text))
    assert isinstance(trial, Trial)
    assert [print_statement(task) for task in trial.tasks] == ["grasp module"]


@given(st.lists(st.sampled_from(TASKS), min_size=1, max_size=4), st.sampled_from(["", "try ", "try { ", "Try\n"]))
def test_every_task_of_a_text_is_inside_the_trial(tasks, prefix):
    text = prefix + ";\n".join(tasks) + ("\n}" if "{" in prefix else "")
    (trial,) = parse(trial_of(text))
    assert isinstance(trial, Trial)
    assert len(trial.tasks) == len(tasks)


def test_a_remark_at_the_end_does_not_hide_the_end_of_the_trial():
    (trial,) = parse(trial_of("grasp module # carefully"))
    assert isinstance(trial, Trial)


@given(st.text(alphabet="try {};\n#ab", max_size=20))
def test_no_text_leaves_the_trial(text):
    """Anything is refused here or by the parser, or is one `try`."""
    try:
        statements = parse(trial_of(text))
    except (InvalidValueError, CommandError):
        return
    assert all(isinstance(statement, Trial) for statement in statements)


def test_a_brace_that_would_end_the_trial_early_is_refused():
    with pytest.raises(InvalidValueError, match=r"text to try: .*without a closing brace") as caught:
        trial_of("grasp module }; move left_arm to dock; try { wait for 1 s")
    assert "grasp module }" in str(caught.value)


def test_a_long_text_is_named_by_its_beginning():
    with pytest.raises(InvalidValueError) as caught:
        trial_of("}" * 500)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("text", ["halt", "STOP!", "halt left_arm", " e-stop; grasp module", "halt }"])
def test_a_text_that_halts_is_not_tried(text):
    assert trial_of(text) == text
