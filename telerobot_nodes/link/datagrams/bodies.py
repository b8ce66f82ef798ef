"""The four bodies of a datagram: hello, beat, data, ask. Unpacking returns None for bytes that are not of the kind."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import NamedTuple

from telerobot_nodes.link.datagrams.framing import MOST_BODY

MOST_TEXT = 64  # bytes of a text in a hello
MOST_ROWS = 32
ALL_PARTS = 0xFFFF
MOST_REFUSED = 0xFFFF_FFFF
_HELLO = struct.Struct(">QQQ")
_BEAT = struct.Struct(">QQIII")
_DATA = struct.Struct(">BIHH")
_ROW = struct.Struct(">BII")
_WANT = struct.Struct(">BIHH")
MOST_PART = MOST_BODY - _DATA.size  # bytes of a message in one datagram
_NEVER = 0xFFFFFFFF


class Kept(NamedTuple):
    """Numbers of a topic whose messages the sender can still send again."""

    topic: int
    oldest: int
    latest: int


class Want(NamedTuple):
    """Parts of a message that are asked for again."""

    topic: int
    number: int
    first: int = 0
    parts: int = ALL_PARTS


@dataclass(frozen=True)
class Hello:
    """Who sends, and what proves that it receives from the other side now."""

    nonce: int  # to be echoed; another after each session that was opened
    heard_nonce: int  # the other side's latest
    heard_life: int  # of the other side's session that is open here; 0: none
    host: str
    version: str
    robot: str
    kept: tuple[Kept, ...] = ()

    def pack(self) -> bytes:
        """The body's bytes."""
        texts = b"".join(_packed(text) for text in (self.host, self.version, self.robot))
        return _HELLO.pack(self.nonce, self.heard_nonce, self.heard_life) + texts + _rows(self.kept)

    @staticmethod
    def unpack(body: bytes) -> Hello | None:
        """The hello in a body."""
        if len(body) < _HELLO.size:
            return None
        nonce, heard_nonce, heard_life = _HELLO.unpack_from(body)
        at, texts = _HELLO.size, []
        for _ in range(3):
            length = body[at] if at < len(body) else MOST_TEXT + 1
            if length > MOST_TEXT or at + 1 + length > len(body):
                return None
            texts.append(body[at + 1 : at + 1 + length].decode("utf-8", "replace"))
            at += 1 + length
        kept = _unpacked_rows(body[at:])
        return None if kept is None else Hello(nonce, heard_nonce, heard_life, texts[0], texts[1], texts[2], kept)


@dataclass(frozen=True)
class Beat:
    """A heartbeat: what was received from the other side, and when."""

    heard_life: int  # 0: none
    heard_stamp: float  # [s] stamp of the other side's latest beat, on its clock
    held: float  # [s] since that beat arrived
    age: float  # [s] since anything of the other side arrived; infinite: never
    kept: tuple[Kept, ...] = ()
    refused: int = 0  # what its host has refused since the alarm was raised; 0: no alarm

    def pack(self) -> bytes:
        """The body's bytes."""
        numbers = self.heard_life, round(self.heard_stamp * 1e6), _milliseconds(self.held), _milliseconds(self.age)
        return _BEAT.pack(*numbers, min(self.refused, MOST_REFUSED)) + _rows(self.kept)

    @staticmethod
    def unpack(body: bytes) -> Beat | None:
        """The beat in a body."""
        if len(body) < _BEAT.size:
            return None
        life, stamp, held, age, refused = _BEAT.unpack_from(body)
        kept = _unpacked_rows(body[_BEAT.size :])
        return None if kept is None else Beat(life, stamp * 1e-6, _seconds(held), _seconds(age), kept, refused)


@dataclass(frozen=True)
class Data:
    """One part of a message of a topic."""

    topic: int
    number: int  # of the message on this topic
    part: int
    parts: int
    payload: bytes

    def pack(self) -> bytes:
        """The body's bytes."""
        return _DATA.pack(self.topic, self.number, self.part, self.parts) + self.payload

    @staticmethod
    def unpack(body: bytes) -> Data | None:
        """The part in a body."""
        if len(body) < _DATA.size:
            return None
        topic, number, part, parts = _DATA.unpack_from(body)
        data = Data(topic, number, part, parts, body[_DATA.size :])
        full = len(data.payload) == MOST_PART
        last = data.part == data.parts - 1
        return data if data.number and data.part < data.parts and (full or last) else None


def split(topic: int, number: int, message: bytes) -> list[Data]:
    """The parts of a message; raises no error: the caller bounds its size."""
    parts = max(1, -(-len(message) // MOST_PART))
    cuts = [message[at * MOST_PART : (at + 1) * MOST_PART] for at in range(parts)]
    return [Data(topic, number, at, parts, cut) for at, cut in enumerate(cuts)]


def pack_wants(wants: list[Want]) -> bytes:
    """The body of an ask."""
    return b"".join(_WANT.pack(*want) for want in wants[:MOST_ROWS])


def unpack_wants(body: bytes) -> list[Want] | None:
    """The rows of an ask."""
    if not body or len(body) % _WANT.size or len(body) > MOST_ROWS * _WANT.size:
        return None
    return [Want(*row) for row in _WANT.iter_unpack(body)]


def _packed(text: str) -> bytes:
    data = text.encode("utf-8", "replace")[:MOST_TEXT]
    return bytes([len(data)]) + data


def _rows(kept: tuple[Kept, ...]) -> bytes:
    return b"".join(_ROW.pack(*row) for row in kept[:MOST_ROWS])


def _unpacked_rows(data: bytes) -> tuple[Kept, ...] | None:
    if len(data) % _ROW.size or len(data) > MOST_ROWS * _ROW.size:
        return None
    return tuple(Kept(*row) for row in _ROW.iter_unpack(data))


def _milliseconds(seconds: float) -> int:
    return _NEVER if seconds >= 0.001 * _NEVER else max(0, round(1e3 * seconds))


def _seconds(milliseconds: int) -> float:
    return float("inf") if milliseconds == _NEVER else 1e-3 * milliseconds
