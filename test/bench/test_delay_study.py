"""The delay study end to end, on its shortest: the real queue, link and executor under the scripted operator."""

import pytest

from telerobot_nodes.bench.plan import delay_study


@pytest.fixture(scope="module")
def seconds():
    return {(c, d): delay_study.perform(c, d, 1)["seconds"] for c in "ad" for d in (0.0, 2.0)}


@pytest.mark.lengthy
def test_every_condition_finishes_the_task(seconds):
    assert max(seconds.values()) < delay_study.LONGEST


def test_direct_teleoperation_grows_with_the_delay_several_times_as_much_as_planning_ahead(seconds):
    direct = seconds["a", 2.0] - seconds["a", 0.0]
    ahead = seconds["d", 2.0] - seconds["d", 0.0]
    assert direct > 4.0 * ahead


def test_planning_ahead_costs_little_more_than_one_round_trip(seconds):
    assert seconds["d", 2.0] - seconds["d", 0.0] < 2.0 * 2.0


def test_the_task_is_the_same_for_the_same_seed_and_another_for_another(seconds):
    start = delay_study.DelayRig(0.0, 1).start[:3]
    one, same, other = (delay_study.goals_of(seed, start) for seed in (1, 1, 2))
    assert all((a.position == b.position).all() for a, b in zip(one, same, strict=True))
    assert any((a.position != b.position).any() for a, b in zip(one, other, strict=True))


def test_the_table_has_a_row_per_condition():
    table = {c: [20.0, 21.0] for c in delay_study.CONDITIONS}
    text = delay_study.text((0.0, 4.0), table)
    assert len(text.splitlines()) == 5
