"""The delay study end to end, on its shortest: the real queue, link and executor under the scripted operator."""

import json

import numpy as np
import pytest

from telerobot_nodes.bench.study import delay_study, performance
from telerobot_nodes.bench.study.delay_rig import DelayRig
from telerobot_nodes.bench.study.performance import Performance, perform, strategies
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.study.design import PLATE, STUDIED, TASKS, StudySettings


@pytest.fixture(scope="module")
def seconds():
    return {(c, d): perform("trace", c, "plain", d, 1).seconds for c in "ad" for d in (0.0, 2.0)}


@pytest.mark.lengthy
def test_every_condition_finishes_the_task(seconds):
    assert max(seconds.values()) < performance.LONGEST


def test_direct_teleoperation_grows_with_the_delay_several_times_as_much_as_planning_ahead(seconds):
    direct = seconds["a", 2.0] - seconds["a", 0.0]
    ahead = seconds["d", 2.0] - seconds["d", 0.0]
    assert direct > 4.0 * ahead


def test_planning_ahead_costs_little_more_than_one_round_trip(seconds):
    assert seconds["d", 2.0] - seconds["d", 0.0] < 1.2 * 2.0


@pytest.mark.lengthy
def test_the_operator_is_told_how_late_his_display_is_as_it_was_measured():
    assert performance.display_delay("trace", "a", 2.0) == pytest.approx(2.0, abs=0.1)
    assert performance.display_delay("trace", "b", 2.0) > 0.1  # the shaper of the hand
    assert performance.display_delay("trace", "c", 2.0) <= 0.05  # the tool is shown at the hand


@pytest.mark.nightly
def test_a_slow_arm_is_waited_for_in_synchrony_only():
    at_hand, free = (perform("slow-arm", c, "plain", 0.0, 1).seconds for c in "bc")
    assert free < at_hand


def test_the_actual_arm_touches_the_plate_where_it_goes_below_it():
    goals = TASKS["plate"].goals(1, np.zeros(3))
    assert all(goal.position[2] > PLATE and goal.near_wall for goal in goals)
    run = performance._Run(TASKS["plate"], "a", 0.0, 1, "plain")
    way = goals[0].position + np.array([0.0, 0.0, -0.02])
    for _ in range(3):  # down, and away
        for share in (1.0, 0.0):
            for _ in range(100):
                run.rig.step(share * way)
                run._watch()
    assert run._touches == 3


def test_targets_move_when_the_arm_has_passed_and_are_seen_a_way_later():
    task = TASKS["moving-target"]
    before = task.goals(1, np.zeros(3))
    after = task.moved(before)
    apart = [float(np.linalg.norm(a.position - b.position)) for a, b in zip(before, after, strict=True)]
    assert apart == pytest.approx([0.0] * 5 + [0.06] * 5)


def test_a_soft_plate_is_pressed_and_stands_beside_where_it_is_drawn():
    task, start = STUDIED["contact"], np.zeros(3)
    errors = np.array([task.error(seed) for seed in range(50)])
    assert not errors[:, :2].any()
    assert 0.003 < np.abs(errors[:, 2]).max() <= task.plate_error
    assert {np.sign(z) for z in errors[:, 2]} == {-1.0, 1.0}
    for goal in task.goals(1, start):
        assert goal.check
        assert task.plate + goal.width < goal.position[2] < PLATE  # pressed, and not too hard


@pytest.mark.lengthy
def test_who_cannot_know_where_the_plate_stands_looks_at_each_contact():
    late = perform("contact", "c", "cautious", 2.0, 1).seconds
    assert late - perform("contact", "c", "cautious", 0.0, 1).seconds > 8 * 2.0


@pytest.mark.lengthy
def test_a_hand_over_costs_two_round_trips_and_the_last_look_a_third():
    now, late = (perform("hand-over", "c", "plain", d, 2) for d in (0.0, 2.0))
    assert now.movements == late.movements >= 10
    assert late.seconds - now.seconds == pytest.approx(3 * 2.0, abs=0.8)


def test_without_a_plan_the_other_operator_takes_hold_of_the_arm_where_it_is():
    run = performance._Run(STUDIED["hand-over"], "a", 0.0, 2, "plain")
    assert run.finish(0.1).movements >= 10


def test_control_passes_at_the_robot_and_no_point_is_lost_or_doubled():
    run = performance._Run(STUDIED["hand-over"], "c", 1.0, 1, "plain")
    assert run.finish(0.04).seconds < performance.LONGEST
    first, second = run.rig.sides
    assert not first.queue.has_authority
    assert second.queue.has_authority
    run._wait(3.0)
    assert run.rig.executed == sorted(set(run.rig.executed))
    assert run.rig.executed[-1] == second.queue.state(run.rig.now).head_seq


def test_people_are_not_asked_for_tasks_of_the_scripted_operator():
    with pytest.raises(InvalidValueError, match="tasks"):
        StudySettings(tasks=("contact",))


def test_the_task_is_the_same_for_the_same_seed_and_another_for_another():
    start = DelayRig(0.0, 1).start[:3]
    one, same, other = (TASKS["trace"].goals(seed, start) for seed in (1, 1, 2))
    assert all((a.position == b.position).all() for a, b in zip(one, same, strict=True))
    assert any((a.position != b.position).any() for a, b in zip(one, other, strict=True))


def test_care_is_offered_where_it_can_be_taken():
    assert list(strategies(TASKS["trace"], "b")) == ["plain"]
    assert list(strategies(TASKS["plate"], "b")) == ["plain", "careful"]
    assert list(strategies(TASKS["trace"], "d")) == ["plain", "moving on", "careful"]
    assert list(strategies(STUDIED["contact"], "a")) == ["plain", "careful"]
    assert list(strategies(STUDIED["contact"], "c")) == ["plain", "cautious"]


def test_each_condition_counts_with_its_better_strategy():
    runs = {
        ("trace", "d", "plain", 1.0): [Performance(30.0, 11, 0, 0), Performance(20.0, 11, 0, 0)],
        ("trace", "d", "careful", 1.0): [Performance(22.0, 11, 0, 0), Performance(24.0, 11, 0, 0)],
    }
    assert delay_study.seconds("trace", "d", 1.0, runs) == ("careful", [22.0, 24.0])


@pytest.mark.nightly
def test_the_bench_tells_intervals_and_a_goal_for_each_number(tmp_path):
    picture = tmp_path / "study.png"
    result = delay_study.run({"seeds": 2, "tasks": "slow-arm", "delays": "0,4", "processes": 1, "plot": str(picture)})
    json.dumps(result)
    table = result["figures"]["tasks"]["slow-arm"]
    assert all(low <= mean <= high for row in table["seconds"].values() for mean, low, high in row)
    assert table["to_direct_at_0_s"]["a"][0] == (1.0, 1.0, 1.0)
    assert [goal["name"].split(",")[0] for goal in result["goals"]] == [
        "slow-arm: (d) at 4 s to (a) at 0 s",
        "slow-arm: (d) at 4 s to itself at 0 s",
        "slow-arm: (d) to (b) at 0 s",
        "slow-arm: (d) to (b) at 4 s",
    ]
    assert len(result["figures"]["text"].splitlines()) == 6
    assert picture.stat().st_size > 10_000


@pytest.mark.parametrize(("options", "field"), [({"tasks": "juggle"}, "tasks"), ({"delays": "soon"}, "delays")])
def test_an_unknown_task_or_delay_is_refused(options, field):
    with pytest.raises(InvalidValueError, match=field):
        delay_study.run(options)
