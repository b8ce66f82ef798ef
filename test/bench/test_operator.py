"""The scripted operator: acts only on what is seen, waits for what is not, and is the same in every condition."""

import numpy as np
import pytest

from telerobot_nodes.bench.plan.operator import Act, Goal, Human, ScriptedOperator, Strategy, View

STEP = 0.02
GOALS = [Goal(np.array([0.1, 0.0, 0.0]), 0.01), Goal(np.array([0.1, 0.2, 0.0]), 0.02)]
STEADY = Human(slip=0.0)


def work(goals, delay, strategy=None, human=STEADY, seed=1, arm_delay=None, longest=300.0):
    """Run the operator on an ideal arm whose picture is `delay` [s] late; returns operator, seconds, acts."""
    operator = ScriptedOperator(goals, seed, strategy or Strategy(), human)
    hands, acts, now = [operator.hand], [], 0.0
    arm_delay = delay if arm_delay is None else arm_delay

    def past(by):
        return hands[max(len(hands) - 1 - round(by / STEP), 0)]

    while not operator.done and now < longest:
        act = operator.step(now, View(past(delay), delay, past(arm_delay), arm_delay))
        if act is not Act.NONE:
            acts.append(act)
        hands.append(operator.hand)
        now += STEP
    return operator, now, acts


def test_the_task_is_done_when_the_last_goal_is_seen_reached():
    operator, seconds, _ = work(GOALS, 0.0)
    assert operator.done
    assert seconds < 10.0
    assert np.linalg.norm(operator.hand - GOALS[-1].position) <= 0.01


def test_with_a_delayed_picture_every_movement_costs_the_delay():
    near, short, _ = work(GOALS, 0.0)
    far, long, _ = work(GOALS, 2.0)
    assert near.movements == far.movements
    assert long - short == pytest.approx(2.0 * (far.movements + 0.5), abs=2.5)


def test_with_a_simulation_in_sight_only_the_last_look_waits_for_the_arm():
    _, direct, _ = work(GOALS, 0.0)
    _, ahead, _ = work(GOALS, 0.0, arm_delay=4.0)
    assert ahead - direct == pytest.approx(4.0, abs=0.5)


def test_a_goal_to_be_checked_is_waited_for():
    checked = [Goal(GOALS[0].position, 0.01, check=True), GOALS[1]]
    _, free, _ = work(GOALS, 0.0, arm_delay=4.0)
    _, waits, _ = work(checked, 0.0, arm_delay=4.0)
    assert waits - free > 3.0


def test_the_same_seed_does_the_same():
    first, second = work(GOALS, 0.5, seed=3), work(GOALS, 0.5, seed=3)
    assert first[1] == second[1]
    np.testing.assert_array_equal(first[0].hand, second[0].hand)


def test_slips_come_at_the_same_goals_whatever_the_condition():
    human = Human(slip=0.5)
    goals = GOALS * 4
    slips = {
        work(goals, d, strategy, human, seed=5)[0].slips
        for d, strategy in ((0.0, None), (1.0, None), (0.0, Strategy(0.015)))
    }
    assert len(slips) == 1
    assert slips.pop() > 0


def test_narrow_goals_are_tried_with_the_position_clutch_disengaged_and_linked_when_aligned():
    _, _, acts = work(GOALS, 0.0, Strategy(position_clutch_below=0.015))
    assert acts == [Act.DISENGAGE, Act.CONNECT]


def test_a_wrong_movement_is_braked_away_where_there_is_a_brake():
    human = Human(slip=1.0)
    _, _, acts = work(GOALS[:1], 0.0, Strategy(brake=True), human)
    assert acts[:2] == [Act.BRAKE, Act.RELEASE]


def test_a_farther_goal_takes_longer():
    _, near, _ = work([Goal(np.array([0.02, 0.0, 0.0]), 0.02)], 0.0)
    _, far, _ = work([Goal(np.array([0.6, 0.0, 0.0]), 0.02)], 0.0)
    assert far > near


def test_the_hand_moves_smoothly():
    operator = ScriptedOperator(GOALS, 1, Strategy(), STEADY)
    hand, now = [], 0.0
    while not operator.done and now < 60.0:
        operator.step(now, View(operator.hand, 0.0, operator.hand, 0.0))
        hand.append(operator.hand)
        now += STEP
    speed = np.linalg.norm(np.diff(hand, axis=0), axis=1) / STEP
    assert 0.1 < speed.max() < 2.0
