"""The scripted operator: acts only on what is seen, waits for what is not, and is the same in every condition."""

import numpy as np
import pytest

from telerobot_nodes.study.design import Act, Goal, Human, ScriptedOperator, Strategy, View

STEP = 0.02
GOALS = [Goal(np.array([0.1, 0.0, 0.0]), 0.01), Goal(np.array([0.1, 0.2, 0.0]), 0.02)]
STEADY = Human(slip=0.0)


def work(goals, delay, strategy=None, human=STEADY, seed=1, arm_delay=None, longest=300.0, beside=(0.0, 0.0, 0.0)):
    """Run the operator on an ideal arm whose picture is `delay` [s] late, and `beside` (3,) [m] where it is drawn.

    Returns operator, seconds, acts.
    """
    operator = ScriptedOperator(goals, seed, strategy or Strategy(), human)
    hands, acts, now = [operator.hand], [], 0.0
    arm_delay = delay if arm_delay is None else arm_delay

    def past(by):
        return hands[max(len(hands) - 1 - round(by / STEP), 0)]

    while not operator.done and now < longest:
        act = operator.step(now, View(past(delay) + beside, delay, past(arm_delay), arm_delay))
        if act is not Act.NONE:
            acts.append(act)
        hands.append(operator.hand)
        now += STEP
    return operator, now, acts


def test_who_moves_on_takes_no_slip_back():
    human = Human(slip=1.0)
    _, _, acts = work(GOALS[:1], 0.0, Strategy(brake=True, moves_on=True), human)
    assert not acts


def test_who_hands_over_is_done_at_the_last_target_on_the_display():
    operator = ScriptedOperator(GOALS, 1, Strategy(), STEADY, hands_over=True)
    now = 0.0
    while not operator.done and now < 60.0:
        now += 0.02
        operator.step(now, View(operator.hand, 0.0, np.full(3, 9.0), 0.0))
    assert operator.done
    assert np.linalg.norm(operator.hand - GOALS[-1].position) <= 0.5 * GOALS[-1].width


def test_caution_stays_above_until_the_actual_arm_is_seen():
    operator, lowest = ScriptedOperator(GOALS[:1], 1, Strategy(caution=0.02), STEADY), np.inf
    for step in range(200):
        operator.step(0.02 * step, View(operator.hand, 0.0, np.full(3, 9.0), 9.0))
        lowest = min(lowest, np.linalg.norm(operator.hand - GOALS[0].position))
    assert lowest == pytest.approx(0.02, abs=0.01)


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


def test_the_brake_costs_reaction_and_button_and_is_held_until_the_tool_is_back():
    held = []
    operator = ScriptedOperator(GOALS[:1], 1, Strategy(brake=True), Human(slip=1.0))
    tool, now = np.zeros(3), 0.0
    while len(held) < 2 and now < 10.0:
        act = operator.step(now, View(tool, 0.0, tool, 0.0))
        if act is not Act.NONE:
            held.append((act, now))
        going_back = bool(held)
        tool = tool * (1.0 - 2.0 * STEP) if going_back else operator.hand
        now += STEP
    assert [act for act, _ in held] == [Act.BRAKE, Act.RELEASE]
    assert np.linalg.norm(tool) < 0.011  # where the movement had begun


def test_where_the_picture_is_drawn_beside_the_arm_the_operator_learns_it_once():
    checked = [Goal(np.array([x, 0.0, 0.0]), 0.008, check=True) for x in (0.1, 0.2, 0.3)]
    operator, _, _ = work(checked, 0.0, beside=(0.0, 0.006, 0.0))
    assert operator.done
    straight, _, _ = work(checked, 0.0)
    assert operator.movements - straight.movements in (1, 2)
    assert np.linalg.norm(operator.hand - checked[-1].position) <= 0.004


def test_a_target_that_moved_is_done_again_from_there():
    operator = ScriptedOperator(GOALS, 1, Strategy(), STEADY)
    moved = [Goal(goal.position + np.array([0.0, 0.0, 0.1]), goal.width) for goal in GOALS]
    now, told = 0.0, False
    while not operator.done and now < 60.0:
        if not told and operator.movements == 2:  # on the way to the second
            operator.see_moved(moved)
            told = True
        operator.step(now, View(operator.hand, 0.0, operator.hand, 0.0))
        now += STEP
    assert operator.done
    assert operator.movements >= 4
    assert np.linalg.norm(operator.hand - moved[-1].position) <= 0.01


def test_targets_that_are_still_to_come_are_not_done_twice_when_they_move():
    operator = ScriptedOperator(GOALS, 1, Strategy(), STEADY)
    operator.see_moved([GOALS[0], Goal(GOALS[1].position + np.array([0.0, 0.0, 0.1]), GOALS[1].width)])
    now = 0.0
    while not operator.done and now < 60.0:
        operator.step(now, View(operator.hand, 0.0, operator.hand, 0.0))
        now += STEP
    assert operator.movements <= 4
    assert operator.hand[2] == pytest.approx(0.1, abs=0.01)


@pytest.mark.parametrize("seed", range(1, 7))
def test_who_approaches_from_above_slips_as_often_as_who_does_not(seed):
    """The approach counted as a target of its own: it doubled the slips of the careful in (a), (b) and (c)."""
    wall = [Goal(np.array([0.1, 0.1 * k, -0.1]), 0.01, near_wall=True) for k in range(6)]
    strategies = (Strategy(), Strategy(approach=0.03), Strategy(0.012))
    slips = {work(wall, 0.0, strategy, Human(slip=0.4), seed)[0].slips for strategy in strategies}
    assert len(slips) == 1


def test_near_a_wall_the_careful_operator_comes_from_above():
    wall = [Goal(np.array([0.1, 0.0, -0.1]), 0.01, near_wall=True)]
    operator, now, beside = ScriptedOperator(wall, 1, Strategy(approach=0.03), STEADY), 0.0, []
    while not operator.done and now < 30.0:
        operator.step(now, View(operator.hand, 0.0, operator.hand, 0.0))
        if operator.hand[2] < -0.085:  # lower than the place above it
            beside.append(float(np.linalg.norm(operator.hand[:2] - wall[0].position[:2])))
        now += STEP
    assert operator.done
    assert max(beside) < 0.02


def test_while_the_arm_may_still_be_under_way_nothing_is_corrected():
    operator = ScriptedOperator(GOALS[:1], 1, Strategy(), STEADY)
    now, behind = 0.0, float("inf")
    for _ in range(1000):
        operator.step(now, View(operator.hand, 0.0, np.zeros(3), behind))
        now += STEP
    waited = operator.movements
    for _ in range(500):
        operator.step(now, View(operator.hand, 0.0, np.zeros(3), 0.0))
        now += STEP
    assert operator.movements > waited


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
