"""The arm moves while processes join and leave, floods and huge messages arrive, and goals carry YAML that grows.

Both graphs as their users start them (`telerobot up robot|operator --hosts FILE`), a recorded hand that moves the arm
again and again, and an observer in a process of its own on the robot's host. Options: `parts` (of quiet, join, huge,
flood, yaml), `processes` that join, `together` at once, `limit` [s] of the joining, `hog` (yes: a busy process on each
core meanwhile), `seconds` of each other part, `without` (nodes that the operator's graph leaves out; console and
forward simulator), `domain` (this and the next are used).
"""

from __future__ import annotations

import multiprocessing
import os
import queue
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from telerobot_nodes.bench import chosen, is_on, report
from telerobot_nodes.bench.faults import LEFT_OUT, Loop, Rig, burn, child, flood_in_domain, huge_in_domain
from telerobot_nodes.bench.join import crowd, judge
from telerobot_nodes.bench.join.hand import write_hand
from telerobot_nodes.bench.join.judge import Goal, Record, Setpoint
from telerobot_nodes.core.protocol import DeviceState
from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.operator.client import commands

PARTS = ("quiet", "join", "huge", "flood", "yaml")
NOT_NEEDED = "operator_console,forward_simulator"  # the operator's nodes that take no part in the motion
OBSERVER_LIMIT = 90.0  # [s] to find the graph
SCALE = 1.0  # [-] of the hand
FLOODED: Mapping[str, Mapping[str, Any]] = {
    "gcmsf_control/teleop_cmds": {"header.frame_id": "world"},
    "authority": {"kind": 5, "agent": "stranger"},
    "rtc_decision_unit/commands": {"sender": "stranger", "text": "where module"},
    "obstacles": {},
}
HUGE = (("plan_executor/window", "position"), ("gcmsf_control/teleop_cmds", "header.frame_id"))
STARTS = 4.0  # [s] for the hand to move the arm
MOVING = 0.5  # [-] the hand rests at its ends; a bound of this bench
ANSWER = 1.0  # [s] for a goal that is refused: a bound of this bench


def growing_texts() -> list[str]:
    """YAML values that are small as a text: aliases of aliases, and lists nested deep."""
    text = "[&a [1,1,1,1,1,1,1,1,1,1,1,1]"
    for name, after in zip("abcde", "bcdef", strict=True):
        text += f",&{after} [{','.join(['*' + name] * 12)}]"
    return [text + "]", "[" * 5_000 + "]" * 5_000, "[" * 100_000 + "]" * 100_000, "- " * 20_000 + "1"]


class Crowded:
    """Both graphs, and what is done to them; the arm is kept in motion meanwhile."""

    def __init__(self, rig: Rig, hand: Path, options: Mapping[str, str]) -> None:
        self._rig, self._hand = rig, hand
        self._looks = self._moves = 0
        self.processes, self.together = int(options.get("processes", 200)), int(options.get("together", 20))
        self.limit, self.seconds = float(options.get("limit", 240.0)), float(options.get("seconds", 8.0))

    def quiet(self) -> dict[str, Any]:
        """Nothing but the motion."""
        self._move_for(self.seconds)
        return {}

    def join(self) -> dict[str, Any]:
        """Processes that come and go."""
        done = self._while(crowd.join, self.processes, self.together, self.limit, limit=self.limit + 60.0)
        joined, received, disorder = done or (0, 0, 0)
        return {"joined": joined, "received": received, "ended_in_disorder": disorder}

    def huge(self) -> dict[str, Any]:
        """40 MB in one message, to one input after the other."""
        for topic, name in HUGE:
            self._while(huge_in_domain, topic, name, limit=40.0)
        self._move_for(2.0)
        return {"messages": [topic for topic, _ in HUGE]}

    def flood(self) -> dict[str, Any]:
        """10,000 messages a second, to one input after the other."""
        sent = {}
        for topic, fields in FLOODED.items():
            sent[topic] = self._while(flood_in_domain, topic, fields, limit=40.0) or 0
        return {"sent": sent}

    def yaml(self) -> dict[str, Any]:
        """Goals whose values grow when they are read."""
        texts = growing_texts()
        refused, longest = self._while(crowd.bombs, texts, limit=60.0) or (0, float("inf"))
        return {"goals": len(texts), "refused": refused, "longest_answer_s": round(longest, 3)}

    def do(self, part: str) -> dict[str, Any]:
        """One part; its figures, and the share of the looks at which the arm moved."""
        self._looks = self._moves = 0
        done: dict[str, Any] = getattr(self, part)()
        return {**done, "moving_share": round(self._moves / max(1, self._looks), 3)}

    def _while(self, work: Callable[..., None], *arguments: Any, limit: float) -> Any:
        """Keep the arm in motion while a process works; what it has put. None: nothing within `limit` [s]."""
        process, results = child(work, self._rig.robot_domain, *arguments)
        found: list[Any] = []

        def over() -> bool:
            try:
                found.append(results.get_nowait())
            except queue.Empty:
                return not process.is_alive() and results.empty()
            return True

        self._move(over, limit)
        process.join(5.0)
        if process.is_alive():
            process.terminate()
        return found[0] if found else None

    def _move_for(self, seconds: float) -> None:
        end = self._rig.now() + seconds
        self._move(lambda: self._rig.now() >= end, 2.0 * seconds)

    def _move(self, over: Callable[[], bool], limit: float) -> None:
        end = self._rig.now() + limit
        while not over() and self._rig.now() < end:
            if self._rig.last["gcmsf_control/state"]["state"] in judge.STOPS:
                self._rig.ask(commands.Resume())
                self._rig.happens(over, 0.5)
            self._looks += 1
            self._moves += self._rig.moving()
            if self._rig.operator.operator.queue.device is DeviceState.IDLE:
                self._rig.ask(commands.Replay(str(self._hand), 1.0, SCALE))
                self._rig.happens(lambda: over() or self._rig.moving(), STARTS)
            self._rig.happens(over, 0.2)


def run(options: Mapping[str, str]) -> dict[str, Any]:
    """Do the parts, one after the other."""
    parts, hogged = chosen(options, "parts", PARTS), is_on({"hog": options.get("hog", "no")}, "hog")
    domain, without = int(options.get("domain", 88)), options.get("without", NOT_NEEDED).split(",")
    conditions = report.conditions()
    conditions["hog"] = f"{os.cpu_count()} busy processes of ordinary priority" if hogged else "none"
    conditions["operator_without"] = without
    conditions["observer"] = "a process of its own on the robot's host: gaps as received include its own waiting"
    figures: dict[str, Any] = {}
    goals: list[Goal] = []
    with tempfile.TemporaryDirectory() as name:
        rig = Rig(Path(name), (domain, domain + 1), LEFT_OUT | {"operator": tuple(without)})
        signal.signal(signal.SIGTERM, lambda *_: rig.request_end())  # the graphs are stopped first
        try:
            rig.start()
            rig.ready()
            crowded = Crowded(rig, write_hand(Path(name) / "hand.csv"), options)
            spans, more, record = _recorded(crowded, rig, parts, hogged)
            conditions["loop"] = rig.robot.health.get("gcmsf_control", {})
        finally:
            rig.close()
    for part in parts:
        figures[part] = {**more[part], **judge.figures_of(record.between(*spans[part]))}
        goals += judge.goals_of(part, figures[part]) + more_goals(part, figures[part], options)
    return report.result(conditions, figures, goals)


def more_goals(part: str, figures: Mapping[str, Any], options: Mapping[str, str]) -> list[Goal]:
    """What must hold of one part alone."""
    moved = report.goal(f"{part}: share of the time in motion", figures["moving_share"], "-", ">=", MOVING)
    return [moved, *_of_part(part, figures, options)]


def _of_part(part: str, figures: Mapping[str, Any], options: Mapping[str, str]) -> list[Goal]:
    if part == "join":
        return [
            report.goal(
                "join: processes that joined", figures["joined"], "-", ">=", int(options.get("processes", 200))
            ),
            report.goal("join: of them ended in disorder", figures["ended_in_disorder"], "-", "==", 0),
        ]
    if part == "yaml":
        return [
            report.goal("yaml: goals refused", figures["refused"], "-", ">=", figures["goals"]),
            report.goal("yaml: longest answer", figures["longest_answer_s"], "s", "<=", ANSWER),
        ]
    return []


def _recorded(
    crowded: Crowded, rig: Rig, parts: list[str], hogged: bool
) -> tuple[dict[str, tuple[float, float]], dict[str, dict[str, Any]], Record]:
    """When each part was [s], its own figures, and what the observer received."""
    spans, more = dict[str, tuple[float, float]](), dict[str, dict[str, Any]]()
    context = multiprocessing.get_context("spawn")
    end, ready, results = context.Event(), context.Event(), context.Queue()
    observer = context.Process(target=crowd.observe, args=(rig.robot_domain, end, ready, results), daemon=True)
    observer.start()
    rig.until(ready.is_set, "the observer", OBSERVER_LIMIT)
    with _hog(hogged):
        for part in parts:
            began = time.monotonic()
            try:
                more[part] = crowded.do(part)
            finally:
                spans[part] = began, time.monotonic()
            print(f"{part}: {more[part]}", flush=True)
            if not rig.runs("robot"):
                raise TelerobotError(f"{part}: the robot's graph has ended")
    end.set()
    setpoints, loop, hardware = results.get(timeout=OBSERVER_LIMIT)
    observer.join(5.0)
    record = Record([Setpoint(*row) for row in setpoints], [Loop(*row) for row in loop], hardware)
    return spans, more, record


@contextmanager
def _hog(wanted: bool) -> Iterator[None]:
    """A busy process on each core."""
    context = multiprocessing.get_context("spawn")
    count = (os.cpu_count() or 1) if wanted else 0
    group = [context.Process(target=burn, args=(3_600.0,), daemon=True) for _ in range(count)]
    for process in group:
        process.start()
    try:
        yield
    finally:
        for process in group:
            process.terminate()
            process.join(5.0)
