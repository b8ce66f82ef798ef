"""An executor that dies and its successor: nothing executed twice, nothing guessed."""

import re
from dataclasses import replace

import numpy as np
import pytest

from telerobot_nodes.bench.plan.delay_rig import DelayRig
from telerobot_nodes.core.protocol import ControlState, ExecutorMode
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.plan.executor import ExecutorMemory, PlanExecutor
from telerobot_nodes.plan.log import ControlReport, LogPosition

MEMORY = ExecutorMemory(LogPosition(3, "ann", 17), 40, 90, False, 1.0, 0.8, ((41, 0.82), (42, 0.84), (43, 0.86)))


def at_rest(plan_time, window=5):
    return ControlReport(ControlState.HOLDING, window, 0, plan_time, np.zeros(6), np.zeros(6), window, plan_time)


def test_points_the_arm_reached_while_nobody_counted_are_told_by_the_loop():
    assert MEMORY.reached(at_rest(0.85)) == (42, 0.85)
    assert MEMORY.reached(at_rest(0.80)) == (40, 0.80)
    assert MEMORY.reached(at_rest(0.86)) == (43, 0.86)


def test_a_loop_restarted_too_means_that_committed_points_count_as_reached():
    assert MEMORY.reached(at_rest(0.0, window=0)) == (43, 0.86)


def test_a_loop_of_another_plan_time_is_held_to_what_was_committed():
    assert MEMORY.reached(at_rest(99.0)) == (43, 0.86)
    assert MEMORY.reached(at_rest(-5.0)) == (40, 0.80)


def test_memory_survives_as_text():
    assert ExecutorMemory.from_text(MEMORY.text()) == MEMORY


@pytest.mark.parametrize("number", [2**62, 2**63, 2**64 - 1, -1])
@pytest.mark.parametrize("field", ["epoch", "applied_number", "executed_seq", "highest_seq", "committed"])
def test_a_number_with_no_room_for_the_next_does_not_survive_in_a_journal(field, number):
    if field in ("epoch", "applied_number"):
        poisoned = replace(MEMORY, position=replace(MEMORY.position, **{field: number}))
    elif field == "committed":
        poisoned = replace(MEMORY, committed=((number, 0.82),))
    else:
        poisoned = replace(MEMORY, **{field: number})
    with pytest.raises(InvalidValueError, match=re.escape(f"{number} is not a number")):
        ExecutorMemory.from_text(poisoned.text())


def test_a_successor_of_a_halted_executor_waits_for_resume():
    executor = PlanExecutor(load_robot("arm"), memory=replace(MEMORY, held=True))
    executor.on_control(1.0, replace(at_rest(0.86), joint_position=executor.robot.home))
    assert executor.report(1.0).mode is ExecutorMode.PAUSED


@pytest.mark.parametrize(
    "line", ["", "{", "[]", '{"position": [1]}', MEMORY.text()[:-9], MEMORY.text().replace("0.8]", "NaN]")]
)
def test_a_damaged_line_is_refused(line):
    with pytest.raises(InvalidValueError, match="memory"):
        ExecutorMemory.from_text(line)


def hand_at(t):
    return np.array([0.05 * np.sin(0.9 * t), 0.08 * np.sin(0.7 * t), 0.0])


@pytest.mark.parametrize("moment", [1.03, 1.75, 2.51])
@pytest.mark.parametrize("round_trip", [0.0, 1.0])
@pytest.mark.lengthy
def test_a_successor_goes_on_where_the_arm_came_to_rest_and_executes_nothing_twice(moment, round_trip):
    rig = DelayRig(round_trip, 1)
    while rig.now < 3.0:
        rig.step(np.zeros(3))
    begun = rig.now
    while rig.now < begun + moment + round_trip:
        rig.step(hand_at(rig.now - begun))

    line, epoch = rig.executor.memory().text(), rig.executor.report(rig.now).epoch
    for _ in range(40):  # dead; the loop runs out its window
        rig.executor = None
        rig.step(hand_at(rig.now - begun))
    rig.executor = PlanExecutor(rig.robot, memory=ExecutorMemory.from_text(line))
    seen = len(rig.executed)
    while rig.now < begun + 4.0:
        rig.step(hand_at(rig.now - begun))
    rig.queue.set_time_clutch(rig.now, False)  # a hand at rest lays nothing any more
    while rig.now < begun + 8.0 + 3 * round_trip:
        rig.step(hand_at(4.0))
    assert rig.executed == sorted(set(rig.executed))
    assert len(rig.executed) > seen + 20
    report = rig.executor.report(rig.now)
    assert report.epoch == epoch
    assert report.queue_length == 0  # what the dead one had not executed was sent again
    assert report.executed_seq == rig.queue.state(rig.now).head_seq
