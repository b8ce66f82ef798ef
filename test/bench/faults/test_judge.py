"""The judges of the fault runner, on recordings that are right and on the same with a violation in them."""

import math

import numpy as np
import pytest

from telerobot_nodes.bench.faults import judge
from telerobot_nodes.bench.faults.judge import Loop, Measured, PlanChange, Setpoint, Trace
from telerobot_nodes.core.protocol import ControlState, HardwareState, UpdateKind
from telerobot_nodes.core.robot import JointLimits
from telerobot_nodes.plan.log import EPOCH_BLOCK

LIMITS = JointLimits(
    lower=np.full(2, -3.0),
    upper=np.full(2, 3.0),
    velocity=np.full(2, 2.0),
    acceleration=np.full(2, 10.0),
    effort=np.full(2, 50.0),
)
PERIOD = 0.004


def measured(*speeds, period=0.01):
    return [Measured(i * period, np.zeros(2), np.array([0.0, speed])) for i, speed in enumerate(speeds)]


def setpoints(count=10, speed=1.0):
    return [
        Setpoint(i * PERIOD, i + 1, np.array([0.0, i * PERIOD * speed]), np.array([0.0, speed]), np.zeros(2))
        for i in range(count)
    ]


@pytest.mark.parametrize(
    ("executed", "found"),
    [
        ([(1, 3), (4, 6)], (0, 0, 0)),
        ([(1, 3), (3, 6)], (0, 1, 0)),
        ([(1, 2), (4, 6)], (1, 0, 0)),
        ([(1, 2), (5, 6), (3, 4)], (0, 0, 2)),
        ([(1, 6), (1, 6)], (0, 6, 0)),
        ([(-3, 6), (7, 9)], (0, 0, 0)),  # of other rows
        ([], (6, 0, 0)),
    ],
)
def test_points_lost_doubled_and_out_of_order_are_counted(executed, found):
    assert tuple(judge.executed_once(executed, 1, 6)) == found


def change(kind, after=0, first=1, places=""):
    return PlanChange(kind, after, first, [(float(ord(letter)),) for letter in places])


def test_points_that_a_plan_gives_up_are_those_deleted_and_not_laid_again_with_new_numbers():
    laid = [change(UpdateKind.APPEND, places="abcd"), change(UpdateKind.APPEND, first=5, places="ef")]
    assert judge.renumbered(laid, []) == (set(), set())
    braked = [*laid, change(UpdateKind.TRUNCATE, after=4)]
    assert judge.renumbered(braked, []) == ({5, 6}, {5, 6})
    assert judge.renumbered(braked, [(1, 6)]) == (set(), set())
    again = [*braked, change(UpdateKind.APPEND, first=7, places="eg")]
    assert judge.renumbered(again, []) == ({5, 6}, {6})
    anew = [*laid, change(UpdateKind.RESET, first=7, places="cdef")]
    assert judge.renumbered(anew, [(1, 1)]) == ({2, 3, 4, 5, 6}, {2})
    assert tuple(judge.executed_once([(1, 4), (7, 8)], 1, 8, {5, 6})) == (0, 0, 0)
    assert tuple(judge.executed_once([(1, 4), (7, 8)], 1, 8, {5})) == (1, 0, 0)


def test_rest_counts_from_its_beginning_and_not_when_motion_follows():
    assert judge.rest_after(measured(1, 1, 0, 0, 0), 0.0) == pytest.approx(0.02)
    assert judge.rest_after(measured(1, 0, 0, 1, 0), 0.0) == pytest.approx(0.04)
    assert judge.rest_after(measured(1, 0, 0, 1), 0.0) == math.inf
    assert judge.rest_after([], 0.0) == math.inf
    assert judge.rest_after(measured(1, 1, 1, 0), 0.02) == math.inf  # the observer saw no more


def test_detection_is_the_first_report_after_the_fault_of_loop_or_hardware():
    trace = Trace(
        loop=[Loop(t, state, 0, 0, False) for t, state in ((0.0, ControlState.STOPPED), (1.2, ControlState.FAULT))],
        hardware=[(1.0, HardwareState.READY), (1.1, HardwareState.HOLDING)],
    )
    assert judge.detected_after(trace, 1.0) == pytest.approx(0.1)
    trace.hardware.clear()
    assert judge.detected_after(trace, 1.0) == pytest.approx(0.2)
    assert judge.detected_after(trace, 1.3) == math.inf


def test_a_fault_at_rest_is_not_one_in_motion():
    assert judge.was_moving(measured(1, 1, 0), 0.01)
    assert not judge.was_moving(measured(0, 0, 0), 0.02)
    assert not judge.was_moving(measured(1, *[0] * 30), 0.3)


@pytest.mark.parametrize(
    ("field", "value"),
    [("position", 3.1), ("velocity", -2.1), ("acceleration", 11.0), ("velocity", math.nan), ("position", math.inf)],
)
def test_a_setpoint_outside_one_limit_is_counted(field, value):
    rows = setpoints()
    assert judge.excess(rows, LIMITS) == 0
    rows[4] = rows[4]._replace(**{field: np.array([0.0, value])})
    assert judge.excess(rows, LIMITS) == 1


def test_a_jump_of_the_setpoint_is_counted_also_over_a_restart():
    rows = setpoints(speed=2.0)
    assert judge.jumps(rows, LIMITS, PERIOD) == 0
    lost = rows[:3] + rows[6:]  # numbers that were not received explain a longer step
    assert judge.jumps(lost, LIMITS, PERIOD) == 0
    jumped = [row._replace(position=row.position + 0.1 * (i > 5)) for i, row in enumerate(rows)]
    assert judge.jumps(jumped, LIMITS, PERIOD) == 1
    again = [*rows, rows[-1]._replace(number=1)]
    assert judge.jumps(again, LIMITS, PERIOD) == 0
    elsewhere = rows[0]._replace(time=rows[-1].time + 1.0, number=1, position=np.array([0.0, 1.0]))
    assert judge.jumps([*rows, elsewhere], LIMITS, PERIOD) == 1
    still = judge.Measured(elsewhere.time - 0.5, elsewhere.position, np.zeros(2))
    assert judge.jumps([*rows, elsewhere], LIMITS, PERIOD, [still]) == 0
    moved_later = still._replace(time=elsewhere.time + 0.5)
    assert judge.jumps([*rows, elsewhere], LIMITS, PERIOD, [moved_later]) == 1


def test_motion_after_a_moment_is_counted():
    assert judge.moved_after(setpoints(10, 1.0), 0.019) == 5
    assert judge.moved_after(setpoints(10, 0.0), 0.0) == 0


@pytest.mark.parametrize(
    ("reports", "count"),
    [
        ([(0.0, HardwareState.READY), (0.018, HardwareState.ESTOP), (0.04, HardwareState.ESTOP)], 1),
        ([(0.0, HardwareState.ESTOP), (0.018, HardwareState.HOLDING), (0.04, HardwareState.READY)], 9),
        ([(0.018, HardwareState.FAULT)], 5),  # silent since: who knows
        ([], 10),
    ],
)
def test_a_setpoint_that_the_hardware_refuses_moves_nothing(reports, count):
    """As recorded after the interface's death: 19 setpoints go to where the arm stands, which moved by 14 microrad."""
    assert judge.moved_after(setpoints(10), -1.0, reports) == count


def test_the_travel_of_an_arm_is_its_largest_distance_from_where_it_stood():
    rows = [Measured(float(i), np.array([q, 1.0]), np.zeros(2)) for i, q in enumerate((9.0, 0.2, 0.5, 0.1))]
    assert judge.travel(rows, 0.5) == pytest.approx(0.3)
    assert judge.travel(rows, 3.5) == math.inf


def test_lateness_is_of_one_life_of_the_loop():
    rows = [Loop(0.02 * i, 1, 10 * i, missed, False) for i, missed in enumerate((0, 0, 3, 4))]
    assert judge.lateness(rows) == (30, 4, 3)
    assert judge.lateness([*rows, Loop(1.0, 1, 2, 0, False), Loop(1.1, 1, 12, 1, False)]) == (40, 5, 3)
    assert judge.lateness(rows[:1]) == (0, 0, 0)


def test_the_longest_gap_counts_the_silence_before_and_after():
    assert judge.longest_gap([1.0, 1.1, 1.5], 0.9, 1.6) == pytest.approx(0.4)
    assert judge.longest_gap([], 0.0, 2.0) == 2.0


def test_points_admitted_in_a_while_are_counted():
    tails = [(0.0, 10), (1.0, 12), (2.0, 15), (3.0, 15)]
    assert judge.tail_growth(tails, 0.5, 2.5) == 3
    assert judge.tail_growth(tails, 2.0, 3.0) == 0
    assert judge.tail_growth(tails, 8.0, 9.0) == 0


def test_a_change_of_the_holder_or_of_its_epoch_is_counted():
    kept = [(0.0, "a", 1), (1.0, "a", 1)]
    assert judge.changes_of_holder(kept) == 0
    assert judge.changes_of_holder([*kept, (2.0, "b", 2), (3.0, "b", 3)]) == 2


def test_delays_are_of_what_arrived_and_nothing_has_no_percentile():
    assert judge.delays({1: 0.0, 2: 1.0}, {2: 1.5, 3: 9.0}) == [0.5]
    assert judge.p95([]) == math.inf


@pytest.mark.lengthy
def test_numbers_between_the_plans_of_two_lives_of_the_queue_are_no_points():
    after = EPOCH_BLOCK
    laid = ((0, 1, [(0.0,)] * 5), (5, after, [(1.0,)] * 2))
    changes = [judge.PlanChange(UpdateKind.APPEND, *one) for one in laid]
    executed = [(1, 4), (after, after + 1)]
    none = judge.between_plans(changes, executed, after + 1)
    assert (min(none), max(none), len(none)) == (6, after - 1, after - 6)
    assert judge.executed_once(executed, 1, after + 1, none).lost == 1
