"""The plan in memory: order, look-up, both ends, growth."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from telerobot_nodes.errors import InvalidValueError, QueueFullError
from telerobot_nodes.plan.log import MIN_STEP, PlanStore, Timing
from telerobot_nodes.plan.log.store import as_points, gapless

POSE = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])


def add(store, first, n, start=None, step=0.02, gripper=-1.0):
    start = store.last_time + step if start is None else start
    poses = np.tile(POSE, (n, 1))
    poses[:, 0] = np.arange(first, first + n)
    store.append(np.arange(first, first + n), start + step * np.arange(n), poses, Timing.SYNCED, gripper)


def numbers(store):
    return store.after(0).seq.tolist()


@given(
    st.lists(
        st.tuples(st.sampled_from(["append", "truncate", "forget"]), st.integers(1, 40)),
        max_size=40,
    )
)
def test_the_store_equals_a_plain_list_under_any_operations(operations):
    store, model, next_seq = PlanStore(10_000), [], 1
    store._allocate(4)  # small, so that growing and moving happen
    for kind, n in operations:
        if kind == "append":
            add(store, next_seq, n)
            model += range(next_seq, next_seq + n)
            next_seq += n
        elif kind == "truncate":
            after = max(next_seq - n, 0)
            assert store.truncate(after) == sum(seq > after for seq in model)
            model = [seq for seq in model if seq <= after]
        else:
            before = (model[0] if model else 0) + n
            assert store.forget(before) == sum(seq < before for seq in model)
            model = [seq for seq in model if seq >= before]
        held = store.after(0)
        assert held.seq.tolist() == model
        assert held.pose[:, 0].tolist() == model
        assert len(store) == len(model)
        assert store.last_seq == (model[-1] if model else 0)
        assert store.first_seq == (model[0] if model else 0)


def test_points_are_found_by_number_and_by_plan_time():
    store = PlanStore(100)
    add(store, 1, 10, 0.0)
    store.truncate(5)
    add(store, 11, 5)
    assert numbers(store) == [1, 2, 3, 4, 5, 11, 12, 13, 14, 15]
    assert store.contains(11)
    assert not store.contains(7)
    assert store.previous(11) == 5
    assert store.previous(1) == 0
    assert store.before_time(0.1) == 11
    assert store.before_time(0.099) == 5
    assert store.before_time(-1.0) == 0
    assert store.count_after(5) == 5


def test_a_full_store_refuses_and_keeps_what_it_has():
    store = PlanStore(10)
    add(store, 1, 10, 0.0)
    with pytest.raises(QueueFullError, match="allowed: 10"):
        add(store, 11, 1)
    assert numbers(store) == list(range(1, 11))


@pytest.mark.parametrize(("first", "start", "field"), [(5, 1.0, "seq"), (6, 0.08, "time"), (6, 0.0, "time")])
def test_points_that_do_not_follow_are_refused_by_field(first, start, field):
    store = PlanStore(100)
    add(store, 1, 5, 0.0)
    with pytest.raises(InvalidValueError, match=f"point.{field}"):
        add(store, first, 1, start)
    assert numbers(store) == [1, 2, 3, 4, 5]


def test_a_stretch_for_a_message_ends_at_a_gap_and_at_the_first_gripper_command():
    store = PlanStore(100)
    add(store, 1, 3, 0.0)
    add(store, 5, 2)
    add(store, 7, 2, gripper=0.05)
    assert gapless(store.after(0)).seq.tolist() == [1, 2, 3]
    assert gapless(store.after(3)).seq.tolist() == [5, 6]
    points = as_points(gapless(store.after(6)), "a")
    assert (points.first_seq, points.last_seq, points.gripper.tolist()) == (7, 8, [0.05, 0.05])
    with pytest.raises(InvalidValueError, match="gaps"):
        as_points(store.after(0), "a")


def test_points_handed_out_do_not_change_when_the_store_does():
    store = PlanStore(100)
    add(store, 1, 3, 0.0)
    points = as_points(store.after(0), "a")
    store.truncate(0)
    add(store, 9, 3, 5.0)
    assert points.time[0] == 0.0


def test_memory_per_point_is_as_stated():
    assert PlanStore(10).bytes_per_point == 81


def test_least_step_of_plan_time_is_accepted():
    store = PlanStore(100)
    add(store, 1, 2, 1000.0, MIN_STEP)
    add(store, 3, 1, store.last_time + MIN_STEP)
    assert len(store) == 3


def test_what_was_truncated_since_the_last_append_can_be_had_again():
    store = PlanStore(100)
    store._allocate(12)  # so that restoring needs more room
    add(store, 1, 10, 0.0)
    store.truncate(8)
    store.truncate(3)
    assert store.truncated().seq.tolist() == [4, 5, 6, 7, 8, 9, 10]
    again = store.truncated().first(2)
    store.extend(again)  # the robot had kept two of them
    assert numbers(store) == [1, 2, 3, 4, 5]
    assert store.truncated().seq.tolist() == [6, 7, 8, 9, 10]
    assert store.truncated().pose[:, 0].tolist() == [6, 7, 8, 9, 10]
    store.extend(store.truncated().first(0))
    assert len(store.truncated()) == 5
    add(store, 20, 1)
    assert len(store.truncated()) == 0
    store.truncate(3)
    store.clear()
    assert len(store.truncated()) == 0


def test_a_new_store_is_at_zero_and_has_nothing_to_restore():
    store = PlanStore(10)
    assert (store.first_seq, store.last_seq, store.first_time, store.last_time) == (0, 0, 0.0, 0.0)
    assert len(store.truncated()) == 0
