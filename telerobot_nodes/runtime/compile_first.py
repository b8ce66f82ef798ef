"""Compile what the nodes of a graph would compile one by one, before they start and only once."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

from telerobot_nodes._numba_cache import is_compiled

COMMAND = (sys.executable, "-m", "telerobot_nodes.runtime.precompile", "demo")


def compile_first(show: Callable[[str], None], command: tuple[str, ...] = COMMAND) -> bool:
    """Compile the control loop, plan and arm in another process unless that was done; False when it failed.

    A failure is no reason not to start: each node then compiles what it needs itself.
    """
    if is_compiled("demo"):
        return True
    show("compiling the control loop, once, about a minute on a quiet machine")
    return subprocess.run(command, check=False).returncode == 0
