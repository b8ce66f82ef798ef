"""What is not of the open session: strangers, replays, altered datagrams, peers that do not fit; on a simulated net."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simulated_net import CELL, DESK, HALT, KEY, OPERATIONS, STALE, TOPICS, UPWARD, Net

from telerobot_nodes.core.protocol import LinkState
from telerobot_nodes.link import Endpoint, Fault, Identity, Peer
from telerobot_nodes.link.datagrams import MOST_BYTES, Data, Frame, Hello, Kind, decode, encode

pytestmark = pytest.mark.lengthy  # together some seconds


@pytest.mark.parametrize(
    ("field", "value", "fault"), [("life", 99, Fault.OTHER_LIFE), ("interface", b"87654321", Fault.OTHER_INTERFACE)]
)
def test_a_datagram_that_is_not_of_the_open_session_is_refused(net, field, value, fault):
    body = Data(HALT, 77, 0, 1, b"halt").pack()
    fields = {"life": net.session(DESK)._life, "interface": b"12345678", field: value}
    frame = Frame(Kind.DATA, 1, number=10_000, stamp=net.now, body=body, **fields)
    net.deliver(CELL, encode(frame, KEY), DESK)
    assert net.messages(CELL, HALT) == []
    assert net.ends[CELL].faults() == {fault: 1}


def test_a_replay_of_the_whole_session_delivers_nothing(net):
    for number in range(50):
        net.send(DESK, OPERATIONS, b"%d" % number)
        net.run(0.05)
    before = list(net.got)
    for source, datagram in list(net.taps):
        net.deliver(DESK if source is CELL else CELL, datagram, source)
        net.deliver(source, datagram, DESK if source is CELL else CELL)  # and back to where it came from
    assert net.got == before
    assert net.ends[CELL].faults()[Fault.REPEATED] >= 50
    assert net.ends[CELL].faults()[Fault.OWN_SIDE] > 0


def test_altered_truncated_and_strange_datagrams_are_counted_and_change_nothing(net):
    net.send(DESK, HALT, b"halt")
    net.run(0.1)
    before, datagrams = list(net.got), [datagram for source, datagram in net.taps if source is DESK]
    for datagram in datagrams:
        net.deliver(CELL, datagram[:-1] + bytes([datagram[-1] ^ 1]), DESK)
        net.deliver(CELL, datagram[:20], DESK)
        net.deliver(CELL, datagram + bytes(MOST_BYTES), DESK)
        net.deliver(CELL, datagram, ("10.0.0.66", 7602))
    count, faults = len(datagrams), net.ends[CELL].faults()
    assert net.got == before
    for fault in (Fault.FORGED, Fault.TRUNCATED, Fault.OVERSIZED, Fault.STRANGER):
        assert faults[fault] == count
    assert net.state(CELL) is LinkState.FRESH


@settings(max_examples=200)
@given(st.lists(st.tuples(st.sampled_from(Kind), st.binary(max_size=200)), max_size=30))
def test_any_body_from_a_peer_with_the_key_costs_no_error(bodies):
    net = Net()
    net.run(0.6)
    session = net.session(DESK)
    for at, (kind, body) in enumerate(bodies):
        frame = Frame(kind, 1, b"12345678", session._life, 1000 + at, net.now, body)
        net.deliver(CELL, encode(frame, KEY), DESK)
    net.run(0.1)


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("interface", b"87654321", "topics or messages differ"),
        ("robot", "ur5", "the robot differs"),
        ("host", "table", "in the hosts file"),
    ],
)
def test_a_peer_that_does_not_fit_is_refused_and_told_and_nothing_crosses(field, value, said):
    net = Net(**{field: value, "version": "0.9"})
    net.run(2.0)
    assert net.state(CELL) is LinkState.REFUSED
    assert said in net.session(CELL).watch.mismatch
    for topic in (HALT, OPERATIONS):
        net.send(DESK, topic, b"m")
    net.run(0.5)
    assert net.got == []
    net.start(DESK)
    net.run(1.0)
    assert net.state(CELL) is net.state(DESK) is LinkState.FRESH


def test_hosts_with_different_keys_never_meet():
    net = Net()
    net.start(DESK, key=b"x" * 32)
    net.run(2.0)
    assert net.state(CELL) is net.state(DESK) is LinkState.WAITING
    assert net.ends[CELL].faults()[Fault.FORGED] > 5


def test_the_key_of_one_host_opens_nothing_in_the_name_of_another():
    office = ("127.0.0.1", 7603)
    peers = [Peer("desk", DESK, key=KEY), Peer("office", office, key=b"o" * 32)]
    end = Endpoint(Identity("cell", 0, b"12345678"), peers, TOPICS, UPWARD, STALE, lambda: 5)
    hello = encode(Frame(Kind.HELLO, 1, b"12345678", 9, 1, 0.0, Hello(1, 0, 0, "office", "", "").pack()), KEY)
    end.receive(0.0, hello, DESK)
    assert not end.faults()
    end.receive(0.0, hello, office)
    assert end.faults() == {Fault.FORGED: 1}
    for datagram, address in end.poll(0.0):
        assert isinstance(decode(datagram, KEY), Frame) == (address == DESK)
