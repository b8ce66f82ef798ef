"""Where this user's files lie that no configuration names: caches, which may be deleted, and state, which may not."""

from __future__ import annotations

import os
from pathlib import Path


def user_cache(name: str) -> Path:
    """The folder or file `name` among what is made again when it is gone; not made here."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "telerobot" / name


def user_state(name: str) -> Path:
    """The folder or file `name` among what stays; not made here."""
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "telerobot" / name
