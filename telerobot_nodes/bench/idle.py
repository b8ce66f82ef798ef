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
from telerobot_nodes.launching import GraphOptions
from telerobot_nodes.supervisor import NODE_ENVIRONMENT, Supervisor

START_LIMIT = 90.0  # [s]
LOOP_NODE = "gcmsf_control"
IDLE_GOAL = 100.0  # [%] of one core for the whole graph: half of a two-core machine stays free


def run(options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Conditions, figures, goals. Options: `seconds` (30), `robot` (arm), `folder` (runs/idle) of the recording."""
    options = options or {}
    seconds = float(options.get("seconds", 30.0))
    os.environ.update(NODE_ENVIRONMENT)
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
    from telerobot_nodes.nodes.diagnostics import diagnostics_of

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
    """User and system time of a process so far [s]."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _memory(pid: int) -> float:
    """Resident memory of a process [MB]."""
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
