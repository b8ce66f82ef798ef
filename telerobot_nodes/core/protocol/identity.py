"""Who sends: `host/role/life`. The life is random, so no process is taken for another of its name or number."""

from __future__ import annotations

import os
import secrets
import socket
from dataclasses import dataclass
from functools import lru_cache


def identity(role: str) -> str:
    """The identity of this process in a role, such as `shell` or `console`."""
    return f"{socket.gethostname() or 'host'}/{role}/{_life(os.getpid())}"


def role_of(sender: str) -> str:
    """The role in an identity; a sender without one is its own role."""
    parts = sender.split("/")
    return parts[1] if len(parts) == 3 else sender


@dataclass(frozen=True)
class HaltId:
    """Names one halt, the same in all its copies, whichever way they take. Number 0: without a name."""

    agent: str
    number: int  # the sender's own

    @classmethod
    def of_text(cls, sender: str, number: int) -> HaltId:
        """The halt of a text: not that of a button of the same process, which counts for itself."""
        return cls(f"{sender}.text", number)


@lru_cache(maxsize=1)
def _life(_process: int) -> str:
    """64 random bits, others after a fork."""
    return secrets.token_hex(8)
