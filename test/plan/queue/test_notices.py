"""Notices and counts for the operator."""

import pytest

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.plan.queue.notices import Notices


def test_a_refused_command_is_counted_shown_and_raised():
    notices = Notices()
    with pytest.raises(InvalidValueError, match="rate"), notices.counting_refusals():
        raise InvalidValueError("rate", 9.0, "allowed: 1")
    assert notices.refused == 1
    assert "rate" in notices.latest


def test_an_accepted_command_and_a_programming_error_are_not_counted():
    notices = Notices()
    with notices.counting_refusals():
        pass
    with pytest.raises(ZeroDivisionError), notices.counting_refusals():
        _ = 1 / 0
    assert (notices.refused, notices.latest) == (0, "")


def test_a_jump_is_counted_and_shown():
    notices = Notices()
    notices.add_jump("40.0 cm")
    assert notices.jumps == 1
    assert notices.latest == "device jumped 40.0 cm: absorbed"
