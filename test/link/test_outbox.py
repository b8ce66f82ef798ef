"""What waits to be sent: priority, rate, age, bounds."""

from hypothesis import given
from hypothesis import strategies as st

from telerobot_nodes.graph import Crossing, Order, Priority
from telerobot_nodes.link.datagrams import MOST_PART, split
from telerobot_nodes.link.outbox import OVERHEAD, Outbox

HALT = Crossing(Priority.HALT)
STATE = Crossing(Priority.STATE, Order.NEWEST)
TELEOP = Crossing(Priority.TELEOP, late=0.5)
WORLD = Crossing(Priority.WORLD, Order.ALL, size=1_000_000)
TOPICS = (WORLD, STATE, TELEOP, HALT)
DEPTHS = (1, 1, 64, 64)


def drain(box, now):
    out = []
    while (taken := box.take(now)) is not None:
        out.append(taken[1])
    return out


def test_without_a_rate_all_leaves_at_once_by_priority():
    box = Outbox(TOPICS, DEPTHS, 0.0)
    for topic in range(len(TOPICS)):
        box.put(0.0, topic, split(topic, 1, b"x"))
    assert [part.topic for part in drain(box, 0.0)] == [3, 2, 1, 0]
    assert box.next_due(0.0) == float("inf")


def test_a_halt_overtakes_the_parts_of_a_large_message():
    box = Outbox(TOPICS, DEPTHS, 1e6)
    box.put(0.0, 0, split(0, 1, bytes(100 * MOST_PART)))
    first = drain(box, 0.0)
    box.put(0.001, 3, split(3, 1, b"halt"))
    at = box.next_due(0.001)
    assert drain(box, at + 1e-6)[0].topic == 3
    assert len(first) < 10


@given(st.floats(16e3, 1e7), st.integers(1, 200))
def test_no_more_than_the_rate_leaves_and_all_of_it_in_the_end(rate, count):
    box = Outbox((WORLD,), (1,), rate)
    now, sent = 0.0, 0
    start = drain(box, now)
    assert start == []
    box.put(now, 0, split(0, 1, bytes(count * MOST_PART)))
    burst = max(2.0 * 1200, 0.02 * rate / 8.0)
    got = 0
    while got < count:
        out = drain(box, now)
        got += len(out)
        sent += sum(len(part.payload) + OVERHEAD for part in out)
        assert sent <= burst + now * rate / 8.0 + MOST_PART + OVERHEAD + 1.0
        now = max(now + 1e-4, box.next_due(now))
    assert got == count


def test_only_the_newest_state_waits():
    box = Outbox(TOPICS, DEPTHS, 16e3)
    box.put(0.0, 0, split(0, 1, bytes(5 * MOST_PART)))
    drain(box, 0.0)
    for number in range(1, 11):
        box.put(0.0, 1, split(1, number, b"s"))
    assert [part.number for part in drain(box, 10.0) if part.topic == 1] == [10]
    assert box.dropped(1) == 9


def test_what_waited_too_long_is_not_sent():
    box = Outbox(TOPICS, DEPTHS, 0.0)
    box.put(0.0, 2, split(2, 1, b"old"))
    box.put(0.4, 2, split(2, 2, b"new"))
    assert [part.number for part in drain(box, 0.6)] == [2]


def test_a_flood_is_bounded_and_the_newest_stay():
    box = Outbox((HALT,), (64,), 16e3)
    for number in range(1, 10_001):
        box.put(0.0, 0, split(0, number, b"h"))
    numbers = [part.number for part in drain(box, 1e4)]
    for later in range(1, 1000):
        numbers += [part.number for part in drain(box, 1e4 + later)]
    assert len(numbers) == 64
    assert numbers[-1] == 10_000


def test_a_topic_above_its_greatest_rate_is_thinned():
    box = Outbox((Crossing(Priority.TELEOP, most=100.0),), (10_000,), 0.0)
    taken = sum(box.put(at * 1e-4, 0, split(0, at + 1, b"t")) for at in range(10_000))  # 10 kHz for 1 s
    assert 100 <= taken <= 151
    assert box.dropped(0) == 10_000 - taken


def test_what_waits_is_known_by_number():
    box = Outbox((WORLD,), (1,), 16e3)
    box.put(0.0, 0, split(0, 5, bytes(9 * MOST_PART)))
    assert box.waits(0, 5)
    assert not box.waits(0, 4)
    assert box.first_waiting(0) == 5
    for now in range(100):
        drain(box, float(now))
    assert not box.waits(0, 5)
    assert box.first_waiting(0) == 0


def test_a_message_that_has_begun_is_sent_to_its_end_whatever_comes_after_it():
    box = Outbox((WORLD,), (1,), 16e3)
    box.put(0.0, 0, split(0, 1, bytes(9 * MOST_PART)))
    first = drain(box, 0.0)
    assert 0 < len(first) < 9
    for number in range(2, 6):
        box.put(0.0, 0, split(0, number, bytes(2 * MOST_PART)))
    numbers = [part.number for now in range(1, 100) for part in drain(box, float(now))]
    assert numbers == [1] * (9 - len(first)) + [5] * 2
    assert box.dropped(0) == 3


def test_an_urgent_message_leaves_before_all_others_whatever_the_rate_of_its_topic():
    thin = Crossing(Priority.OPERATIONS, most=10.0)
    box = Outbox((HALT, thin), (64, 64), 1e6)
    for number in range(1, 20):
        box.put(0.0, 0, split(0, number, b"halt"))
        box.put(0.0, 1, split(1, number, bytes(3 * MOST_PART)))
    assert box.dropped(1) > 10  # the topic's rate is used up
    box.put_first(0.001, 1, split(1, 20, b"halt left_arm"))
    _, part = box.take(box.next_due(0.001) + 1e-6)
    assert (part.topic, part.payload) == (1, b"halt left_arm")


def test_a_flood_of_urgent_messages_is_bounded_and_counted():
    box = Outbox(TOPICS, DEPTHS, 0.0)
    for number in range(1, 2000):
        box.put_first(0.0, 2, split(2, number, b"halt left_arm"))
    assert len(drain(box, 0.0)) <= 64
    assert box.dropped(2) > 1000
    assert box.next_due(1.0) == float("inf")
    box.put_first(1.0, 2, split(2, 3000, b"x"))
    assert box.next_due(1.0) == 1.0
