"""Two hosts and a network that loses, doubles, reorders, delays and cuts, in simulated time."""

import pytest
from brief import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from simulated_net import (
    CELL,
    DESK,
    HALT,
    OFFSET,
    OPERATIONS,
    REPORTS,
    STALE,
    STATE,
    STEP,
    TELEOP,
    WORLD,
    Net,
)

from telerobot_nodes.core.protocol import LinkState
from telerobot_nodes.errors import InvalidValueError

pytestmark = pytest.mark.lengthy  # together some seconds


def test_messages_of_both_directions_arrive_as_the_bytes_they_are(net):
    large = bytes(range(256)) * 200
    net.send(DESK, OPERATIONS, large)
    net.send(DESK, HALT, b"")
    net.send(CELL, STATE, b"state")
    net.send(CELL, WORLD, large)
    net.run(0.5)
    assert net.messages(CELL, OPERATIONS) == [large]
    assert net.messages(CELL, HALT) == [b""]
    assert net.messages(DESK, STATE) == [b"state"]
    assert net.messages(DESK, WORLD) == [large]


def test_a_message_larger_than_its_topic_allows_is_refused_by_name(net):
    with pytest.raises(InvalidValueError, match=r"halt\.size"):
        net.send(DESK, HALT, bytes(4_001))
    net.run(0.2)
    assert net.messages(CELL, HALT) == []


@settings(max_examples=examples(8, 25))
@given(
    seed=st.integers(0, 10**6),
    delay=st.floats(0.0, 0.8),
    loss=st.floats(0.0, 0.3),
    double=st.floats(0.0, 0.3),
    jitter=st.floats(0.0, 0.2),
    cut=st.sampled_from([(), (CELL,), (DESK,), (CELL, DESK)]),
)
def test_reports_arrive_once_in_order_and_nothing_arrives_twice(seed, delay, loss, double, jitter, cut):
    net = Net(seed, delay, loss, double, jitter)
    sent = {host: [] for host in (CELL, DESK)}

    def talk():
        for host, topics in ((CELL, (REPORTS, STATE)), (DESK, (OPERATIONS, HALT))):
            if net.random.random() < 0.3:
                topic = net.random.choice(topics)
                sent[host].append((topic, b"%d " % len(sent[host]) + bytes(net.random.choice((10, 3000)))))
                net.send(host, *sent[host][-1])

    net.run(3.0, talk)
    net.cut = set(cut)
    net.run(2.0, talk)
    net.cut = set()
    net.run(2.0, talk)
    net.run(60.0)
    reports = [message for topic, message in sent[CELL] if topic == REPORTS]
    assert net.messages(DESK, REPORTS) == reports
    for host, topic in ((DESK, STATE), (CELL, OPERATIONS), (CELL, HALT)):
        got = net.messages(host, topic)
        assert len(got) == len(set(got))
        assert set(got) <= {message for _, message in sent[CELL if host is DESK else DESK]}
    states = [int(message.split()[0]) for message in net.messages(DESK, STATE)]
    assert states == sorted(states)


def test_a_cut_is_known_on_both_sides_and_so_is_the_return(net):
    net.cut = {CELL, DESK}
    net.run(STALE + 0.15)
    assert net.state(CELL) is net.state(DESK) is LinkState.STALE
    net.run(30.0)
    net.cut = set()
    net.run(0.4)
    assert net.state(CELL) is net.state(DESK) is LinkState.FRESH
    assert net.ends[CELL].faults() == net.ends[DESK].faults() == {}


@pytest.mark.parametrize(("deaf", "speaks"), [(DESK, DESK), (CELL, CELL)], ids=["robot mute", "operator mute"])
def test_a_half_open_link_is_known_on_both_sides(net, deaf, speaks):
    mute = CELL if deaf is DESK else DESK
    net.cut = {mute}
    net.run(STALE + 0.35)
    assert net.state(deaf) is LinkState.STALE
    assert net.state(mute) is LinkState.HALF_OPEN
    net.cut = set()
    net.run(0.4)
    assert net.state(CELL) is net.state(DESK) is LinkState.FRESH


def test_on_a_half_open_link_halts_arrive_and_new_motion_does_not(net):
    net.cut = {CELL}
    net.run(1.0)
    for topic in (OPERATIONS, TELEOP, HALT):
        net.send(DESK, topic, b"m")
    net.run(0.2)
    assert net.messages(CELL, HALT) == [b"m"]
    assert net.messages(CELL, OPERATIONS) == net.messages(CELL, TELEOP) == []
    assert net.session(CELL).counts[OPERATIONS].withheld == 1


def test_a_halt_that_is_sent_once_arrives_once_over_a_link_that_loses():
    net = Net(loss=0.3)
    net.run(2.0)
    assert net.state(CELL) is LinkState.FRESH
    for number in range(100):
        net.send(DESK, HALT, b"%d" % number)
        net.run(0.5)
    net.run(1.0)
    arrived = net.messages(CELL, HALT)
    assert len(arrived) == len(set(arrived))
    assert len(arrived) >= 95  # of a datagram sent once, 70


def test_a_flood_of_halts_makes_a_bounded_number_of_copies(net):
    before = len(net.taps)
    for _ in range(10):
        for number in range(100):
            net.send(DESK, HALT, b"%d" % number)
        net.run(0.05)
    net.run(2.0)
    assert len(net.messages(CELL, HALT)) >= 250
    assert len(net.taps) - before < 1000 + 10 * 300
    assert net.session(DESK).next_due(net.now + OFFSET[DESK]) > net.now + OFFSET[DESK]


def test_increments_that_come_too_late_are_not_delivered_and_halts_are():
    net = Net(delay=0.1)
    net.run(2.0)
    net.send(DESK, TELEOP, b"in time")
    net.run(0.5)
    net.delay = 0.7
    net.send(DESK, TELEOP, b"late")
    net.send(DESK, HALT, b"late")
    net.run(STEP)
    net.delay = 0.1
    net.run(2.0)
    assert net.messages(CELL, TELEOP) == [b"in time"]
    assert net.messages(CELL, HALT) == [b"late"]
    assert net.session(CELL).counts[TELEOP].late == 1


@pytest.mark.parametrize("delay", [0.5, 3.0, 20.0])
def test_increments_cross_a_link_of_any_delay(delay):
    net = Net(delay=delay)
    net.run(6.0 * delay)
    assert net.state(CELL) is LinkState.FRESH
    net.send(DESK, TELEOP, b"t")
    net.run(delay + 0.1)
    assert net.messages(CELL, TELEOP) == [b"t"]


def test_after_a_lasting_step_of_the_delay_increments_cross_again():
    net = Net(delay=0.1)
    net.run(10.0)
    net.delay = 1.0
    net.run(13.0)
    net.send(DESK, TELEOP, b"t")
    net.run(1.1)
    assert net.messages(CELL, TELEOP) == [b"t"]


def test_of_more_bulk_than_the_link_carries_whole_messages_arrive(net):
    thin = Net(rate=500e3)
    thin.run(1.0)
    for number in range(20):  # each takes 0.8 s of the rate
        thin.send(CELL, WORLD, bytes([number]) * 50_000)
        thin.run(0.25)
    thin.run(2.0)
    got = [message[0] for message in thin.messages(DESK, WORLD)]
    assert len(got) >= 5
    assert got == sorted(got)
    assert got[-1] == 19


@pytest.mark.parametrize("host", [CELL, DESK])
def test_a_host_that_was_killed_is_met_again_and_its_old_datagrams_stay_refused(net, host):
    net.send(DESK, OPERATIONS, b"before")
    net.send(CELL, REPORTS, b"report 1")
    net.run(0.5)
    recorded = [datagram for source, datagram in net.taps if source is host]
    net.got.clear()
    net.start(host)
    net.run(1.5)
    assert net.state(CELL) is net.state(DESK) is LinkState.FRESH
    other = DESK if host is CELL else CELL
    before, state = len(net.got), net.state(other)
    for datagram in recorded:
        net.deliver(other, datagram, host)
    assert len(net.got) == before
    assert net.state(other) is state
    net.run(1.0)
    assert net.state(CELL) is net.state(DESK) is LinkState.FRESH
    net.send(DESK, OPERATIONS, b"after")
    net.send(CELL, REPORTS, b"report 2")
    net.run(0.5)
    assert net.messages(CELL, OPERATIONS) == [b"after"]
    expected = [b"report 1", b"report 2"] if host is DESK else [b"report 2"]  # kept for who comes later
    assert net.messages(DESK, REPORTS) == expected


def test_what_is_said_before_the_peer_is_there_is_not_said_later_except_reports():
    net = Net()
    net.cut = {CELL, DESK}
    net.send(DESK, HALT, b"early")
    net.send(CELL, REPORTS, b"early")
    net.run(5.0)
    net.cut = set()
    net.run(3.0)
    assert net.messages(CELL, HALT) == []
    assert net.messages(DESK, REPORTS) == [b"early"]


def test_memory_is_bounded_when_nobody_answers(net):
    net.cut = {CELL, DESK}
    for _ in range(3000):
        net.send(CELL, REPORTS, bytes(1000))
    kept = net.ends[CELL]._line.kept[REPORTS]
    assert kept.latest == 3000
    assert kept.latest - kept.oldest < 256


def test_on_a_thin_link_states_go_before_bulk_and_the_rate_is_kept():
    net = Net(rate=500e3)
    net.run(1.0)
    net.taps.clear()
    bulk = bytes(250_000)  # 4 s of the rate
    net.send(CELL, WORLD, bulk)
    start, delays = net.now, []
    for number in range(40):
        before = len(net.messages(DESK, STATE))
        net.send(CELL, STATE, b"%d" % number)
        at = net.now
        while len(net.messages(DESK, STATE)) == before:
            net.run(STEP)
        delays.append(net.now - at)
        net.run(0.05)
    while not net.messages(DESK, WORLD):
        net.run(STEP)
    sent = sum(len(datagram) + 28 for source, datagram in net.taps if source is CELL)
    assert net.messages(DESK, WORLD) == [bulk]
    assert max(delays) <= 0.06
    assert sent * 8 <= 500e3 * (net.now - start + 0.1)
    assert net.session(CELL).counts[WORLD].sent_bytes == len(bulk)  # nothing was asked for that still waited
