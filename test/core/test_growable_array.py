"""The growing array against a plain list."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from telerobot_nodes.core.values import GrowableArray

STEPS = st.lists(st.tuples(st.sampled_from(["extend", "cut", "drop", "clear"]), st.integers(0, 9)), max_size=60)


@given(STEPS)
def test_any_sequence_of_changes_leaves_what_a_list_would_hold(steps):
    array, rows = GrowableArray(dtype=np.int64, capacity=4), []
    for k, (change, n) in enumerate(steps):
        if change == "extend":
            array.extend(n)[:] = 10 * k + np.arange(n)
            rows += [10 * k + i for i in range(n)]
        elif change == "cut":
            array.cut(n)
            rows = rows[:n]
        elif change == "drop":
            array.drop(n)
            rows = rows[n:]
        else:
            array.clear()
            rows = []
        assert array.view.tolist() == rows
        assert len(array) == len(rows)


def test_memory_follows_what_is_held():
    array = GrowableArray((3,), capacity=4)
    for _ in range(1000):
        array.extend(10)[:] = 1.0
        array.drop(10)
    array.extend(5)
    assert array.view.base.shape[0] < 1000


def test_rows_have_the_shape_and_type_given():
    array = GrowableArray((2, 3), dtype=np.uint8)
    assert array.extend(4).shape == (4, 2, 3)
    assert array.view.dtype == np.uint8


def test_what_stays_is_not_moved_by_a_cut_or_a_drop():
    array = GrowableArray()
    array.extend(10)[:] = np.arange(10)
    view = array.view
    array.drop(2)
    array.cut(5)
    assert np.shares_memory(view, array.view)
