"""The robot's end of the log, operation by operation."""

from dataclasses import replace

import numpy as np
import pytest

from telerobot_nodes.core.protocol import OperationKind
from telerobot_nodes.plan.log.operations import next_epoch
from telerobot_nodes.plan.log import LogPosition, Operation, PlanPoints, Receiver, UnreadableOperation
from telerobot_nodes.plan.log.operations import MAX_POINTS
from telerobot_nodes.plan.log.receiver import REORDER_POINTS

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


def test_the_confirmation_names_the_copy_that_was_received_first_and_when(receiver):
    receiver.receive(1.0, [replace(operation(3), copy=2)])
    receiver.receive(2.0, [replace(operation(3), copy=1)])
    assert receiver.acknowledgement.applied_received < 0.0  # none of this epoch yet
    receiver.receive(3.0, [operation(2)])
    log = receiver.acknowledgement
    assert (log.position.applied_number, log.applied_copy, log.applied_received) == (3, 2, 1.0)
    receiver.receive(4.0, [operation(1, AUTHORITY, epoch=2)])
    assert receiver.acknowledgement.applied_received == 4.0


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


def test_a_refusal_that_stands_alone_is_no_reason_for_the_next_one_and_breaks_no_chain(receiver):
    receiver.receive(0.0, [operation(n) for n in (2, 3, 4, 5)])
    receiver.refuse(2, "nothing is latched", alone=True)
    receiver.refuse(3, "too far")
    assert receiver.acknowledgement.refusal == "too far"
    receiver.refuse(4, "arm moves", alone=True)
    assert receiver.acknowledgement.refusal == "arm moves"
    receiver.refuse(5, "not the tail")
    assert receiver.acknowledgement.refusal == "follows a refused operation: too far"


def test_a_refusal_that_comes_late_hides_no_later_one(receiver):
    receiver.refuse(9, "too far")
    receiver.refuse(7, "no node serves it", alone=True)
    found = receiver.acknowledgement
    assert (found.refused_number, found.refusal) == (9, "too far")


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
    receiver = Receiver(LogPosition(1, "ann", 1), may_open=lambda now, claim, position: "never")
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


def test_an_operation_is_acknowledged_after_it_was_dealt_with(receiver):
    seen = [receiver.position.applied_number for _ in receiver.deliver(0.0, [operation(n) for n in (2, 3, 4)])]
    assert seen == [1, 2, 3]
    assert receiver.position.applied_number == 4


def test_an_operation_whose_effect_was_interrupted_comes_again(receiver):
    deliveries = receiver.deliver(0.0, [operation(2), operation(3)])
    next(deliveries)
    deliveries.close()  # as when the process is told to end
    assert receiver.position.applied_number == 1
    assert numbers(receiver.receive(0.1, [operation(2), operation(3)])) == [2, 3]


def test_an_operation_that_cannot_be_read_is_refused_in_its_turn_and_those_after_it_go_on(receiver):
    bad = UnreadableOperation(1, 3, "ann", "points.time[0]: nan")
    assert numbers(receiver.receive(0.0, [bad, operation(4)])) == []
    assert numbers(receiver.receive(0.1, [operation(2)])) == [2, 4]
    found = receiver.acknowledgement
    assert (found.refused_number, found.refusal) == (3, "points.time[0]: nan")


@pytest.mark.parametrize(("epoch", "agent"), [(1, "eve"), (0, "ann"), (9, "ann")])
def test_what_cannot_be_read_of_a_stranger_or_another_epoch_changes_nothing(receiver, epoch, agent):
    receiver.receive(0.0, [UnreadableOperation(epoch, 2, agent, "bad")])
    assert receiver.position == LogPosition(1, "ann", 1)
    assert receiver.acknowledgement.refusal == ""


def test_points_that_wait_are_bounded_and_the_next_operation_always_has_room(receiver):
    rows = np.tile([0.4, 0.0, 0.4, 0.0, 0.0, 0.0, 1.0], (MAX_POINTS, 1))
    points = PlanPoints(1, 0.02 * np.arange(MAX_POINTS), rows, np.zeros(MAX_POINTS), "ann")
    append = [Operation(1, n, OperationKind.APPEND, "ann", points) for n in range(2, 100)]
    receiver.receive(0.0, append[1:])
    assert receiver.waiting == REORDER_POINTS // MAX_POINTS
    assert len(receiver.receive(0.1, append[:1])) == 1 + REORDER_POINTS // MAX_POINTS
    receiver.receive(0.2, append)
    assert receiver.position.applied_number == 99
    assert receiver.waiting == 0


def test_operations_without_points_that_overtook_others_are_shown_in_order(receiver):
    receiver.receive(0.0, [operation(7), operation(5, OperationKind.CLEAR)])
    assert [entry.number for entry in receiver.overtaking] == [5, 7]
