"""Benchmark of the console on the whole demo graph: presses in a real browser until the robot has them and they show.

All times are on the host's monotonic clock: a press from the browser's own input event, its effect at the robot as the
operation log's message arrives there, a halt as the control loop obeys it, what is shown from the frame that shows it.
The browser draws without a graphics card, on the machine that also runs the graph.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from telerobot_nodes.bench import is_on, report
from telerobot_nodes.bench.console.browser_page import PICTURES, ConsolePage, console_page
from telerobot_nodes.bench.console.console_graphs import SECOND, BenchGraphs
from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.operator.client import commands

if TYPE_CHECKING:
    from telerobot_nodes.nodes.clients import Terminal
    from telerobot_nodes.nodes.probes import PressProbe

STATE_LIMIT = 10.0  # [s]
LAY_LIMIT = 600.0  # [s] to lay the plan, which takes as long as a hand needs
NODE = "operator_console"
SAMPLE = 1.0  # [s] between two looks at the memory
SHOWN = 30  # of them in the result, or up to twice as many
CLUTCH = {True: "time clutch: engaged", False: "time clutch: disengaged"}


def run(options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Conditions, figures, goals.

    Options: `presses` (40) of each kind, `points` (2000) of the plan of each arm, `seconds` (60) of traffic and memory,
    `camera` (no): pictures of the robot's camera too, `arms` (1, or 2) in the scene, `period` (0.02) [s] between plan
    points, `image`: a screenshot of the page.
    """
    options = options or {}
    presses, points = int(options.get("presses", 40)), int(options.get("points", 2000))
    seconds, camera = float(options.get("seconds", 60.0)), "camera" in options and is_on(options, "camera")
    arms, period = int(options.get("arms", 1)), float(options.get("period", 0.02))
    from telerobot_nodes.nodes.clients import Terminal
    from telerobot_nodes.nodes.probes import PressProbe

    with (
        BenchGraphs(camera, arms, period).running() as (supervisor, url),
        PressProbe() as probe,
        contextlib.ExitStack() as stack,
        console_page(url) as page,
    ):
        terminals = [stack.enter_context(Terminal(namespace)) for namespace in ("", SECOND)[:arms]]
        for terminal in terminals:
            _done(terminal, commands.SetLink(0.0))
            if not terminal.wait_for(lambda client: probe.connected and client.queue.has_authority, STATE_LIMIT):
                raise TelerobotError("the operator has no authority, or the control loop is silent")
        times = _Presses(page, probe, terminals[0]).all(presses)
        for terminal in terminals[1:]:  # halted with the console's own arm
            _done(terminal, commands.Resume())
        laid = _lay_plan(page, terminals, points)
        figures = {"plan_points": laid, **_traffic(page, terminals, supervisor.pid(NODE), seconds)}
        if "image" in options:
            page.picture(str(options["image"]))
    figures["presses"] = {name: report.quantiles(rows) for name, rows in times.items()}
    conditions = {**report.conditions(), "presses": presses, "camera": camera, "seconds": seconds, "arms": arms}
    conditions |= {"plan_period_s": period, "link_delay_s": 0.0}
    return report.result(conditions, figures, _goals(times, figures))


class _Presses:
    """Presses of the page's buttons, and when robot and page had them."""

    def __init__(self, page: ConsolePage, probe: PressProbe, terminal: Terminal) -> None:
        self._page, self._probe, self._terminal = page, probe, terminal

    def all(self, count: int) -> dict[str, list[float]]:
        """Durations [s] of `count` presses of each kind."""
        times: dict[str, list[float]] = {
            "pause pressed to operation at the robot": [],
            "pressed to shown": [],
            "HALT pressed to obeyed by the control loop": [],
        }
        acted, shown, halted = times.values()
        for _ in range(count):
            pressed, seen = self._page.press("pause", "PAUSED")
            shown.append(seen - pressed)
            acted.append(self._after(pressed, lambda: self._probe.pauses))
            self._page.press("resume", "IDLE")
        engaged = self._terminal.operator.queue.time_clutch
        for _ in range(count):
            pressed, seen = self._page.press(CLUTCH[engaged], CLUTCH[not engaged])
            shown.append(seen - pressed)
            engaged = not engaged
        for _ in range(count):
            pressed, seen = self._page.press("HALT", "HALTED")
            halted.append(self._after(pressed, lambda: self._probe.halts))
            _done(self._terminal, commands.Resume())
            self._page.spin(0.5)
        return times

    def _after(self, pressed: float, times: Callable[[], Sequence[float]]) -> float:
        """From `pressed` to the first of `times` after it [s]; infinite if none comes."""
        end = time.monotonic() + STATE_LIMIT
        while time.monotonic() < end:
            later = [at for at in times() if at > pressed]
            if later:
                return later[0] - pressed
            self._page.spin(0.02)
        return math.inf


def _lay_plan(page: ConsolePage, terminals: Sequence[Terminal], points: int) -> list[int]:
    """Lay points while the arms pause, by a hand replayed again and again; how many for each. The arms go on then."""
    for terminal in terminals:
        _done(terminal, commands.Deed.PAUSE)
    end, lengths = time.monotonic() + LAY_LIMIT, [-1] * len(terminals)
    while min(lengths) < points and time.monotonic() < end:
        for arm, terminal in enumerate(terminals):
            length, plays = terminal.operator.queue.length, terminal.operator.input.replay
            if length == lengths[arm] < points and not plays:  # a hand that rests adds no points either
                _done(terminal, commands.Replay())
            lengths[arm] = length
        page.spin(0.5)
        for terminal in terminals:
            terminal.spin(0.5)
    for terminal in terminals:
        _done(terminal, commands.Resume())
    return lengths


def _traffic(page: ConsolePage, terminals: Sequence[Terminal], pid: int, seconds: float) -> dict[str, Any]:
    """Bytes to the page, memory of the console and duration of its drawings, while the arms follow a replayed hand."""
    from telerobot_nodes.nodes.probes import diagnostics_of

    before, began = page.received.copy(), time.monotonic()
    memory: list[tuple[float, float]] = []
    while time.monotonic() - began < seconds:
        memory.append((time.monotonic() - began, _resident(pid)))
        _keep_playing(terminals)
        page.spin(SAMPLE)
    elapsed = time.monotonic() - began
    got = {path: (page.received[path] - before[path]) / elapsed / 1e3 for path in page.received}
    drawing = diagnostics_of(NODE).get("drawing", "nan")
    return {
        "kilobytes_per_second_by_socket": {path: round(rate, 1) for path, rate in got.items()},
        "kilobytes_per_second_without_camera": round(sum(rate for path, rate in got.items() if path != PICTURES), 1),
        "console_memory_mb": round(memory[-1][1] / 1e6, 1),
        "console_memory_mb_per_hour": round(3600.0 * _slope(memory) / 1e6, 2),
        "console_memory_mb_per_hour_of_second_half": round(3600.0 * _slope(memory[len(memory) // 2 :]) / 1e6, 2),
        "console_memory_mb_by_time": [round(size / 1e6, 2) for _, size in memory[:: max(len(memory) // SHOWN, 1)]],
        "drawing_median_ms": float(drawing.split()[0]),
        "seconds": round(elapsed, 1),
    }


def _keep_playing(terminals: Sequence[Terminal]) -> None:
    """Replay the hand again for each arm where it has ended."""
    for terminal in terminals:
        terminal.spin(0.05)
        if not terminal.operator.input.replay:
            terminal.ask(commands.Replay())  # refused where it plays and does not show that yet


def _slope(rows: Sequence[tuple[float, float]]) -> float:
    """Of the line through (x, y); NaN of fewer than three."""
    x, y = np.array(rows, dtype=np.float64).reshape(-1, 2).T
    return float(np.polyfit(x, y, 1)[0]) if len(rows) > 2 else math.nan


def _resident(pid: int) -> float:
    """Memory of a process [byte]."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return 1024.0 * next(float(line.split()[1]) for line in lines if line.startswith("VmRSS:"))


def _done(terminal: Terminal, command: commands.Command) -> None:
    outcome = terminal.ask(command)
    if not outcome.done:
        raise TelerobotError(f"{command}: {outcome.text}")


def _goals(times: Mapping[str, Sequence[float]], figures: Mapping[str, Any]) -> list[dict[str, Any]]:
    acted, shown, halted = (1e3 * np.asarray(rows) for rows in times.values())
    return [
        report.goal("pressed to acted, 95 %", np.quantile(acted, 0.95, method="higher"), "ms", "<=", 100.0),
        report.goal("pressed to shown, 95 %", np.quantile(shown, 0.95, method="higher"), "ms", "<=", 300.0),
        report.goal("HALT pressed to arm told, 99 %", np.quantile(halted, 0.99, method="higher"), "ms", "<=", 60.0),
        report.goal(
            "to a browser, without camera", figures["kilobytes_per_second_without_camera"], "kB/s", "<=", 300.0
        ),
        report.goal("drawing, median", figures["drawing_median_ms"], "ms", "<=", 15.0),
        report.goal(
            "server memory, second half of the time",
            figures["console_memory_mb_per_hour_of_second_half"],
            "MB/h",
            "<=",
            1.0,
        ),
    ]
