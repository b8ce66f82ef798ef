"""Benchmark of the review: opening, scrubbing and reporting a recording of an hour."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from telerobot_nodes.bench import report
from telerobot_nodes.bench.review.long_bag import write_long_bag
from telerobot_nodes.core.robot import RobotModel, load_robot
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.playback import RecordedGraph
from telerobot_nodes.operator.recording import BagReader
from telerobot_nodes.operator.review import arm_prefix, html_page, read_events, review_bag, robot_of
from telerobot_nodes.operator.view import plan_lines, scene, view
from telerobot_nodes.plotting import draw_events, draw_run

HOUR = 3600.0  # [s]
JUMPS = 50  # to random times
SEED = 1


def run(options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return conditions, figures and goals.

    Options: `bag`, a recording; one shorter than an hour is repeated into a long one, beside the system's temporary
    files. Raises InvalidValueError without it.
    """
    source = Path(str((options or {}).get("bag", "")))
    if not source.exists() or not (options or {}).get("bag"):
        raise InvalidValueError("bag", str(source), "allowed: --option bag=FOLDER, a recording")
    with TemporaryDirectory() as folder:
        bag = source
        with BagReader(source) as reader:
            short = reader.duration < HOUR
        if short:
            bag = Path(folder, "hour")
            write_long_bag(source, bag, HOUR)
        figures = {**_play(bag), **_page(bag, Path(folder))}
    goals = [
        report.goal("open in the console", figures["open_s"], "s", "<=", 5.0),
        report.goal("positions while scrubbing", figures["positions_per_s"], "1/s", ">=", 10.0),
        report.goal("HTML report", figures["html_s"], "s", "<=", 30.0),
    ]
    return report.result(report.conditions(SEED), figures, goals)


def _play(bag: Path) -> dict[str, Any]:
    began, worked = time.perf_counter(), time.process_time()
    with BagReader(bag) as reader:
        prefix = arm_prefix(reader.topics, None, bag)
        robot: RobotModel = load_robot(robot_of(reader) or "arm")
        graph = RecordedGraph(reader, prefix, robot.joint_names, read_events(reader, prefix))
        graph.show(0.0)
        opened = {"open_s": time.perf_counter() - began, "open_cpu_s": time.process_time() - worked}
        times = random.Random(SEED)
        seconds = [_jump(graph, times.uniform(0.0, reader.duration)) for _ in range(JUMPS)]
        held = {"duration_s": reader.duration, "messages": sum(reader.counts.values())}
    return {**held, **opened, "positions_per_s": JUMPS / sum(seconds), "jump": report.quantiles(np.array(seconds))}


def _jump(graph: RecordedGraph, position: float) -> float:
    began = time.perf_counter()
    graph.show(position)
    scene(graph.client, position)
    view(graph.client, position)
    plan_lines(graph.client)
    return time.perf_counter() - began


def _page(bag: Path, folder: Path) -> dict[str, Any]:
    began, worked = time.perf_counter(), time.process_time()
    found = review_bag(bag)
    draw_events(found, folder / "events.png")
    draw_run(found, folder / "run.png")
    page = html_page(found, {name: (folder / f"{name}.png").read_bytes() for name in ("events", "run")})
    (folder / "page.html").write_text(page, encoding="utf-8")
    return {
        "html_s": time.perf_counter() - began,
        "html_cpu_s": time.process_time() - worked,
        "html_bytes": len(page),
        "load_after": os.getloadavg()[0],
    }
