"""The order of a study with people: everything once for each, nothing favoured over all of them."""

from collections import Counter
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from telerobot_nodes.study.design import CONDITIONS, TASKS, StudySettings, williams

DELAYS = (0.0, 0.5, 1.0, 2.0, 4.0)


def some(values):
    return st.lists(st.sampled_from(values), min_size=1, unique=True).map(tuple)


studies = st.builds(
    StudySettings,
    tasks=some(tuple(TASKS)),
    conditions=some(tuple(CONDITIONS)),
    delays=some(DELAYS),
    seed=st.integers(0, 2**32 - 1),
)


def blocks(trials, size):
    """Conditions, with their delays, in the order in which they come."""
    assert [trial.number for trial in trials] == list(range(1, len(trials) + 1))
    rows = [trials[k : k + size] for k in range(0, len(trials), size)]
    found = [{(trial.condition, trial.round_trip) for trial in row} for row in rows]
    assert all(len(pairs) == 1 for pairs in found)  # all tasks of a condition come one after the other
    return [pairs.pop() for pairs in found]


@given(studies, st.integers(0, 100))
def test_each_person_does_each_task_once_under_each_condition(study, person):
    trials = study.order(person)
    wanted = Counter((t, c, d) for t in study.tasks for c in study.conditions for d in study.delays)
    assert Counter((trial.task, trial.condition, trial.round_trip) for trial in trials) == wanted


@given(studies)
def test_over_as_many_people_as_conditions_each_is_in_each_place_once(study):
    size = len(study.conditions) * len(study.delays)
    orders = [blocks(study.order(person), len(study.tasks)) for person in range(size)]
    for place in zip(*orders, strict=True):
        assert len(set(place)) == size


@given(studies, st.integers(1, 40))
def test_after_any_number_of_people_no_condition_was_first_twice_more_often_than_another(study, people):
    size = len(study.conditions) * len(study.delays)
    firsts = Counter(blocks(study.order(person), len(study.tasks))[0] for person in range(people))
    counts = [*firsts.values(), *([0] * (size - len(firsts)))]
    assert max(counts) - min(counts) <= 1


@given(studies)
def test_within_the_first_condition_each_task_is_first_equally_often(study):
    firsts = Counter(study.order(person)[0].task for person in range(2 * len(study.tasks)))
    assert set(firsts.values()) == {2}


@given(st.integers(1, 14))
def test_in_all_squares_together_each_number_follows_each_other_equally_often(n):
    pairs = Counter(pair for square in williams(n) for row in square for pair in pairwise(row))
    assert len(set(pairs.values())) <= 1
    assert len(pairs) == n * (n - 1)


@given(studies)
def test_the_same_seed_gives_the_same_order_and_targets_lie_elsewhere_in_each_trial(study):
    trials = study.order(0)
    assert trials == study.order(0)
    assert len({trial.seed for trial in trials} | {trial.seed for trial in study.order(1)}) == 2 * len(trials)


def test_another_seed_gives_another_order():
    orders = {tuple((t.task, t.condition, t.round_trip) for t in StudySettings(seed=s).order(0)) for s in range(5)}
    assert len(orders) == 5
