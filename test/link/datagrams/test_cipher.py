"""Encrypted datagrams: unreadable and unchangeable without the key; both hosts encrypt, or none."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulated_net import CELL, DESK, HALT, OPERATIONS, Net

from telerobot_nodes.core.protocol import LinkState
from telerobot_nodes.link import Fault, Frame, Kind, decode, encode
from telerobot_nodes.link.datagrams.framing import ENCRYPTED, MOST_BODY, MOST_BYTES

KEY = bytes(range(32))
SECRET = b"move the arm to the patient's left"
FRAME = Frame(Kind.DATA, 1, b"12345678", 2**63 + 1, 2**40, 12.5, SECRET)


@given(st.binary(max_size=MOST_BODY), st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1), st.integers(0, 1))
def test_a_frame_comes_out_as_it_went_in(body, life, number, role):
    frame = Frame(Kind.BEAT, role, b"12345678", life, number, 1.0, body)
    datagram = encode(frame, KEY, encrypted=True)
    assert len(datagram) == len(encode(frame, KEY)) <= MOST_BYTES
    assert decode(datagram, KEY, encrypted=True) == frame


def test_the_body_is_not_in_the_datagram_and_no_two_are_alike():
    one, two, other_life, other_side = (
        encode(dataclasses.replace(FRAME, **change), KEY, encrypted=True)
        for change in ({}, {"number": 7}, {"life": 9}, {"role": 0})
    )
    assert SECRET in encode(FRAME, KEY)
    size = len(SECRET) + 16
    bodies = [datagram[-size:] for datagram in (one, two, other_life, other_side)]
    assert len(set(bodies)) == 4
    for body in bodies:
        assert not any(SECRET[at : at + 4] in body for at in range(len(SECRET) - 4))
    differences = [bytes(a ^ b for a, b in zip(bodies[0], body, strict=True))[:8] for body in bodies[1:]]
    assert bytes(8) not in differences  # never the same key stream


@given(st.data())
def test_a_changed_bit_is_refused_in_the_header_too(data):
    datagram = bytearray(encode(FRAME, KEY, encrypted=True))
    at = data.draw(st.integers(0, len(datagram) - 1))
    datagram[at] ^= 1 << data.draw(st.integers(0, 7))
    assert isinstance(decode(bytes(datagram), KEY, encrypted=True), Fault)


@given(st.binary(max_size=MOST_BYTES))
def test_any_bytes_are_refused_without_an_error(noise):
    assert isinstance(decode(noise, KEY, encrypted=True), Fault)
    assert isinstance(decode((b"TL\x02" + noise)[:MOST_BYTES], KEY, encrypted=True), Fault)


def test_another_key_and_a_host_that_does_not_encrypt_are_refused():
    datagram = encode(FRAME, KEY, encrypted=True)
    assert decode(datagram, bytes(32), encrypted=True) is Fault.FORGED
    assert decode(datagram, KEY) is Fault.OTHER_CIPHER
    assert decode(encode(FRAME, KEY), KEY, encrypted=True) is Fault.OTHER_CIPHER
    assert decode(b"TL\x63" + datagram[3:], KEY, encrypted=True) is Fault.OTHER_VERSION


def test_two_hosts_that_encrypt_work_over_loss_and_nothing_of_theirs_is_readable():
    net = Net(delay=0.2, loss=0.05, jitter=0.1, encrypts=True)
    net.start(CELL, encrypts=True)
    net.run(3.0)
    assert net.state(CELL) is net.state(DESK) is LinkState.FRESH
    for number in range(20):
        net.send(DESK, OPERATIONS, b"operation %d" % number)
        net.run(0.1)
    net.send(DESK, HALT, b"halt, please")
    net.run(2.0)
    assert net.messages(CELL, HALT) == [b"halt, please"]
    assert len(net.messages(CELL, OPERATIONS)) >= 15  # what is lost is the log's to repair
    assert not any(b"operation" in datagram or b"halt" in datagram for _, datagram in net.taps)
    assert all(datagram[2] == ENCRYPTED for _, datagram in net.taps)


@pytest.mark.parametrize("encrypts", [CELL, DESK])
def test_one_host_that_encrypts_and_one_that_does_not_exchange_nothing(encrypts):
    net = Net()
    net.start(CELL, encrypts=encrypts is CELL)
    net.start(DESK, encrypts=encrypts is DESK)
    net.run(3.0)
    assert LinkState.FRESH not in (net.state(CELL), net.state(DESK))
    assert set(net.ends[CELL].faults()) == set(net.ends[DESK].faults()) == {Fault.OTHER_CIPHER}
