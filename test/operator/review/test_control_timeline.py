"""Stretches of authority and controls, and the trial paths, from hand-made records."""

from pathlib import Path

import numpy as np

from telerobot_nodes.core.protocol import UpdateKind
from telerobot_nodes.operator.review.control_timeline import holders, requests, spans, trial_paths
from telerobot_nodes.operator.review.run_record import PlanChange, RunRecord


def run_with(*authority):
    run = RunRecord(Path("bag"))
    for row in authority:
        run.authority.add(*row)
    return run


def trial(kind, first, count, after=0):
    line = np.column_stack((np.arange(first, first + count), np.zeros((count, 2)))).astype(float)
    return PlanChange(0.0, kind, first, np.zeros(count), line, after)


def test_equal_neighbours_are_one_stretch_that_ends_where_the_next_begins():
    assert spans(np.arange(5.0), [1, 1, 2, 2, 1]) == [(0.0, 2.0, 1), (2.0, 4.0, 2), (4.0, 4.0, 1)]


def test_no_values_are_no_stretch():
    assert spans(np.empty(0), []) == []


def test_only_stretches_with_an_agent_have_a_holder():
    run = run_with((0.0, "", "", False), (1.0, "anna", "", False), (3.0, "ben", "", False), (4.0, "ben", "", False))
    assert holders(run) == [(1.0, 3.0, "anna"), (3.0, 4.0, "ben")]


def test_a_request_changes_when_it_is_granted():
    run = run_with(
        (0.0, "anna", "", False), (1.0, "anna", "ben", False), (2.0, "anna", "ben", True), (3.0, "ben", "", 0)
    )
    assert requests(run) == [(1.0, 2.0, ("ben", False)), (2.0, 3.0, ("ben", True))]


def test_a_run_without_authority_has_no_holders_and_no_requests():
    assert holders(run_with()) == requests(run_with()) == []


def test_trial_paths_end_at_a_reset_and_leave_out_what_the_brake_deleted():
    run = run_with()
    run.trials += [
        trial(UpdateKind.APPEND, 1, 4),
        trial(UpdateKind.TRUNCATE, 0, 0, after=2),
        trial(UpdateKind.APPEND, 7, 1),
        trial(UpdateKind.RESET, 20, 2),
    ]
    assert [path[:, 0].tolist() for path in trial_paths(run)] == [[1, 2, 7], [20, 21]]
