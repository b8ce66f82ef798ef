"""Datagrams: what goes in comes out, and what was changed on the way does not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from telerobot_nodes.link.datagrams.bodies import (
    MOST_PART,
    Beat,
    Data,
    Hello,
    Kept,
    Want,
    pack_wants,
    split,
    unpack_wants,
)
from telerobot_nodes.link.datagrams.framing import (
    CODE_BYTES,
    MAGIC,
    MOST_BODY,
    MOST_BYTES,
    SIGNED,
    Fault,
    Frame,
    Kind,
    decode,
    encode,
)

KEY = bytes(range(32))
U64 = st.integers(0, 2**64 - 1)
FRAMES = st.builds(
    Frame,
    kind=st.sampled_from(Kind),
    role=st.integers(0, 1),
    interface=st.binary(min_size=8, max_size=8),
    life=U64,
    number=U64,
    stamp=st.integers(0, 2**40).map(lambda us: us * 1e-6),
    body=st.binary(max_size=MOST_BODY),
)
ROWS = st.lists(
    st.builds(Kept, st.integers(0, 255), st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1)), max_size=32
).map(tuple)


@given(FRAMES)
def test_a_frame_comes_out_as_it_went_in(frame):
    datagram = encode(frame, KEY)
    assert len(datagram) <= MOST_BYTES
    got = decode(datagram, KEY)
    assert got.stamp == pytest.approx(frame.stamp, abs=1e-6)
    assert [getattr(got, name) for name in ("kind", "role", "interface", "life", "number", "body")] == [
        getattr(frame, name) for name in ("kind", "role", "interface", "life", "number", "body")
    ]


@given(FRAMES, st.data())
def test_a_changed_bit_is_refused(frame, data):
    datagram = bytearray(encode(frame, KEY))
    at = data.draw(st.integers(0, len(datagram) - 1))
    datagram[at] ^= 1 << data.draw(st.integers(0, 7))
    assert decode(bytes(datagram), KEY) in (Fault.FORGED, Fault.NOT_OURS, Fault.OTHER_VERSION)


@given(FRAMES, st.data())
@pytest.mark.lengthy
def test_a_cut_or_lengthened_datagram_is_refused(frame, data):
    datagram = encode(frame, KEY)
    shorter = datagram[: data.draw(st.integers(0, len(datagram) - 1))]
    assert isinstance(decode(shorter, KEY), Fault)
    assert isinstance(decode(datagram + data.draw(st.binary(min_size=1, max_size=50)), KEY), Fault)
    assert decode(datagram + bytes(MOST_BYTES), KEY) is Fault.OVERSIZED


@given(st.binary(max_size=2 * MOST_BYTES))
def test_any_bytes_are_refused_without_an_error(noise):
    assert isinstance(decode(noise, KEY), Fault)
    assert isinstance(decode((MAGIC + bytes([SIGNED]) + noise)[:MOST_BYTES], KEY), Fault)


def test_another_key_and_another_version_are_told_apart():
    datagram = encode(Frame(Kind.BEAT, 0, b"12345678", 1, 1, 0.0, b""), KEY)
    assert decode(datagram, b"") is Fault.FORGED
    assert decode(MAGIC + b"\x63" + datagram[3:], KEY) is Fault.OTHER_VERSION
    assert decode(b"XX" + datagram[2:], KEY) is Fault.NOT_OURS
    assert decode(datagram[: CODE_BYTES - 1], KEY) is Fault.TRUNCATED


@given(U64, U64, U64, st.text(max_size=15), st.text(max_size=15), ROWS)
@pytest.mark.lengthy
def test_a_hello_comes_out_as_it_went_in(nonce, heard_nonce, life, host, robot, rows):
    hello = Hello(nonce, heard_nonce, life, host, "1.0", robot, rows)
    assert len(hello.pack()) <= MOST_BODY
    assert Hello.unpack(hello.pack()) == hello


@given(U64, st.integers(0, 10**9), st.integers(0, 10**6), ROWS, st.integers(0, 2**40))
def test_a_beat_comes_out_as_it_went_in(life, stamp, age, rows, refused):
    beat = Beat(life, stamp * 1e-6, 0.25, age * 1e-3, rows, refused)
    got = Beat.unpack(beat.pack())
    assert (got.heard_life, got.kept, got.held) == (life, rows, 0.25)
    assert got.refused == min(refused, 2**32 - 1)
    assert got.age == pytest.approx(beat.age)
    assert Beat.unpack(Beat(life, 0.0, 0.0, float("inf")).pack()).age == float("inf")


@given(st.binary(max_size=MOST_BODY))
def test_bodies_of_any_bytes_are_read_or_refused_without_an_error(noise):
    for unpack in (Hello.unpack, Beat.unpack, Data.unpack, unpack_wants):
        unpack(noise)


@given(st.binary(max_size=5 * MOST_PART), st.integers(1, 2**32 - 1))
def test_the_parts_of_a_message_are_the_message(message, number):
    parts = [Data.unpack(part.pack()) for part in split(3, number, message)]
    assert b"".join(part.payload for part in parts) == message
    assert [(part.topic, part.number, part.part, part.parts) for part in parts] == [
        (3, number, at, len(parts)) for at in range(len(parts))
    ]


def test_a_part_in_the_middle_that_is_not_full_is_refused():
    assert Data.unpack(Data(0, 1, 0, 2, b"short").pack()) is None
    assert Data.unpack(Data(0, 1, 2, 2, b"").pack()) is None


def test_asks_come_out_as_they_went_in():
    wants = [Want(1, 7), Want(2, 9, 3, 4)]
    assert unpack_wants(pack_wants(wants)) == wants
    assert unpack_wants(b"") is None
