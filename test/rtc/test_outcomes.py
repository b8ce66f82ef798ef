"""Outcomes: tables of the executive's reasons, and what comes before them."""

from types import SimpleNamespace

import pytest

from telerobot_nodes.core.protocol import PrimitiveOutcome, StopCause
from telerobot_nodes.rtc.execution import ended_outcome, needs_note, outcome_of


def primitive(executive="joint_guarded", outcomes=("reached", "timeout")):
    return SimpleNamespace(executive=executive, outcomes=outcomes, parameters={})


@pytest.mark.parametrize(
    ("executive", "reason", "outcome"),
    [
        ("joint_guarded", "completed", "reached"),
        ("joint_guarded", "max_force", "collision"),
        ("compliant_motion", "max_force", "force_limit"),
        ("compliant_motion", "trans_threshold", "deviation"),
        ("teleoperation", "external_stop", "done"),
        ("joint_guarded", "External Stop", "halted"),
        ("joint_guarded", "e-stop pressed", "estop"),
        ("joint_guarded", "something new", "something_new"),
    ],
)
def test_a_reason_means_an_outcome_by_primitive_then_for_all(executive, reason, outcome):
    assert outcome_of(primitive(executive), None, reason) == outcome


@pytest.mark.parametrize("cause", StopCause)
def test_only_a_silent_sensor_servo_or_loop_makes_a_stop_a_sensor_loss(cause):
    silent = cause in (StopCause.STALE_JOINTS, StopCause.HARDWARE, StopCause.LOOP_STALL)
    assert outcome_of(primitive(), None, "external_stop", cause) == ("sensor_loss" if silent else "halted")


S, R, X = PrimitiveOutcome.SUCCEEDED, PrimitiveOutcome.REFUSED, PrimitiveOutcome.STOPPED


@pytest.mark.parametrize(
    ("ended", "stopped_as", "estop", "slips", "outcome"),
    [
        (S, "", False, False, "reached"),
        (S, "until", False, False, "reached"),  # it was faster than the stop
        (X, "until", True, True, "until"),
        (R, "", True, True, "refused"),
        (X, "", True, True, "estop"),
        (S, "", False, True, "slip"),
        (X, "", False, True, "reached"),
    ],
)
def test_a_stop_that_was_asked_for_comes_first_then_refusal_estop_and_slip(ended, stopped_as, estop, slips, outcome):
    assert ended_outcome("reached", ended, stopped_as, estop, slips) == outcome


def test_no_outcome_is_a_refusal():
    assert ended_outcome("", X, "", False, False) == "refused"


@pytest.mark.parametrize(
    ("outcome", "noted"), [("reached", False), *((word, True) for word in ("estop", "halted", "unheard_of"))]
)
def test_an_outcome_outside_the_tables_carries_the_executives_words(outcome, noted):
    assert needs_note(primitive(), outcome) is noted
