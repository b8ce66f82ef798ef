"""The operation log, both ends: exactly once and in order whatever the link does."""

import plan_models
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from telerobot_nodes.core.protocol import OperationKind
from telerobot_nodes.errors import InvalidValueError, QueueFullError
from telerobot_nodes.plan.log import LogPosition, Operation, Receiver, Sender, SenderConfig
from telerobot_nodes.plan.log.receiver import open_when_free

RATE, AUTHORITY, PAUSE = OperationKind.RATE, OperationKind.AUTHORITY, OperationKind.PAUSE


@pytest.fixture(scope="session")
def models():
    return plan_models


def operation(number, kind=PAUSE, epoch=1, agent="a", **values):
    return Operation(epoch, number, kind, agent, **values)


def opened():
    receiver = Receiver()
    receiver.receive(0.0, [operation(1, AUTHORITY)])
    return receiver


def exchange(sender, receiver, up, down, seconds, submit, step=0.01, quiet=()):
    """Run both ends over a link; returns [(number, time delivered)] and the time each was submitted."""
    delivered, submitted = [], {}
    for tick in range(round(seconds / step)):
        now = tick * step
        up.cut = down.cut = any(low <= now < high for low, high in quiet)
        for operations in up.arrived(now):
            delivered += [(d.operation.number, now) for d in receiver.receive(now, operations) if not d.refusal]
        if tick % 5 == 0:
            log = receiver.acknowledgement
            down.send(now, (log.position.applied_number, log.applied_copy, now - log.applied_received))
        for acknowledgement in down.arrived(now):
            sender.acknowledge(now, *acknowledgement)
        if submit(tick):
            submitted[sender.submit(PAUSE).number] = now
        if tick % 4 == 0 and (message := sender.poll(now)):
            up.send(now, message)
    return delivered, submitted


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    delay=st.floats(0.0, 1.0),
    jitter=st.floats(0.0, 0.5),
    loss=st.floats(0.0, 0.5),
    duplicate=st.floats(0.0, 0.5),
)
@pytest.mark.lengthy
def test_every_operation_is_delivered_once_and_in_order_over_any_link(models, seed, delay, jitter, loss, duplicate):
    sender, receiver = Sender(1, "a"), opened()
    sender.submit(AUTHORITY)
    up = models.Link(seed, delay, jitter, loss, duplicate)
    down = models.Link(seed + 1, delay, jitter, loss, duplicate)
    delivered, _ = exchange(sender, receiver, up, down, 60.0, lambda tick: tick % 5 == 0 and tick < 500)
    assert [number for number, _ in delivered] == list(range(2, 102))
    assert sender.unacknowledged == 0


def test_latency_at_half_a_second_and_five_percent_loss_is_within_three_delays(models):
    delay = 0.5
    sender, receiver = Sender(1, "a"), opened()
    sender.submit(AUTHORITY)
    up, down = models.Link(3, delay, 0.02, 0.05), models.Link(4, delay, 0.02, 0.05)
    delivered, submitted = exchange(sender, receiver, up, down, 40.0, lambda tick: tick % 4 == 0 and tick < 3000)
    waits = sorted(now - submitted[number] for number, now in delivered)
    assert len(waits) == 750
    assert waits[int(0.95 * len(waits))] <= 3 * delay + 0.2


def test_a_cut_loses_nothing_and_is_caught_up_quickly(models):
    delay = 0.5
    sender, receiver = Sender(1, "a"), opened()
    sender.submit(AUTHORITY)
    up, down = models.Link(5, delay), models.Link(6, delay)
    delivered, submitted = exchange(
        sender, receiver, up, down, 30.0, lambda tick: tick % 10 == 0 and tick < 2000, quiet=[(5.0, 15.0)]
    )
    assert len(delivered) == len(submitted) == 200
    last_of_cut = max(number for number, now in submitted.items() if now < 15.0)
    assert dict(delivered)[last_of_cut] <= 15.0 + delay + 1.5


def test_round_trip_is_measured_and_small_operations_travel_more_than_once(models):
    sender, receiver = Sender(1, "a"), Receiver()
    sender.submit(AUTHORITY)
    up, down = models.Link(7, 0.3), models.Link(8, 0.3)
    exchange(sender, receiver, up, down, 5.0, lambda tick: tick % 20 == 0 and tick < 400)
    assert 0.599 <= sender.round_trip.value <= 0.72
    assert sender.retransmitted == 0
    assert receiver.doubles > 0


def test_nothing_to_send_means_no_message():
    sender = Sender(1, "a")
    assert sender.poll(0.0) == []
    assert sender.next_time(0.0) == float("inf")


def test_next_time_says_when_something_is_due():
    sender = Sender(1, "a", SenderConfig(copies=1))
    sender.submit(PAUSE)
    assert sender.next_time(3.0) == 3.0
    sender.poll(3.0)
    assert sender.next_time(3.0) == 3.0 + sender.timeout()


def test_a_full_window_refuses_points_but_never_a_stop():
    sender = Sender(1, "a", SenderConfig(max_unacknowledged=2))
    sender.submit(PAUSE)
    sender.submit(PAUSE)
    with pytest.raises(QueueFullError, match="2 not acknowledged"):
        sender.submit(PAUSE)
    assert sender.submit(PAUSE, urgent=True).number == 3


def test_a_message_is_bounded_in_operations_and_bytes():
    sender = Sender(1, "a", SenderConfig(message_operations=5, message_bytes=2000))
    for _ in range(20):
        sender.submit(PAUSE)
    assert [op.number for op in sender.poll(0.0)] == [1, 2, 3, 4, 5]


def test_an_expired_operation_is_refused_by_receipt_time_and_the_log_goes_on():
    receiver = opened()
    assert receiver.receive(10.0, [operation(3, window=1.0)]) == []
    deliveries = receiver.receive(12.0, [operation(2)])
    assert [d.operation.number for d in deliveries] == [2, 3]
    assert deliveries[0].refusal == ""
    assert "expired" in deliveries[1].refusal
    assert receiver.acknowledgement.refused_number == 3
    assert receiver.position.applied_number == 3


def test_an_operation_inside_its_window_is_delivered():
    receiver = opened()
    receiver.receive(10.0, [operation(3, window=5.0)])
    assert [d.refusal for d in receiver.receive(12.0, [operation(2)])] == ["", ""]


def test_an_agent_without_authority_is_turned_away_and_the_log_is_untouched():
    receiver = opened()
    (delivery,) = receiver.receive(1.0, [operation(2, agent="stranger")])
    assert "stranger" in delivery.refusal
    assert receiver.position == LogPosition(1, "a", 1)
    assert receiver.strangers == 1
    assert [d.refusal for d in receiver.receive(2.0, [operation(2)])] == [""]


def test_operations_of_an_epoch_that_is_over_are_turned_away():
    receiver = Receiver(LogPosition(5, "a", 7))
    (delivery,) = receiver.receive(0.0, [operation(8, epoch=4)])
    assert "epoch" in delivery.refusal
    assert receiver.position == LogPosition(5, "a", 7)


def test_a_claim_opens_an_epoch_only_when_the_plan_is_free_or_its_own():
    receiver = Receiver()
    assert receiver.receive(0.0, [operation(1, AUTHORITY, 1, "a")])[0].refusal == ""
    assert "a holds it" in receiver.receive(0.0, [operation(1, AUTHORITY, 2, "b")])[0].refusal
    assert receiver.receive(0.0, [operation(1, AUTHORITY, 2, "a")])[0].refusal == ""
    assert receiver.position == LogPosition(2, "a", 1)


def test_of_two_claims_of_the_same_epoch_the_first_wins():
    receiver = Receiver()
    receiver.receive(0.0, [operation(1, AUTHORITY, 1, "a"), operation(1, AUTHORITY, 1, "b")])
    assert receiver.position == LogPosition(1, "a", 1)


@pytest.mark.parametrize("agent", ["a", "b"])
def test_authority_is_never_handed_over_inside_the_log(agent):
    receiver = opened()
    receiver.receive(1.0, [operation(2, AUTHORITY, agent=agent), operation(50, AUTHORITY, agent=agent)])
    assert (receiver.position.epoch, receiver.position.authority) == (1, "a")
    refused = (0, 2) if agent == "a" else (2, 0)  # in its turn; a stranger's takes no number of the holder's
    assert (receiver.strangers, receiver.acknowledgement.refused_number) == refused
    assert receiver.receive(2.0, [operation(n) for n in range(2, 60)])
    assert (receiver.position.epoch, receiver.position.authority) == (1, "a")


def test_an_operation_that_overtakes_its_claim_waits_for_the_next_message():
    receiver = Receiver()
    assert receiver.receive(0.0, [operation(2)]) == []
    assert receiver.early == 1
    receiver.receive(0.0, [operation(1, AUTHORITY)])
    assert [d.operation.number for d in receiver.receive(0.1, [operation(2)])] == [2]


def test_a_receiver_made_from_a_journalled_position_delivers_nothing_twice():
    first = opened()
    first.receive(0.0, [operation(2), operation(3)])
    second = Receiver(first.position)
    numbers = [d.operation.number for d in second.receive(1.0, [operation(n) for n in (1, 2, 3, 4)])]
    assert numbers == [4]


def test_waiting_operations_are_bounded():
    receiver = Receiver(LogPosition(1, "a", 1), capacity=10)
    receiver.receive(0.0, [operation(n) for n in range(3, 100)])
    assert receiver.waiting == 9


def test_the_default_policy_names_who_holds_authority():
    assert "b claims it, a holds it" in open_when_free(0.0, operation(1, AUTHORITY, agent="b"), LogPosition(1, "a", 0))


def test_bad_bounds_of_the_sender_are_refused_by_name():
    with pytest.raises(InvalidValueError, match=r"sender\.max_unacknowledged"):
        SenderConfig(max_unacknowledged=0)
