"""The robot's graph, its decision unit under load, and a probe that halts it: shared by the benches of halts."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from telerobot_nodes.bench.rtc.halt_trace import Setpoint
from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.runtime import GraphOptions, Supervisor, join_graph

if TYPE_CHECKING:
    from telerobot_nodes.nodes.probes import HaltProbe

LIMIT = 100.0  # [s] for the graph to be ready
NOISE_STARTS = 3.0  # [s]
TEXTS = ("move right_arm to dock", "where module", "move nothing to dock", "try lift box with right_arm")


@contextlib.contextmanager
def robot_graph(without: tuple[str, ...] = (), params: Path | None = None) -> Iterator[Supervisor]:
    """The robot's graph, ready. Raises TelerobotError."""
    join_graph()
    said: dict[str, str] = {}  # latest line of each node
    supervisor = Supervisor(GraphOptions("robot", params=params, without=without), on_line=said.__setitem__)
    supervisor.start()
    try:
        if not supervisor.wait_ready(LIMIT):
            late = ", ".join(f"{name} ({said.get(name, 'silent')})" for name in supervisor.waiting_for())
            raise TelerobotError(f"not ready after {LIMIT:g} s: {late}")
        yield supervisor
    finally:
        supervisor.stop()


@contextlib.contextmanager
def halt_probe() -> Iterator[HaltProbe]:
    """A probe that the graph has discovered, beside an arm at rest. Raises TelerobotError."""
    from telerobot_nodes.nodes.probes import HaltProbe

    with HaltProbe() as probe:
        if not probe.wait(lambda: probe.connected and probe.rests_since < probe.now(), LIMIT):
            raise TelerobotError(f"the arm does not rest, or nobody listens, after {LIMIT:g} s")
        yield probe


@contextlib.contextmanager
def noise(rate: float, probe: HaltProbe) -> Iterator[None]:
    """Another process says `rate` [1/s] texts, some of which keep the workers busy; 0: none."""
    process = multiprocessing.get_context("spawn").Process(target=_say_much, args=(rate,), daemon=True)
    if rate:
        process.start()
        probe.spin(NOISE_STARTS)
    try:
        yield
    finally:
        if process.is_alive():
            process.terminate()


_WAKE = """
import os, signal, sys
sys.stdin.read()
for pid in map(int, sys.argv[1:]):
    try:
        os.kill(pid, signal.SIGCONT)
    except ProcessLookupError:
        pass
"""


@contextlib.contextmanager
def hung(pids: Sequence[int]) -> Iterator[None]:
    """Stop processes without ending them: the middleware still counts on them, which is worse than dead.

    Another process wakes them, also when this one is killed: its standard input closes.
    """
    command = [sys.executable, "-I", "-S", "-c", _WAKE, *map(str, pids)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True):  # leaving it closes and waits
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        yield


def setpoints(probe: HaltProbe) -> list[Setpoint]:
    """What the probe has recorded."""
    return [Setpoint(row[0], row[1], *(np.asarray(values) for values in row[2:])) for row in probe.rows]


def _say_much(rate: float) -> None:
    from telerobot_nodes.nodes.probes import flood

    with contextlib.suppress(PermissionError):  # an ordinary process, though the probe that starts it is urgent
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        os.setpriority(os.PRIO_PROCESS, 0, 0)
    flood(rate, TEXTS)
