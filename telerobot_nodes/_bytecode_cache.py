"""Where Python keeps the bytecode of a process that must leave none beside the sources.

Container images often set PYTHONDONTWRITEBYTECODE. Every node would then parse all its modules at each start: nearly
three seconds of processor time, times the nodes of a graph.
"""

from __future__ import annotations

import sys

from telerobot_nodes._user_folders import user_cache


def use_cache() -> None:
    """Keep bytecode in the user's cache folder when none may lie beside the sources; unless the user named a folder."""
    if not sys.dont_write_bytecode or sys.pycache_prefix is not None:
        return
    folder = user_cache("bytecode")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return  # no home to write to
    sys.pycache_prefix = str(folder)
    sys.dont_write_bytecode = False
