"""An executor that dies and its successor: nothing executed twice, nothing guessed."""

import re
from dataclasses import replace

import numpy as np
import pytest

from telerobot_nodes.bench.study.delay_rig import DelayRig
from telerobot_nodes.core.protocol import ControlState, ExecutorMode, OperationKind
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.plan.executor import ExecutorMemory, PlanExecutor
from telerobot_nodes.plan.log import ControlReport, LogPosition, Operation

MEMORY = ExecutorMemory(LogPosition(3, "ann", 17), 40, 90, False, 1.0, 0.8, ((41, 0.82), (42, 0.84), (43, 0.86)))


ON_A_PATH = replace(MEMORY, joints=tuple((0.1 * i, 0.0, 0.0, 0.0, 0.0, 0.0) for i in range(4)))


def at_rest(plan_time, window=5, q=0.0):
    joints = np.array([q, 0.0, 0.0, 0.0, 0.0, 0.0])
    return ControlReport(ControlState.HOLDING, window, 0, plan_time, joints, np.zeros(6), window, plan_time)


def test_points_the_arm_reached_while_nobody_counted_are_told_by_the_loop():
    assert MEMORY.reached(at_rest(0.85)) == (42, 0.85)
    assert MEMORY.reached(at_rest(0.80)) == (40, 0.80)
    assert MEMORY.reached(at_rest(0.86)) == (43, 0.86)


@pytest.mark.parametrize(
    ("q", "reached"),
    [
        (0.0, (40, 0.80)),
        (0.05, (40, 0.81)),
        (0.085, (40, 0.817)),
        (0.0995, (41, 0.82)),
        (0.1, (41, 0.82)),
        (0.25, (42, 0.85)),
        (0.3, (43, 0.86)),
    ],
)
def test_when_the_loop_was_restarted_too_the_place_of_the_arm_tells(q, reached):
    assert ON_A_PATH.reached(at_rest(0.0, window=0, q=q)) == pytest.approx(reached)


@pytest.mark.parametrize("memory", [MEMORY, replace(ON_A_PATH, joints=((0.0,),) * 4)])
def test_without_the_places_of_the_points_all_that_were_committed_count_as_reached(memory):
    assert memory.reached(at_rest(0.0, window=0)) == (43, 0.86)


@pytest.mark.parametrize("q", [-0.1, 0.4])
def test_an_arm_that_is_nowhere_on_the_path_tells_nothing(q):
    assert ON_A_PATH.reached(at_rest(0.0, window=0, q=q)) == (43, 0.86)


def test_a_path_that_comes_back_counts_to_its_last_pass():
    there_and_back = replace(ON_A_PATH, joints=tuple((q, 0.0, 0.0, 0.0, 0.0, 0.0) for q in (0.0, 0.1, 0.1, 0.0)))
    assert there_and_back.reached(at_rest(0.0, window=0)) == (43, 0.86)


def test_a_slow_path_counts_to_the_nearest_point_and_not_to_all_that_are_near():
    slow = replace(ON_A_PATH, joints=tuple((0.004 * i, 0.0, 0.0, 0.0, 0.0, 0.0) for i in range(4)))
    assert slow.reached(at_rest(0.0, window=0, q=0.0041)) == pytest.approx((41, 0.8205))


@pytest.mark.parametrize("q", [(0.1, 0.013), (0.12, -0.013)])
def test_an_arm_beside_the_path_has_come_to_the_nearest_place_of_it(q):
    """Gravity and the stop leave an arm beside its path: that tells nothing about the points ahead."""
    report = at_rest(0.0, window=0, q=q[0])
    report.joint_position[1] = q[1]
    assert ON_A_PATH.reached(report)[0] == 41


def test_nothing_committed_is_nothing_reached():
    idle = replace(MEMORY, committed=(), joints=((0.0,) * 6,))
    assert idle.reached(at_rest(0.0, window=0, q=0.3)) == (40, 0.80)


def test_a_loop_of_another_plan_time_is_held_to_what_was_committed():
    assert MEMORY.reached(at_rest(99.0)) == (43, 0.86)
    assert MEMORY.reached(at_rest(-5.0)) == (40, 0.80)


def test_memory_survives_as_text():
    assert ExecutorMemory.from_text(MEMORY.text()) == MEMORY
    assert ExecutorMemory.from_text(ON_A_PATH.text()) == ON_A_PATH
    older = MEMORY.text().replace(', "joints": []', "")
    assert ExecutorMemory.from_text(older) == MEMORY


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


@pytest.mark.parametrize("stranger", [{"agent": "bob"}, {"epoch": 2}, {"number": 17}, {"kind": OperationKind.TARE}])
def test_a_successor_that_begins_with_the_estop_latched_takes_the_reset_before_its_turn_and_once(stranger):
    executor = PlanExecutor(load_robot("arm"), memory=ON_A_PATH)
    reset = Operation(3, 20, OperationKind.RESET, "ann")
    latched = ControlReport(ControlState.FAULT, 0, 0, 0.0, np.zeros(6), np.zeros(6), estop=True)
    executor.receive(1.0, [reset])
    assert executor.drain_requests() == []  # nobody knows of an e-stop yet
    executor.on_control(1.1, latched)
    executor.receive(1.1, [replace(reset, **stranger), reset, reset])
    executor.receive(1.2, [reset])
    assert executor.drain_requests() == [reset]
    executor.answer_request(reset)
    assert executor.report(1.2).reset_number == 20
    assert executor.report(1.2).applied_number == 17
    executor.on_control(1.3, at_rest(0.0, window=0, q=0.2))
    executor.receive(1.3, [Operation(3, 18, OperationKind.PAUSE, "ann"), Operation(3, 19, OperationKind.RATE, "ann")])
    executor.receive(1.3, [reset])
    report = executor.report(1.3)
    assert (report.applied_number, report.refused_number, report.executed_seq) == (20, 0, 42)
    assert executor.drain_requests() == []


def test_a_reset_that_may_not_be_sent_is_not_taken_before_its_turn_and_is_refused_in_it():
    executor = PlanExecutor(load_robot("arm"), memory=ON_A_PATH, may_end=lambda *_: "not of ann")
    reset = Operation(3, 18, OperationKind.RESET, "ann")
    latched = ControlReport(ControlState.FAULT, 0, 0, 0.0, np.zeros(6), np.zeros(6), estop=True)
    executor.on_control(1.1, latched)
    executor.receive(1.1, [reset])
    assert executor.drain_requests() == []
    executor.on_control(1.3, at_rest(0.0, window=0, q=0.2))
    executor.on_control(1.4, latched)
    executor.receive(1.4, [reset])
    assert executor.drain_requests() == []
    assert executor.report(1.4).reset_refusal == "not of ann"


@pytest.mark.parametrize(
    "line",
    [
        *("", "{", "[]", '{"position": [1]}', MEMORY.text()[:-9], MEMORY.text().replace("0.8]", "NaN]")),
        *(MEMORY.text().replace("[]", "7"), ON_A_PATH.text().replace("[0.1,", "[NaN,")),
        replace(ON_A_PATH, joints=((0.0,), (0.0, 0.1), (0.2,), (0.3,))).text(),
    ],
)
def test_a_damaged_line_is_refused(line):
    with pytest.raises(InvalidValueError, match="memory"):
        ExecutorMemory.from_text(line)


@pytest.mark.brief(1)
@pytest.mark.parametrize("moment", [1.0, 1.2, 1.4])
@pytest.mark.lengthy
def test_when_the_loop_dies_with_the_executor_only_points_count_that_the_arm_was_at(moment):
    """The arm stops where it is, short of the end of its window; the rest is sent again, with new numbers."""
    rig, places, track = DelayRig(0.0, 1), {}, []

    def step(hand):
        rig.step(hand)
        path = rig.executor.motion.path
        places.update(zip(path.seqs.tolist(), path.joints.copy(), strict=True))
        track.append(rig.joints.copy())

    def missed(seqs):
        return [seq for seq in seqs if np.abs(np.array(track) - places[seq]).max(axis=1).min() > 0.002]

    while rig.now < 3.0:
        step(np.zeros(3))
    begun = rig.now
    while rig.now < begun + moment:
        step(hand_at(rig.now - begun))
    memory = ExecutorMemory.from_text(rig.executor.memory().text())
    committed = [seq for seq, _ in memory.committed]
    assert missed(committed)
    rig.restart_loop()
    rig.executor = PlanExecutor(rig.robot, memory=memory)
    seen = len(rig.executed)
    while not rig.executor.motion.anchored:
        step(hand_at(moment))
    assert missed(rig.executed[seen:]) == []
    while rig.now < begun + moment + 4.0:
        step(hand_at(moment))
    assert rig.executed == sorted(set(rig.executed))
    assert missed(committed) == []


def hand_at(t):
    return np.array([0.05 * np.sin(0.9 * t), 0.08 * np.sin(0.7 * t), 0.0])


@pytest.mark.parametrize("moment", [1.03, 1.75, 2.51])
@pytest.mark.parametrize("round_trip", [0.0, 1.0])
@pytest.mark.lengthy
@pytest.mark.brief(2)
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
