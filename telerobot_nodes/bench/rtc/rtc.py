"""Benchmark of run-time control: parsing, planning, binding, and the decision unit's time for one message.

No ROS, no motion: the arm of `urdf/` for kinematics, every primitive answered at once by the report hoped for.
"""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from telerobot_nodes.bench import report
from telerobot_nodes.bench.rtc.generate import random_command
from telerobot_nodes.core.config import share_path
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.rtc.decision import (
    DecisionUnit,
    Dispatch,
    ElaborateScript,
    HaltSubsystem,
    Job,
    Output,
    ParseText,
    Send,
    TryRequest,
)
from telerobot_nodes.rtc.language import parse
from telerobot_nodes.rtc.server import InterfaceServer, Workers, predicted_report
from telerobot_nodes.rtc.skills import Library, load_library
from telerobot_nodes.rtc.world import Database, Item, RobotChecks

CONFIG = share_path("config/rtc")
RICH = "grasp module with left_arm maintain avoid-neighbors speed 0.05 guarded unless force > 20 then stop"
PICK = "pick module and place on dock with left_arm"
BUSY = 20  # commands under way while messages are timed


def run(options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return conditions, figures, goals. Options: `repeats` (300), `seed` (1), `config` (folder of the skill files)."""
    options = options or {}
    repeats, seed = int(options.get("repeats", 300)), int(options.get("seed", 1))
    folder = Path(options.get("config", CONFIG))
    library = load_library(folder)
    figures: dict[str, Any] = {
        "parse_halt": _time(lambda: parse("halt"), repeats * 10),
        "parse_halt_through_grammar": _time(lambda: parse(" halt"), repeats * 10),
        "parse_rich": _time(lambda: parse(RICH), repeats),
        "parse_generated": _parse_generated(repeats, seed),
        "load_skill_files": _time(lambda: load_library(folder), 10),
    }
    workers = _workers(library)
    figures |= _plan(workers, library, max(10, repeats // 10))
    figures |= _messages(library, repeats)
    return report.result(report.conditions(seed), figures, _goals(figures))


def _goals(figures: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        report.goal("parse `halt`, median", figures["parse_halt"]["median_us"], "us", "<=", 25.0),
        report.goal("parse a rich command, median", figures["parse_rich"]["median_us"], "us", "<=", 250.0),
        report.goal(
            "parse, elaborate, bind pick and place, median",
            figures["parse_elaborate_bind_pick_and_place"]["median_us"] / 1000.0,
            "ms",
            "<=",
            20.0,
        ),
        report.goal("decision unit, one message, p99", figures["decision_message"]["p99_us"] / 1000.0, "ms", "<=", 1.0),
        report.goal(
            "decision unit, one text, parse included, p99", figures["decision_text"]["p99_us"] / 1000.0, "ms", "<=", 1.0
        ),
        report.goal("halt to first output, p99", figures["halt_to_outputs"]["p99_us"] / 1000.0, "ms", "<=", 1.0),
    ]


def _time(work: Callable[[], object], repeats: int) -> dict[str, float]:
    work()
    took = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        took.append(time.perf_counter() - start)
    return report.quantiles(took)


def _parse_generated(count: int, seed: int) -> dict[str, float]:
    choose = random.Random(seed).randrange
    took = []
    for _ in range(count):
        text = random_command(choose)
        start = time.perf_counter()
        parse(text)
        took.append(time.perf_counter() - start)
    return report.quantiles(took)


def _workers(library: Library) -> Workers:
    robot = load_robot("arm")
    checks = RobotChecks(dict.fromkeys(library.workcell.arms, robot))
    items = list(library.workcell.items)
    for arm in library.workcell.arms:
        pose = checks.kinematics.forward(arm, robot.home)
        items += [Item(f"{arm}.joints", tuple(robot.home.tolist())), Item(f"{arm}.pose", tuple(pose.tolist()))]
    return Workers(Database(items), checks)


def _plan(workers: Workers, library: Library, repeats: int) -> dict[str, Any]:
    """Measure the whole planning of a pick and place, and a `try` of it with analysis."""
    elaborate_only = []
    whole = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        parsed = workers.run(Job(1, 1, library, ParseText(PICK)), 0.0)
        request: Any = parsed.result.request  # type: ignore[union-attr]
        between = time.perf_counter()
        workers.run(Job(2, 1, library, ElaborateScript(request)), 0.0)
        elaborate_only.append(time.perf_counter() - between)
        trial = workers.run(Job(3, 1, library, TryRequest(request)), 0.0)
        whole.append(time.perf_counter() - start - elaborate_only[-1])
        if trial.error or not trial.result.works:  # type: ignore[union-attr]
            raise RuntimeError(f"the benchmark's command cannot be planned: {trial}")
    return {
        "elaborate_pick_and_place": report.quantiles(elaborate_only[1:]),
        "parse_elaborate_bind_pick_and_place": report.quantiles(whole[1:]),  # with analysis on a copy
    }


class _Host:
    """Workers and subsystems that answer at once; measures the decision unit's own time per message."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.workers = _workers(library)
        self.interface = InterfaceServer(DecisionUnit(library), self.workers.database)
        self.messages: list[float] = []  # [s]
        self.texts: list[float] = []  # [s] of those messages that were texts, parse included
        self.now = 0.0

    def say(self, text: str) -> None:
        """Submit a text, timed, and answer what comes of it."""
        outputs = self.timed(lambda: self.interface.submit("bench", text, self.now))
        self.texts.append(self.messages[-1])
        self.play(outputs)

    def timed(self, work: Callable[[], list[Output]]) -> list[Output]:
        start = time.perf_counter()
        outputs = work()
        self.messages.append(time.perf_counter() - start)
        return outputs

    def play(self, outputs: list[Output]) -> None:
        """Answer until nothing is left; held commands remain."""
        queue = list(outputs)
        while queue:
            output = queue.pop(0)
            if isinstance(output, Dispatch):
                done = self.workers.run(output.job, self.now)
                queue += self.timed(lambda done=done: self.interface.job_done(done, self.now))  # type: ignore[misc]
            elif isinstance(output, Send) and output.primitive.subsystem != "program":
                record = self.interface.unit.commands[output.primitive.command]
                if record.context is None:
                    continue
                answer = predicted_report(record.context, self.workers.database, self.library, self.workers.checks)
                queue += self.timed(lambda answer=answer: self.interface.report(answer, self.now))  # type: ignore[misc]


def _messages(library: Library, repeats: int) -> dict[str, Any]:
    """Measure the decision unit's time per message with 20 commands in progress, and for a halt."""
    host = _Host(library)
    gc.collect()
    gc.freeze()  # as the node does once it has loaded
    halts: list[float] = []
    for _ in range(max(3, repeats // 20)):
        for _ in range(BUSY):
            host.play(host.interface.submit("bench", "wait for 1000 s", host.now))
        host.messages, host.texts = (host.messages, host.texts) if halts else ([], [])
        host.say("move left_arm to dock")
        host.say("move left_arm to table")
        host.say(RICH)
        host.say("where module")
        start = time.perf_counter()
        outputs = host.interface.submit("bench", "halt", host.now)
        halts.append(time.perf_counter() - start)
        if not isinstance(outputs[0], HaltSubsystem):
            raise RuntimeError("a halt's first output is not a halt")
        host.play(outputs)
    return {
        "decision_message": report.quantiles(np.array(host.messages)),  # texts among them, parse included
        "decision_text": report.quantiles(np.array(host.texts)),
        "halt_to_outputs": report.quantiles(halts),
        "commands_under_way": BUSY,
    }


if __name__ == "__main__":
    import sys

    sys.stdout.write(report.text(run()) + "\n")
