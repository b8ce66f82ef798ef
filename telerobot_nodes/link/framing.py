"""Datagrams of the link: header, body, authentication code.

What belongs here: bytes to fields and back, and why bytes are refused. What must never enter: sockets, clocks, states.

    header                                                              body   code
    magic 2, version 1, kind 1, role 1, interface 8, life 8, number 8, stamp 8      HMAC-SHA256, first 16 bytes

`life` is random at each start of a session, `number` counts its datagrams from 1, `stamp` is the sender's monotonic
clock in microseconds. Integers are big-endian. The code covers header and body; nothing is read before it is verified.
"""

from __future__ import annotations

import hmac
import struct
from dataclasses import dataclass
from enum import Enum, IntEnum

MAGIC = b"TL"
VERSION = 1
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


def encode(frame: Frame, key: bytes) -> bytes:
    """The bytes of a frame."""
    head = _HEADER.pack(
        MAGIC,
        VERSION,
        frame.kind,
        frame.role,
        frame.interface,
        frame.life,
        frame.number,
        max(0, round(frame.stamp * 1e6)),
    )
    return head + frame.body + _code(head + frame.body, key)


def decode(datagram: bytes, key: bytes) -> Frame | Fault:
    """The frame in a datagram, or why it is refused."""
    if not _HEADER.size + CODE_BYTES <= len(datagram) <= MOST_BYTES:
        return Fault.OVERSIZED if len(datagram) > MOST_BYTES else Fault.TRUNCATED
    magic, version, kind, role, interface, life, number, stamp = _HEADER.unpack_from(datagram)
    if (magic, version) != (MAGIC, VERSION):
        return Fault.OTHER_VERSION if magic == MAGIC else Fault.NOT_OURS
    if not hmac.compare_digest(_code(datagram[:-CODE_BYTES], key), datagram[-CODE_BYTES:]):
        return Fault.FORGED
    if kind not in tuple(Kind):
        return Fault.MALFORMED
    return Frame(Kind(kind), role, interface, life, number, stamp * 1e-6, datagram[_HEADER.size : -CODE_BYTES])


def _code(data: bytes, key: bytes) -> bytes:
    return hmac.digest(key, data, "sha256")[:CODE_BYTES]
