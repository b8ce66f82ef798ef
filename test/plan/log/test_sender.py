"""The operator's end of the log: numbers, copies, retransmission."""

import numpy as np
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
    sender.acknowledge(0.4, 1, 0, 0.0)
    assert sender.unacknowledged == 1
    assert numbers(sender.poll(9.0)) == [2]


def test_the_timeout_is_the_round_trip_with_a_margin():
    sender = sender_of(copies=1, margin=0.15)
    sender.submit(PAUSE)
    sender.poll(0.0)
    sender.acknowledge(0.4, 1, 0, 0.0)
    assert sender.round_trip.value == pytest.approx(0.4)
    assert sender.timeout() == pytest.approx(0.55)


def test_the_timeout_is_bounded():
    sender = sender_of(longest_wait=2.0)
    sender.round_trip.add(30.0)
    sender.rate.sent(0.0, 1e6)
    assert sender.timeout() == 32.0  # what is repeated before its acknowledgement can come is repeated for nothing


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


def over_a_delay(sender, delay, begin, end, lost=lambda n: False):
    """Four points every 0.05 s, confirmed in order after `delay` [s]; `lost(n)`: the n-th message does not arrive.

    Returns the longest round trip [s] measured meanwhile.
    """
    on_the_way, arrived, messages, longest = [], {}, 0, 0.0
    applied = sender.last_number - sender.unacknowledged
    for step in range(round((end - begin) / 0.01)):
        now = begin + 0.01 * step
        if step % 5 == 0 and sender.room:
            sender.submit(APPEND, points(4 * sender.last_number + 1, 4))
        sent = sender.poll(now)
        messages += bool(sent)
        if sent and not lost(messages):
            on_the_way.append((now + delay, sent))
        while on_the_way and on_the_way[0][0] <= now:
            for operation in on_the_way.pop(0)[1]:
                arrived.setdefault(operation.number, (operation.copy, now))
        while applied + 1 in arrived:
            applied += 1
        if step % 5 == 0:
            copy, received = arrived.get(applied, (0, now))
            sender.acknowledge(now, applied, copy, now - received)
            longest = max(longest, sender.round_trip.value)
    return longest


@pytest.fixture
def fast():
    """A sender that knows a wide link of 0.04 s; 5 s are over."""
    sender = sender_of()
    over_a_delay(sender, 0.04, 0.0, 5.0)
    sender.rate.rate = 5e6
    assert sender.round_trip.value < 0.1
    return sender


def test_a_delay_that_has_grown_is_measured_although_everything_was_repeated(fast):
    over_a_delay(fast, 2.0, 5.0, 20.0)
    assert fast.round_trip.value == pytest.approx(2.0, abs=0.2)
    assert fast.rate.rate > 1e6  # nothing was lost, nothing waited
    assert fast.retransmitted < 200  # in the first two round trips; 20 operations are made in each second


def test_the_copies_of_an_operation_are_counted():
    sender = sender_of(copies=1)
    sender.submit(PAUSE)
    assert [[operation.copy for operation in sender.poll(2.0 * k)] for k in range(4)] == [[0], [1], [2], [3]]


def test_the_round_trip_is_that_of_the_copy_that_the_robot_received_without_its_time_there():
    sender = sender_of(copies=1)
    sender.submit(PAUSE)
    sender.poll(0.0)
    sender.poll(2.0)
    sender.acknowledge(3.0, 1, 1, 0.6)
    assert sender.round_trip.value == pytest.approx(0.4)


@pytest.mark.parametrize(("copy", "age"), [(1, 0.0), (255, 0.0), (0, -1.0), (0, 5.0), (0, float("nan")), (0, 1e300)])
def test_an_acknowledgement_that_cannot_be_true_gives_no_round_trip(copy, age):
    sender = sender_of(copies=1)
    sender.submit(PAUSE)
    sender.poll(0.0)
    sender.acknowledge(0.4, 1, copy, age)
    assert sender.round_trip.value == -1.0
    assert sender.unacknowledged == 0


@pytest.mark.lengthy
@pytest.mark.parametrize("share", [0.3, 0.5])
@pytest.mark.brief(1)
def test_heavy_loss_does_not_pass_for_delay(fast, share):
    random = np.random.default_rng(1)
    assert over_a_delay(fast, 0.2, 5.0, 65.0, lost=lambda _: random.random() < share) < 0.3


@pytest.mark.lengthy
def test_losses_do_not_pass_for_a_delay_that_has_grown(fast):
    assert over_a_delay(fast, 0.04, 5.0, 35.0, lost=lambda n: n % 40 < 12) < 0.1  # bursts, longer than the copies


def test_after_an_outage_the_round_trip_is_found_again(fast):
    over_a_delay(fast, 0.04, 5.0, 15.0, lost=lambda n: n < 60)
    over_a_delay(fast, 0.04, 15.0, 20.0)
    assert fast.round_trip.value < 0.1


def test_the_losses_of_one_burst_lower_the_rate_of_points_once():
    sender = sender_of(copies=1, first_timeout=1.0)
    for k in range(5):
        sender.submit(APPEND, points(1 + 60 * k, 60), after_seq=60 * k)
    for k in range(3):
        sender.poll(0.01 * k)
    for number in range(1, 6):  # what is left is repeated, and the first of it arrives
        for k in range(100):
            sender.poll(3.0 * number + 0.01 * k)
        sender.acknowledge(3.0 * number + 1.0, number, number, 0.0)
    assert sender.unacknowledged == 0
    assert sender.rate.rate == pytest.approx(0.7 * SenderConfig().rate.first)
