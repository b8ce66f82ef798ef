"""Stand-in processes in place of the nodes, for tests of the supervisor."""

import sys
import time
from pathlib import Path

from telerobot_nodes.runtime import GraphOptions

LIVES = 'print(f"telerobot: {name} ready", flush=True); time.sleep(600)'
PRELUDE = "import os, signal, subprocess, sys, time\nname = sys.argv[1]\n"
ROBOT = tuple(entry.name for entry in GraphOptions("robot").nodes)
PATIENCE = 30.0  # [s] for what takes milliseconds


def stand_in(**scripts):
    """Commands that run a Python script per node; those not named live until stopped."""

    def command(name, options):
        return [sys.executable, "-S", "-c", PRELUDE + scripts.get(name, LIVES), name]

    return command


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until(predicate):
    deadline = time.monotonic() + PATIENCE
    while not predicate():
        assert time.monotonic() < deadline
        time.sleep(0.01)
