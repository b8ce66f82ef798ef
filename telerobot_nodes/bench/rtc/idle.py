"""Benchmark of the whole demo graph at rest: processor time and memory of each node, deadlines of the control loop."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from telerobot_nodes.bench import report
from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.runtime import GraphOptions, Supervisor, join_graph

START_LIMIT = 90.0  # [s]
LOOP_NODE = "gcmsf_control"
IDLE_GOAL = 100.0  # [%] of one core for the whole graph: half of a two-core machine stays free


def run(options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Conditions, figures, goals. Options: `seconds` (30), `robot` (arm), `folder` (runs/idle) of the recording."""
    options = options or {}
    seconds = float(options.get("seconds", 30.0))
    join_graph()
    folder = Path(options.get("folder", f"runs/idle-{time.strftime('%Y%m%d-%H%M%S')}"))
    graph = GraphOptions("demo", robot=str(options.get("robot", "arm")), bag=folder)
    supervisor = Supervisor(graph, on_line=lambda node, line: None)
    supervisor.start()
    try:
        if not supervisor.wait_ready(START_LIMIT):
            raise TelerobotError(f"not ready after {START_LIMIT:g} s: {', '.join(supervisor.waiting_for())}")
        figures = _measure(supervisor, [entry.name for entry in graph.nodes], seconds)
    finally:
        supervisor.stop()
    return report.result(report.conditions(), figures, _goals(figures))


def _measure(supervisor: Supervisor, names: list[str], seconds: float) -> dict[str, Any]:
    from telerobot_nodes.nodes.probes import diagnostics_of

    before = {name: _cpu_seconds(supervisor.pid(name)) for name in names}
    began = time.monotonic()
    threading.Event().wait(seconds)
    elapsed = time.monotonic() - began
    used = {name: 100.0 * (_cpu_seconds(supervisor.pid(name)) - before[name]) / elapsed for name in names}
    return {
        "seconds": round(elapsed, 2),
        "cpu_percent_of_one_core": {name: round(value, 2) for name, value in used.items()},
        "cpu_percent_total": round(sum(used.values()), 2),
        "memory_mb": {name: round(_memory(supervisor.pid(name)), 1) for name in names},
        "loop": diagnostics_of(LOOP_NODE),
    }


def _goals(figures: Mapping[str, Any]) -> list[dict[str, Any]]:
    missed = float(figures["loop"].get("missed", "nan"))
    return [
        report.goal("whole demo graph at rest, of one core", figures["cpu_percent_total"], "%", "<=", IDLE_GOAL),
        report.goal("control loop at rest, periods missed", missed, "periods", "==", 0),
    ]


def _cpu_seconds(pid: int) -> float:
    """Return user and system time [s] of a process and its children."""
    ticks = 0
    for member in family(pid):
        fields = Path(f"/proc/{member}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def _memory(pid: int) -> float:
    """Return the resident memory [MB] of a process and its children."""
    statm = (Path(f"/proc/{member}/statm").read_text(encoding="ascii") for member in family(pid))
    return sum(int(text.split()[1]) for text in statm) * os.sysconf("SC_PAGE_SIZE") / 1e6


def family(pid: int) -> list[int]:
    """Yield a process and all its descendants."""
    children = [int(word) for file in Path(f"/proc/{pid}/task").glob("*/children") for word in file.read_text().split()]
    return [pid, *(member for child in children for member in family(child))]
