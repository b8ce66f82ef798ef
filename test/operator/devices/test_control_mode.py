"""Modes of control: what the device moves, and what a change asks of authority over the plan [US5231693]."""

import pytest

from telerobot_nodes.core.protocol import ControlMode
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.devices import Moves, Wish, Wishes, moves

M = ControlMode


@pytest.mark.parametrize(
    ("mode", "with_plan", "without"),
    [
        (M.TELEOPERATION, Moves.PLAN, Moves.PLAN),
        (M.SHARED, Moves.PRIMITIVE, Moves.PRIMITIVE),
        (M.SUPERVISORY, Moves.NOTHING, Moves.NOTHING),
        (M.AUTONOMOUS, Moves.NOTHING, Moves.NOTHING),
        (M.TRADED, Moves.PLAN, Moves.NOTHING),
    ],
)
def test_the_mode_says_what_the_device_moves(mode, with_plan, without):
    assert moves(mode, True) is with_plan
    assert moves(mode, False) is without


@pytest.mark.parametrize("mode", M)
def test_a_mode_asks_for_the_plan_or_gives_it_up_only_where_that_changes_something(mode):
    wants = {M.TELEOPERATION: Wish.REQUEST, M.TRADED: Wish.REQUEST, M.AUTONOMOUS: Wish.RELEASE}.get(mode, Wish.NOTHING)
    assert Wishes().wish(mode, False) is (Wish.REQUEST if wants is Wish.REQUEST else Wish.NOTHING)
    assert Wishes().wish(mode, True) is (Wish.RELEASE if wants is Wish.RELEASE else Wish.NOTHING)


def test_modes_have_names():
    assert [M.named(f" {mode.word.upper()} ") for mode in M] == list(M)
    with pytest.raises(InvalidValueError, match=r"mode.*autopilot.*shared, supervisory"):
        M.named("autopilot")


def test_a_mode_selected_before_the_release_of_the_last_one_has_arrived_requests_the_plan_again():
    wishes = Wishes()
    assert wishes.wish(ControlMode.AUTONOMOUS, True) is Wish.RELEASE
    wishes.see(True)  # the robot is a second away
    assert wishes.wish(ControlMode.TELEOPERATION, True) is Wish.REQUEST


def test_a_request_under_way_is_withdrawn_by_autonomous_and_repeated_where_it_was_refused():
    wishes = Wishes()
    assert wishes.wish(ControlMode.TELEOPERATION, False) is Wish.REQUEST
    assert wishes.wish(ControlMode.TRADED, False) is Wish.REQUEST
    assert wishes.wish(ControlMode.AUTONOMOUS, False) is Wish.RELEASE


def test_what_was_fulfilled_counts_no_more():
    wishes = Wishes()
    wishes.wish(ControlMode.AUTONOMOUS, True)
    wishes.see(False)
    wishes.see(True)  # by the console's own request
    assert wishes.wish(ControlMode.TELEOPERATION, True) is Wish.NOTHING
