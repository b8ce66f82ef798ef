"""The robot's end of the log, operation by operation."""

import pytest

from telerobot_nodes.core.protocol import OperationKind
from telerobot_nodes.plan.log.operations import next_epoch
from telerobot_nodes.plan.log import LogPosition, Operation, Receiver

PAUSE, AUTHORITY = OperationKind.PAUSE, OperationKind.AUTHORITY


def operation(number, kind=PAUSE, agent="ann", epoch=1):
    return Operation(epoch, number, kind, agent)


@pytest.fixture
def receiver():
    return Receiver(LogPosition(1, "ann", 1))


def numbers(deliveries):
    return [delivery.operation.number for delivery in deliveries if not delivery.refusal]


def test_operations_wait_for_those_before_them(receiver):
    assert receiver.receive(0.0, [operation(3), operation(4)]) == []
    assert receiver.waiting == 2
    assert numbers(receiver.receive(0.1, [operation(2)])) == [2, 3, 4]
    assert receiver.position.applied_number == 4


def test_duplicates_are_counted_and_ignored(receiver):
    receiver.receive(0.0, [operation(2), operation(2), operation(4), operation(4)])
    assert receiver.doubles == 2
    assert receiver.position.applied_number == 2


def test_the_time_of_the_first_receipt_counts(receiver):
    receiver.receive(1.0, [operation(3)])
    receiver.receive(2.0, [operation(3)])
    deliveries = receiver.receive(3.0, [operation(2)])
    assert [delivery.received for delivery in deliveries] == [3.0, 1.0]


def test_a_refusal_is_reported_with_its_number(receiver):
    receiver.receive(0.0, [operation(2)])
    receiver.refuse(2, "too far")
    found = receiver.acknowledgement
    assert (found.refused_number, found.refusal) == (2, "too far")


def test_operations_that_follow_a_refused_one_name_its_reason(receiver):
    receiver.receive(0.0, [operation(n) for n in (2, 3, 4)])
    receiver.refuse(2, "too far")
    receiver.refuse(3, "not the tail")
    assert receiver.acknowledgement.refusal == "follows a refused operation: too far"
    receiver.refuse(9, "queue is full")
    assert receiver.acknowledgement.refusal == "queue is full"


def test_a_new_epoch_forgets_refusals_and_waiting_operations(receiver):
    receiver.receive(0.0, [operation(5)])
    receiver.refuse(2, "too far")
    receiver.open("bob")
    assert receiver.position == LogPosition(2, "bob", 0)
    assert (receiver.waiting, receiver.acknowledgement.refusal) == (0, "")


def test_a_claim_is_the_first_operation_of_its_epoch(receiver):
    assert receiver.receive(0.0, [operation(2, AUTHORITY, epoch=5)]) == []
    assert receiver.early == 1
    assert numbers(receiver.receive(0.0, [operation(1, AUTHORITY, epoch=5)])) == [1]
    assert receiver.position == LogPosition(5, "ann", 1)


def test_a_policy_decides_claims():
    receiver = Receiver(LogPosition(1, "ann", 1), may_open=lambda claim, position: "never")
    (delivery,) = receiver.receive(0.0, [operation(1, AUTHORITY, epoch=5)])
    assert delivery.refusal == "never"
    assert receiver.position.epoch == 1


@pytest.mark.parametrize("epoch", [2**20 + 2, 2**63, 2**64 - 1])
def test_no_claim_can_leave_no_epoch_for_the_next(receiver, epoch):
    receiver.receive(0.0, [operation(1, AUTHORITY, epoch=1)])
    (delivery,) = receiver.receive(0.0, [operation(1, AUTHORITY, epoch=epoch)])
    assert f"epoch: {epoch} is too high; allowed: up to {2**20 + 1}" in delivery.refusal
    assert receiver.position.epoch == 1
    (delivery,) = receiver.receive(0.0, [operation(1, AUTHORITY, epoch=next_epoch(1, 5.0))])
    assert not delivery.refusal


@pytest.mark.parametrize("number", [2**63, 2**64 - 1])
def test_no_operation_can_leave_no_number_for_the_next(receiver, number):
    receiver.receive(0.0, [operation(1, AUTHORITY), operation(number), operation(2)])
    assert receiver.position.applied_number == 2
    assert receiver.waiting == 0
