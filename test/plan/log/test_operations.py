"""Validation of operations."""

import pytest
from plan_values import points

from telerobot_nodes.core.protocol import OperationKind
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.plan.log import Operation
from telerobot_nodes.plan.log.operations import EPOCHS, MAX_POINTS, next_epoch

PAUSE, APPEND, RATE = OperationKind.PAUSE, OperationKind.APPEND, OperationKind.RATE


@pytest.mark.parametrize(
    ("field", "number", "kind", "values"),
    [
        ("number", 0, PAUSE, {}),
        ("kind", 1, 17, {}),
        ("agent", 1, PAUSE, {"agent": ""}),
        ("agent", 1, PAUSE, {"agent": "n" * 1_000_000}),
        ("points", 1, APPEND, {}),
        (r"points \(length\)", 1, APPEND, {"points": points(1, MAX_POINTS + 1)}),
        ("points", 1, APPEND, {"points": points(1, 0)}),
        ("after_seq", 1, APPEND, {"points": points(5, 2), "after_seq": 5}),
        ("after_seq", 1, APPEND, {"points": points(5, 2), "after_seq": -1}),
        ("rate", 1, RATE, {"rate": 0.05}),
        ("rate", 1, RATE, {"rate": float("nan")}),
        ("window", 1, PAUSE, {"window": -1.0}),
        ("window", 1, PAUSE, {"window": 4000.0}),
    ],
)
def test_a_bad_operation_is_refused_by_field(field, number, kind, values):
    with pytest.raises(InvalidValueError, match=rf"operation\.{field}"):
        Operation(1, number, kind, **{"agent": "ann", **values})


def test_an_append_may_leave_numbers_out():
    assert Operation(1, 1, APPEND, "ann", points(5, 2), after_seq=2).after_seq == 2


def test_the_rate_matters_only_to_rate_operations():
    assert Operation(1, 1, PAUSE, "ann", rate=0.0).rate == 0.0


def test_the_next_epoch_is_higher_and_differs_between_starts():
    assert next_epoch(5, 0.0) == 6
    assert next_epoch(5, 1.0) != next_epoch(5, 1.0021)
    assert 5 < next_epoch(5, 1e9) <= 5 + EPOCHS
