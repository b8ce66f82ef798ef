"""Hostile datagrams, made from what an attacker can have: bytes that passed, a key of his own, the link's format.

What belongs here: bytes to bytes. What must never enter: sockets, clocks, ROS.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from itertools import cycle, islice
from random import Random
from typing import Any, NamedTuple

from telerobot_nodes.link import MOST_BYTES, Data, Frame, Kind, decode, encode

FORGED = 1_000_000  # first number of the messages that nobody but an attacker sends
AHEAD = 5_000  # datagrams by which a forger's numbers are ahead of the sender's
BEGINNING = encode(Frame(Kind.BEAT, 0, bytes(8), 1, 1, 0.0, b""), b"")[:3]  # of every signed datagram


class Command(NamedTuple):
    """A message that an attacker would like to have delivered."""

    topic: int
    message: bytes


def opened(datagrams: Sequence[bytes], key: bytes, kind: Kind | None = None) -> list[Frame]:
    """The frames of datagrams with a right code; of one `kind` only, if it is given."""
    frames = [frame for one in datagrams if isinstance(frame := decode(one, key), Frame)]
    return [frame for frame in frames if kind is None or frame.kind is kind]


def noise(draw: Random, count: int) -> list[bytes]:
    """Bytes at random, half of them with the beginning of a datagram of the link."""
    made = [draw.randbytes(draw.randrange(1, MOST_BYTES)) for _ in range(count)]
    return [BEGINNING + one if at % 2 else one for at, one in enumerate(made)]


def repeated(datagrams: Sequence[bytes], count: int) -> list[bytes]:
    """So many of them, from the first on, again and again. Raises ValueError when there are none."""
    if not datagrams:
        raise ValueError("no datagrams were recorded")
    return list(islice(cycle(datagrams), count))


def altered(draw: Random, datagrams: Sequence[bytes], count: int) -> list[bytes]:
    """Recorded datagrams with one bit turned, cut short, made longer, and with another one's header."""
    changes = _turned, _truncated, _extended, _spliced
    sources = repeated(datagrams, count)
    return [changes[at % len(changes)](draw, one, draw.choice(datagrams)) for at, one in enumerate(sources)]


def _turned(draw: Random, datagram: bytes, _other: bytes) -> bytes:
    at = draw.randrange(len(datagram))
    return datagram[:at] + bytes([datagram[at] ^ (1 << draw.randrange(8))]) + datagram[at + 1 :]


def _truncated(draw: Random, datagram: bytes, _other: bytes) -> bytes:
    return datagram[: draw.randrange(1, len(datagram))]


def _extended(draw: Random, datagram: bytes, _other: bytes) -> bytes:
    return datagram + draw.randbytes(draw.choice((1, 8, MOST_BYTES)))


def _spliced(draw: Random, datagram: bytes, other: bytes) -> bytes:
    """The first half of one, the rest of another: both whole and authentic before."""
    cut = len(datagram) // 2
    made = datagram[:cut] + other[cut:]
    return made if made not in (datagram, other) else _turned(draw, datagram, other)


def forged(sample: Frame, commands: Sequence[Command], key: bytes, count: int) -> list[bytes]:
    """Commands in datagrams that continue the session of `sample`, with the code of `key`."""
    bodies = _bodies(commands)
    return [
        encode(dataclasses.replace(sample, kind=Kind.DATA, number=sample.number + AHEAD + at, body=next(bodies)), key)
        for at in range(count)
    ]


def _bodies(commands: Sequence[Command]) -> Iterator[bytes]:
    for at, command in enumerate(cycle(commands)):
        yield Data(command.topic, FORGED + at, 0, 1, command.message).pack()


def renamed(frames: Sequence[Frame], key: bytes, **fields: Any) -> list[bytes]:
    """Datagrams of a host that has the key, with other fields of the header."""
    return [encode(dataclasses.replace(frame, **fields), key) for frame in frames]


def redirected(frames: Sequence[Frame], key: bytes, topic: int) -> list[bytes]:
    """Datagrams of a host that has the key, with a topic that its role does not send."""
    made = []
    for frame in frames:
        data = Data.unpack(frame.body)
        if data is not None:
            made.append(encode(dataclasses.replace(frame, body=dataclasses.replace(data, topic=topic).pack()), key))
    return made
