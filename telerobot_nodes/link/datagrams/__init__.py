"""Datagrams of the link: their bytes, and the code or cipher that protects them."""

from __future__ import annotations

from telerobot_nodes.link.datagrams.bodies import (
    MOST_PART,
    MOST_ROWS,
    Beat,
    Data,
    Hello,
    Kept,
    Want,
    pack_wants,
    split,
    unpack_wants,
)
from telerobot_nodes.link.datagrams.cipher import CIPHER_PACKAGE, can_encrypt
from telerobot_nodes.link.datagrams.framing import CODE_BYTES, MOST_BYTES, Fault, Frame, Kind, decode, encode

__all__ = [
    "CIPHER_PACKAGE",
    "CODE_BYTES",
    "MOST_BYTES",
    "MOST_PART",
    "MOST_ROWS",
    "Beat",
    "Data",
    "Fault",
    "Frame",
    "Hello",
    "Kept",
    "Kind",
    "Want",
    "can_encrypt",
    "decode",
    "encode",
    "pack_wants",
    "split",
    "unpack_wants",
]
