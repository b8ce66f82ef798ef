"""The operator's end of the log: numbers, copies, retransmission."""

import pytest
from plan_values import points

from telerobot_nodes.core.protocol import OperationKind
from telerobot_nodes.plan.log import Sender, SenderConfig
from telerobot_nodes.plan.log.sender import RoundTrip

PAUSE, APPEND = OperationKind.PAUSE, OperationKind.APPEND


def numbers(operations):
    return [operation.number for operation in operations]


def sender_of(**values):
    return Sender(4, "ann", SenderConfig(**values))


def test_operations_are_numbered_from_one_in_their_epoch():
    sender = sender_of()
    made = [sender.submit(PAUSE) for _ in range(3)]
    assert [(o.epoch, o.number, o.agent) for o in made] == [(4, 1, "ann"), (4, 2, "ann"), (4, 3, "ann")]
    assert sender.last_number == 3


def test_a_small_operation_is_sent_in_so_many_messages():
    sender = sender_of(copies=3)
    sender.submit(PAUSE)
    assert [numbers(sender.poll(0.01 * k)) for k in range(5)] == [[1], [1], [1], [], []]
    assert sender.retransmitted == 0


def test_a_large_operation_is_sent_once():
    sender = sender_of(copy_bytes=1500)
    sender.submit(APPEND, points(1, 60))
    assert [numbers(sender.poll(0.01 * k)) for k in range(3)] == [[1], [], []]


def test_an_unacknowledged_operation_is_retransmitted_after_the_timeout():
    sender = sender_of(copies=1, first_timeout=1.0)
    sender.submit(PAUSE)
    sender.poll(0.0)
    assert sender.poll(0.99) == []
    assert numbers(sender.poll(1.01)) == [1]
    assert sender.retransmitted == 1


def test_an_acknowledged_operation_is_not():
    sender = sender_of(copies=1)
    sender.submit(PAUSE)
    sender.submit(PAUSE)
    sender.poll(0.0)
    sender.acknowledge(0.4, 1)
    assert sender.unacknowledged == 1
    assert numbers(sender.poll(9.0)) == [2]


def test_the_timeout_is_the_round_trip_with_a_margin():
    sender = sender_of(copies=1, margin=0.15)
    sender.submit(PAUSE)
    sender.poll(0.0)
    sender.acknowledge(0.4, 1)
    assert sender.round_trip.value == pytest.approx(0.4)
    assert sender.timeout() == pytest.approx(0.55)


def test_the_timeout_is_bounded():
    sender = sender_of(longest_timeout=2.0)
    sender.round_trip.add(30.0)
    assert sender.timeout() == 2.0


def test_the_oldest_overdue_operation_is_sent_before_new_ones():
    sender = sender_of(copies=1, message_operations=1)
    sender.submit(PAUSE)
    sender.poll(0.0)
    sender.submit(PAUSE)
    assert numbers(sender.poll(5.0)) == [1]
    assert numbers(sender.poll(5.01)) == [2]


def test_an_operation_larger_than_a_message_is_sent_alone():
    sender = sender_of(message_bytes=100)
    sender.submit(APPEND, points(1, 10))
    sender.submit(APPEND, points(11, 10))
    assert numbers(sender.poll(0.0)) == [1]
    assert numbers(sender.poll(0.01)) == [2]


def test_the_round_trip_is_the_least_of_recent_samples():
    trip = RoundTrip(samples=3)
    assert (trip.value, trip.spread) == (-1.0, 0.0)
    for sample in (0.5, 0.9, 0.6):
        trip.add(sample)
    assert trip.value == 0.5
    assert trip.spread == pytest.approx(0.1)
    trip.add(0.7)
    assert trip.value == 0.6


def test_a_stop_goes_before_points_in_a_message_of_its_own():
    sender = sender_of()
    for n in range(5):
        sender.submit(APPEND, points(1 + 60 * n, 60))
    sender.submit(PAUSE)
    assert numbers(sender.poll(0.0)) == [6]
    assert set(numbers(sender.poll(0.02))) == {1, 2, 6}
