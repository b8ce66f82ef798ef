"""Whose the present stop is: halts as the link hears them, and reports of the robot."""

import pytest

from telerobot_nodes.link.roles import PresentStop

DESK, OTHER, LOCAL = ("desk/console/1", 1), ("pc/console/2", 1), ("cell/shell/3", 1)


@pytest.fixture
def stop():
    made = PresentStop()
    made.update(False, 0, [])
    return made


def test_a_stop_is_of_the_host_whose_halt_came(stop):
    stop.hear("desk", DESK[0])
    stop.update(True, 1, [DESK])
    assert stop.is_of("desk")
    assert not stop.is_of("office")


def test_a_stop_of_somebody_at_the_robots_host_is_of_no_operator(stop):
    stop.update(True, 1, [LOCAL])
    assert not stop.is_of("desk")


def test_a_stop_of_two_is_of_neither(stop):
    stop.hear("desk", DESK[0])
    stop.update(True, 1, [DESK])
    stop.hear("office", OTHER[0])
    stop.update(True, 2, [DESK, OTHER])
    assert not stop.is_of("desk")
    assert not stop.is_of("office")


def test_a_stop_that_is_over_is_forgotten(stop):
    stop.hear("desk", DESK[0])
    stop.update(True, 1, [LOCAL])
    stop.update(False, 1, [LOCAL])
    stop.update(True, 2, [LOCAL, DESK])
    assert stop.is_of("desk")


@pytest.mark.parametrize("agent", ["cell/program/9", "cell/link/9"])
def test_a_stop_of_the_robot_itself_is_everybodys(stop, agent):
    stop.update(True, 1, [(agent, 1)])
    assert stop.is_of("desk")


def test_a_stop_without_a_halt_is_everybodys(stop):
    stop.update(True, 7, [])
    assert stop.is_of("desk")


def test_nobody_gets_a_name_by_repeating_somebodys_halt(stop):
    stop.update(True, 1, [LOCAL])
    stop.hear("desk", LOCAL[0])
    stop.update(True, 1, [LOCAL])
    assert not stop.is_of("desk")
    stop.update(False, 1, [LOCAL])
    stop.update(True, 2, [(LOCAL[0], 2)])  # nor for the next halt in that name
    assert not stop.is_of("desk")


def test_nobody_makes_his_stop_the_robots_by_its_name(stop):
    stop.hear("office", "x/program/1")
    stop.update(True, 1, [("x/program/1", 1)])
    assert not stop.is_of("desk")


def test_an_e_stop_counts_as_its_senders(stop):
    stop.hear("desk", DESK[0])
    stop.update(True, 1, [("e-stop " + DESK[0], 1)])
    assert stop.is_of("desk")
    stop.update(True, 2, [("e-stop " + DESK[0], 1), ("e-stop " + LOCAL[0], 1)])
    assert not stop.is_of("desk")


def test_a_halt_without_a_name_is_never_an_operators(stop):
    stop.hear("desk", "")
    stop.update(True, 1, [("", 0)])
    assert not stop.is_of("desk")


def test_a_halt_without_a_number_is_found_again_by_the_count(stop):
    nameless = ("cell/tool/1", 0)
    stop.update(True, 1, [nameless])
    stop.update(False, 1, [nameless])
    stop.hear("desk", DESK[0])
    stop.update(True, 2, [nameless])  # the same receipt, one halt more
    assert not stop.is_of("desk")
    stop.update(False, 2, [nameless])
    stop.update(True, 4, [nameless, DESK])  # beside a new one
    assert not stop.is_of("desk")
    stop.update(False, 4, [nameless, DESK])
    stop.update(True, 5, [nameless, (DESK[0], 2)])  # explained by the new receipt
    assert stop.is_of("desk")


def test_a_halt_that_no_receipt_explains_is_somebody_elses(stop):
    stop.hear("desk", DESK[0])
    stop.update(True, 1, [DESK])
    stop.update(True, 2, [DESK])
    assert not stop.is_of("desk")


def test_receipts_pushed_out_by_a_flood_leave_a_doubt(stop):
    flood = [(f"desk/flood/{number}", 1) for number in range(8)]
    for agent, _ in flood:
        stop.hear("desk", agent)
    stop.update(True, 9, flood)
    assert not stop.is_of("desk")


def test_a_flood_of_names_takes_no_name_from_others(stop):
    stop.update(False, 1, [LOCAL])
    for number in range(5_000):
        stop.hear("desk", f"desk/flood/{number}")
    stop.hear("desk", LOCAL[0])
    stop.update(True, 2, [(LOCAL[0], 2)])
    assert not stop.is_of("desk")


def test_after_a_start_in_a_stop_its_makers_are_not_known():
    stop = PresentStop()
    stop.update(True, 5, [DESK])
    stop.hear("desk", DESK[0])
    assert not stop.is_of("desk")


def test_a_loop_that_was_started_again_keeps_the_makers(stop):
    stop.hear("desk", DESK[0])
    stop.update(True, 1, [LOCAL])
    stop.update(True, 1_000, [])  # begins halted, and knows no sender
    assert not stop.is_of("desk")
