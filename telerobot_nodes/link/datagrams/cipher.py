"""The link's cipher, for hosts files with `encrypt`: ChaCha20-Poly1305 [NirLangley2018] of the package `cryptography`.

Each session of each side has a key of its own, derived from the link's; the number of the datagram, which no session
repeats, is the nonce. The header stays readable, and is authenticated with the body.
"""

from __future__ import annotations

import hmac
from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

CIPHER_PACKAGE = "cryptography"
_PURPOSE = b"telerobot link, encrypted"
_KNOWN = 64  # senders whose keys are kept


class Sender(NamedTuple):
    """One session of one side."""

    role: int  # 0 robot, 1 operator
    life: int  # random, 64 bits


def can_encrypt() -> bool:
    """Whether the package is installed."""
    return find_spec(CIPHER_PACKAGE) is not None


def encrypt(key: bytes, sender: Sender, number: int, body: bytes, head: bytes) -> bytes:
    """The body, unreadable without the key, and its code of 16 bytes, which covers `head` too."""
    return _cipher(key, sender).encrypt(_nonce(number), body, head)


def decrypt(key: bytes, sender: Sender, number: int, data: bytes, head: bytes) -> bytes | None:
    """The body; None when it was not encrypted with this key, by this sender, with this number and head."""
    from cryptography.exceptions import InvalidTag

    try:
        return _cipher(key, sender).decrypt(_nonce(number), data, head)
    except InvalidTag:
        return None


def _nonce(number: int) -> bytes:
    return number.to_bytes(12, "big")


@lru_cache(maxsize=_KNOWN)
def _cipher(key: bytes, sender: Sender) -> ChaCha20Poly1305:
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

    purpose = _PURPOSE + sender.role.to_bytes(1, "big") + sender.life.to_bytes(8, "big")
    return ChaCha20Poly1305(hmac.digest(key, purpose, "sha256"))
