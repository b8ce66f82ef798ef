from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from telerobot_nodes.core.protocol import UpdateKind
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.client import PlanChange
from telerobot_nodes.operator.client.plan_trace import HISTORY, MAX_VERTICES, PlanTrace


def points(first, count, **other):
    line = np.column_stack((np.arange(first, first + count), np.zeros((count, 2)))).astype(float)
    return PlanChange(UpdateKind.APPEND, first_seq=first, position=line, timing=np.zeros(count, np.uint8), **other)


def cut(after):
    return PlanChange(UpdateKind.TRUNCATE, after_seq=after)


def shown(trace):
    """Numbers of the points on the three lines of the plan; a point's x is its number."""
    lines = trace.lines()
    return [part[:, 0].astype(int).tolist() for part in (lines.executed, lines.committed, lines.ahead)]


def test_the_plan_is_split_into_executed_committed_and_ahead_with_shared_joints():
    trace = PlanTrace()
    trace.apply(points(1, 10))
    trace.progress(4, 6)
    assert shown(trace) == [[1, 2, 3, 4], [4, 5, 6], [6, 7, 8, 9, 10]]


def test_points_told_twice_are_kept_once():
    trace = PlanTrace()
    trace.apply(points(1, 5))
    trace.apply(points(3, 5))
    assert shown(trace)[2] == [1, 2, 3, 4, 5, 6, 7]


def test_after_a_cut_the_plan_goes_on_with_new_numbers():
    trace = PlanTrace()
    trace.apply(points(1, 10))
    trace.apply(cut(4))
    trace.apply(points(11, 2))
    assert shown(trace)[2] == [1, 2, 3, 4, 11, 12]


def test_a_reset_replaces_the_whole_plan():
    trace = PlanTrace()
    trace.apply(points(1, 10))
    fresh = points(50, 2)
    trace.apply(PlanChange(UpdateKind.RESET, first_seq=50, position=fresh.position, timing=fresh.timing))
    assert shown(trace)[2] == [50, 51]


def test_the_trial_path_is_a_line_of_its_own():
    trace = PlanTrace()
    trace.apply(points(1, 3))
    trace.apply(points(1, 2, trial=True))
    assert len(trace.lines().trial) == 2
    assert shown(trace)[2] == [1, 2, 3]


def test_executed_points_are_forgotten_after_a_while_and_the_plan_ahead_is_not():
    trace = PlanTrace()
    trace.apply(points(1, 10_000))
    trace.progress(9_000, 9_010)
    assert len(trace) == HISTORY + 1_000
    assert shown(trace)[2][-1] == 10_000


def test_the_version_changes_only_when_there_is_something_new_to_draw():
    trace = PlanTrace()
    trace.apply(points(1, 3))
    before = trace.version
    trace.progress(0, 0)
    assert trace.version == before
    trace.progress(1, 2)
    assert trace.version > before


def test_a_long_plan_is_thinned_and_keeps_its_ends():
    trace = PlanTrace()
    trace.apply(points(1, 50_000))
    ahead = shown(trace)[2]
    assert len(ahead) <= MAX_VERTICES
    assert (ahead[0], ahead[-1]) == (1, 50_000)


@given(st.lists(st.tuples(st.sampled_from(("append", "cut", "progress")), st.integers(0, 60)), max_size=25))
def test_the_trace_equals_a_plain_list_of_points(events):
    trace, expected, last, done = PlanTrace(), [], 0, 0
    for event, value in events:
        if event == "append" and value:
            trace.apply(points(last + 1, value))
            expected += range(last + 1, last + value + 1)
            last += value
        elif event == "cut":
            trace.apply(cut(value))
            expected = [seq for seq in expected if seq <= value]
        elif event == "progress":
            done = max(done, value)
            trace.progress(done, done)
    executed, _, ahead = shown(trace)
    assert executed == [seq for seq in expected if seq <= done]
    assert ahead[1 if executed else 0 :] == [seq for seq in expected if seq > done]


def test_a_change_with_a_point_that_is_not_finite_is_refused():
    with pytest.raises(InvalidValueError, match=r"plan.position\[1\]"):
        PlanChange(UpdateKind.APPEND, position=[[0.0, float("nan"), 0.0]], timing=[0])
