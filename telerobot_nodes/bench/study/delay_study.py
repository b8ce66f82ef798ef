"""Delay study: the same scripted operator, the same tasks, with and without the controls of the plan queue [US5046022].

Conditions: (a) direct teleoperation, move and wait on the delayed picture; (b) + forward simulation; (c) + time
clutch disengaged (the arm runs at its own pace); (d) + position clutch and time brake. Task time runs from the first
view to the moment when the operator sees the actual arm at the last target. Each condition works in its better way:
as it comes, or with care. Everything but the arm's dynamics is what the nodes run (`delay_rig.py`).
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from telerobot_nodes.bench import report
from telerobot_nodes.bench.study.finished_runs import FinishedRuns, Job
from telerobot_nodes.bench.study.performance import Performance, perform, strategies
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.study.design import CONDITIONS, STUDIED, TOUCH_COST
from telerobot_nodes.study.results import draw, ratio_interval, text, time_rows

SEEDS = 20
DELAYS = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0)  # [s] round trip, of the first task
FEW_DELAYS = (0.0, 1.0, 4.0)  # [s] of the others
AGAINST_DIRECT, AGAINST_ITSELF = 1.3, 1.15  # [-] goals for (d) at 4 s
WINS = ("slow-arm", "plate", "moving-target")  # where the controls must save time

Key = tuple[str, str, str, float]  # task, condition, strategy, round trip
Runs = Mapping[Key, list[Performance]]  # one per seed


def run(options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return conditions, figures and goals.

    Options: `seeds` (20), `tasks` (all, by name with commas), `delays` (of every task, with commas), `processes` (all
    usable cores), `plot` FILE.png, `runs` FILE.jsonl (each run is kept there when it ends; those it holds are not
    made again).
    """
    options = options or {}
    seeds = range(1, int(options.get("seeds", SEEDS)) + 1)
    delays = {name: _delays(name, options) for name in _tasks(options)}
    conditions = report.conditions(seed=len(seeds))
    finished = FinishedRuns(Path(str(options["runs"])) if "runs" in options else None)
    processes = int(options.get("processes", len(os.sched_getaffinity(0))))
    runs = _perform_all(list(_keys(delays)), seeds, processes, finished)
    tables = {name: table(name, delays[name], runs) for name in delays}
    figures: dict[str, Any] = {
        "text": "\n\n".join(text(name, delays[name], tables[name]) for name in delays),
        "conditions": CONDITIONS,
        "touch_costs_s": TOUCH_COST,
        "tasks": {
            name: {"title": STUDIED[name].title, "round_trip_s": delays[name], **tables[name]} for name in delays
        },
        "runs": {" ".join(map(str, key)): [asdict(one) for one in row] for key, row in runs.items()},
    }
    if "plot" in options:
        draw({name: (delays[name], tables[name]) for name in delays}, Path(str(options["plot"])))
    return report.result(conditions, figures, [goal for name in delays for goal in _goals(name, delays[name], runs)])


def _tasks(options: Mapping[str, Any]) -> Sequence[str]:
    chosen = str(options.get("tasks", ",".join(STUDIED))).split(",")
    for name in chosen:
        if name not in STUDIED:
            raise InvalidValueError("tasks", name, f"allowed: {', '.join(STUDIED)}")
    return chosen


def _delays(name: str, options: Mapping[str, Any]) -> tuple[float, ...]:
    if "delays" in options:
        try:
            return tuple(float(value) for value in str(options["delays"]).split(","))
        except ValueError:
            raise InvalidValueError("delays", options["delays"], "allowed: seconds, with commas") from None
    return DELAYS if name == next(iter(STUDIED)) else FEW_DELAYS


def _keys(delays: Mapping[str, Sequence[float]]) -> Iterable[Key]:
    for name, row in delays.items():
        for condition in CONDITIONS:
            for strategy in strategies(STUDIED[name], condition):
                yield from ((name, condition, strategy, round_trip) for round_trip in row)


def _perform_all(keys: Sequence[Key], seeds: range, processes: int, finished: FinishedRuns) -> Runs:
    """Every task under every condition by every seed."""
    jobs = [job for key in keys for seed in seeds if (job := (*key, seed)) not in finished]
    if processes == 1:
        for job in jobs:
            finished.add(job, perform(*job))
    elif jobs:
        with multiprocessing.get_context("spawn").Pool(processes) as pool:
            for job, performance in pool.imap(_performed, jobs, chunksize=len(seeds)):
                finished.add(job, performance)
    return {key: [finished[(*key, seed)] for seed in seeds] for key in keys}


def _performed(job: Job) -> tuple[Job, Performance]:
    return job, perform(*job)


def seconds(name: str, condition: str, round_trip: float, runs: Runs) -> tuple[str, list[float]]:
    """The better strategy of a condition, and its task times [s], one per seed."""
    found = {
        key[2]: [one.seconds for one in row]
        for key, row in runs.items()
        if key[:2] + key[3:] == (name, condition, round_trip)
    }
    best = min(found, key=lambda strategy: float(np.mean(found[strategy])))
    return best, found[best]


def table(name: str, delays: Sequence[float], runs: Runs) -> dict[str, Any]:
    """Mean, interval, strategy and touches, each condition a row, each delay a column."""
    best = {c: [seconds(name, c, d, runs) for d in delays] for c in CONDITIONS}
    times = {(c, d): dict(enumerate(found)) for c in CONDITIONS for d, (_, found) in zip(delays, best[c], strict=True)}
    return {
        **time_rows(delays, times),
        "strategy": {c: [strategy for strategy, _ in best[c]] for c in CONDITIONS},
        "touches_mean": {
            c: [
                float(np.mean([one.touches for one in runs[name, c, strategy, d]]))
                for d, (strategy, _) in zip(delays, best[c], strict=True)
            ]
            for c in CONDITIONS
        },
    }


def _goals(name: str, delays: Sequence[float], runs: Runs) -> Iterable[dict[str, Any]]:
    """What (d) must reach; the upper ends of 95 % intervals."""
    if {0.0, 4.0} <= set(delays):
        late = seconds(name, "d", 4.0, runs)[1]
        for title, condition, most in (
            ("(a) at 0 s", "a", AGAINST_DIRECT),
            ("itself at 0 s", "d", AGAINST_ITSELF),
        ):
            ratio = ratio_interval(late, seconds(name, condition, 0.0, runs)[1])
            yield report.goal(f"{name}: (d) at 4 s to {title}, upper end", ratio.high, "-", "<=", most)
    for delay in delays if name in WINS else ():
        ratio = ratio_interval(seconds(name, "d", delay, runs)[1], seconds(name, "b", delay, runs)[1])
        yield report.goal(f"{name}: (d) to (b) at {delay:g} s, upper end", ratio.high, "-", "<=", 1.0)
