"""Who sends: `host/role/life`. The life is random, so no process is taken for another of its name or number."""

from __future__ import annotations

import os
import secrets
import socket
from functools import lru_cache


def identity(role: str) -> str:
    """The identity of this process in a role, such as `shell` or `console`."""
    return f"{socket.gethostname() or 'host'}/{role}/{_life(os.getpid())}"


def role_of(sender: str) -> str:
    """The role in an identity; a sender without one is its own role."""
    parts = sender.split("/")
    return parts[1] if len(parts) == 3 else sender


@lru_cache(maxsize=1)
def _life(_process: int) -> str:
    """64 random bits, others after a fork."""
    return secrets.token_hex(8)
