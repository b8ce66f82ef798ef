"""Datagrams of the link: header, body, authentication code.

What belongs here: bytes to fields and back, and why bytes are refused. What must never enter: sockets, clocks, states.

    header                                                              body   code
    magic 2, version 1, kind 1, role 1, interface 8, life 8, number 8, stamp 8      16 bytes

`life` is random at each start of a session, `number` counts its datagrams from 1, `stamp` is the sender's monotonic
clock in microseconds. Integers are big-endian. The code covers header and body; nothing is read before it is verified.
Version 1 is signed: the code is the beginning of an HMAC-SHA256. Version 2 is encrypted: the body is unreadable without
the key, and the code is that of the cipher (`cipher.py`). A link takes datagrams of one of the two.
"""

from __future__ import annotations

import hmac
import struct
from dataclasses import dataclass
from enum import Enum, IntEnum

from telerobot_nodes.link.datagrams.cipher import Sender, decrypt, encrypt

MAGIC = b"TL"
SIGNED, ENCRYPTED = 3, 4  # versions; 1 and 2 had beats without `refused`
MOST_BYTES = 1200  # of a datagram: no network on the way has to split it
CODE_BYTES = 16
INTERFACE_BYTES = 8
_HEADER = struct.Struct(">2sBBB8sQQQ")
MOST_BODY = MOST_BYTES - _HEADER.size - CODE_BYTES


class Kind(IntEnum):
    """What a datagram carries."""

    HELLO = 1
    BEAT = 2
    DATA = 3
    ASK = 4


class Fault(Enum):
    """Why a datagram is refused."""

    STRANGER = "from an address that the hosts file does not name"
    OVERSIZED = "longer than a datagram of the link"
    TRUNCATED = "shorter than header and code"
    NOT_OURS = "not a datagram of the link"
    OTHER_VERSION = "of another version of the link"
    OTHER_CIPHER = "one host encrypts, the other does not"
    FORGED = "the authentication code is wrong: another key, or altered"
    OTHER_INTERFACE = "of a host with other topics or messages"
    OWN_SIDE = "from a host of this side"
    OTHER_LIFE = "of a session that is not open"
    REPEATED = "received before, or too old to know"
    MALFORMED = "the body is not of its kind"


@dataclass(frozen=True)
class Frame:
    """One datagram, verified."""

    kind: Kind
    role: int  # of the sender: 0 robot, 1 operator
    interface: bytes  # (8 bytes) hash of topics and messages
    life: int
    number: int
    stamp: float  # [s] sender's monotonic clock
    body: bytes


def encode(frame: Frame, key: bytes, encrypted: bool = False) -> bytes:
    """The bytes of a frame."""
    head = _HEADER.pack(
        MAGIC,
        ENCRYPTED if encrypted else SIGNED,
        frame.kind,
        frame.role,
        frame.interface,
        frame.life,
        frame.number,
        max(0, round(frame.stamp * 1e6)),
    )
    if encrypted:
        return head + encrypt(key, Sender(frame.role, frame.life), frame.number, frame.body, head)
    return head + frame.body + _code(head + frame.body, key)


def decode(datagram: bytes, key: bytes, encrypted: bool = False) -> Frame | Fault:
    """The frame in a datagram, or why it is refused."""
    if not _HEADER.size + CODE_BYTES <= len(datagram) <= MOST_BYTES:
        return Fault.OVERSIZED if len(datagram) > MOST_BYTES else Fault.TRUNCATED
    magic, version, kind, role, interface, life, number, stamp = _HEADER.unpack_from(datagram)
    if magic != MAGIC:
        return Fault.NOT_OURS
    if version != (ENCRYPTED if encrypted else SIGNED):
        return Fault.OTHER_CIPHER if version in (SIGNED, ENCRYPTED) else Fault.OTHER_VERSION
    if encrypted:
        head, rest = datagram[: _HEADER.size], datagram[_HEADER.size :]
        body = decrypt(key, Sender(role, life), number, rest, head)
    else:
        body = _verified(datagram, key)
    if body is None:
        return Fault.FORGED
    if kind not in tuple(Kind):
        return Fault.MALFORMED
    return Frame(Kind(kind), role, interface, life, number, stamp * 1e-6, body)


def _verified(datagram: bytes, key: bytes) -> bytes | None:
    signed, code = datagram[:-CODE_BYTES], datagram[-CODE_BYTES:]
    return signed[_HEADER.size :] if hmac.compare_digest(_code(signed, key), code) else None


def _code(data: bytes, key: bytes) -> bytes:
    return hmac.digest(key, data, "sha256")[:CODE_BYTES]
