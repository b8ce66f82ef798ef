"""Modes of control: what the device moves, and what a change asks of authority over the plan [US5231693]."""

import pytest

from telerobot_nodes.core.protocol import ControlMode
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.devices import Moves, Wish, moves, wish

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
    assert wish(mode, False) is (Wish.REQUEST if wants is Wish.REQUEST else Wish.NOTHING)
    assert wish(mode, True) is (Wish.RELEASE if wants is Wish.RELEASE else Wish.NOTHING)


def test_modes_have_names():
    assert [M.named(f" {mode.word.upper()} ") for mode in M] == list(M)
    with pytest.raises(InvalidValueError, match=r"mode.*autopilot.*shared, supervisory"):
        M.named("autopilot")
