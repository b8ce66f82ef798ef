"""Benchmark of two arms in one workspace: random crossing tasks in MuJoCo, contacts counted by its narrow phase.

Every task is made by seed and index, planned, coordinated and executed by itself, so tasks run in any order, in
several processes, and a run that was broken off goes on where it stopped (`rows`). Obstacles stand off from where the
plans have them; payload, friction and noise are unknown to planner and servos.
"""

from __future__ import annotations

import json
import multiprocessing
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from telerobot_nodes.bench import is_on, report
from telerobot_nodes.bench.two_arms.two_arm_run import RunOptions, TwoArmRunner
from telerobot_nodes.errors import InvalidValueError

TASKS = 2000

_runner: TwoArmRunner | None = None


def run(options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return conditions, figures and goals.

    Options: `tasks` (2000), `first` (0), `seed` (1), `processes` (all usable), `rows` (a file: one line per task,
    read first and appended to), `moved_by` (0.03 m), `turns_every` (4: every n-th task also with one arm moving at a
    time), `field`, `scheduled`, `mismatch` (True; False shows what each is for).
    """
    options = dict(options or {})
    chosen = RunOptions(
        seed=int(options.get("seed", 1)),
        moved_by=float(options.get("moved_by", 0.03)),
        turns_every=int(options.get("turns_every", 4)),
        **{name: is_on(options, name) for name in ("field", "scheduled", "mismatch")},
    )
    first, count = int(options.get("first", 0)), int(options.get("tasks", TASKS))
    processes = int(options.get("processes", len(os.sched_getaffinity(0))))
    conditions = report.conditions(chosen.seed) | {"options": vars(chosen) | {"tasks": count, "first": first}}
    rows = _all_rows(chosen, range(first, first + count), options.get("rows"), processes)
    figures = summary(rows)
    return report.result(conditions, figures, _goals(figures, chosen))


def _all_rows(options: RunOptions, tasks: range, file: str | None, processes: int) -> list[dict[str, Any]]:
    """Return a row per task, from the file if it is there."""
    done = _read(Path(file), options) if file else {}
    todo = [index for index in tasks if index not in done]
    if file and not Path(file).exists():
        Path(file).write_text(json.dumps({"options": vars(options)}) + "\n")
    for row in _run_all(options, todo, processes):
        done[row["index"]] = row
        if file:
            with Path(file).open("a") as out:
                out.write(json.dumps(row) + "\n")
    return [done[index] for index in tasks]


def _read(file: Path, options: RunOptions) -> dict[int, dict[str, Any]]:
    """Read the rows of an earlier run. Raises InvalidValueError if its options differ."""
    if not file.exists():
        return {}
    lines = file.read_text().splitlines()
    whole = [json.loads(line) for line in lines if line.endswith("}")]
    before = whole[0].get("options")
    if before != vars(options):
        raise InvalidValueError("rows (options)", before, f"allowed: {vars(options)}")
    return {row["index"]: row for row in whole[1:]}


def _run_all(options: RunOptions, todo: Sequence[int], processes: int) -> Iterator[dict[str, Any]]:
    if not todo:
        return
    if processes <= 1:
        runner = TwoArmRunner(options)
        for index in todo:
            yield runner.run(index)
        return
    context = multiprocessing.get_context("spawn")
    with context.Pool(processes, initializer=_begin, initargs=(options,)) as pool:
        yield from pool.imap_unordered(_one, todo)


def _begin(options: RunOptions) -> None:
    global _runner  # noqa: PLW0603 - one runner per worker process
    _runner = TwoArmRunner(options)


def _one(index: int) -> dict[str, Any]:
    if _runner is None:
        raise InvalidValueError("worker", "not begun", "allowed: after its runner was made")
    return _runner.run(index)


def summary(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the figures over all tasks."""
    executed = [row for row in rows if "seconds" in row]
    figures: dict[str, Any] = {
        "tasks": len(rows),
        "outcomes": _counts(row["outcome"] for row in rows),
        "ways": _counts(row["way"] for row in rows),
        "staggered": sum(row["later"] > 0.0 for row in rows),
        "unplanned": [row["index"] for row in rows if row["outcome"] == "unplanned"],
        "not_arrived": {str(r["index"]): r["reason"] or r["outcome"] for r in executed if r["outcome"] != "arrived"},
        "planning_s": _spread([row["planning"] for row in rows]),
    }
    if not executed:
        return figures
    figures |= _contacts(executed)
    told = [told for row in executed for told in row["deadlocks"]]
    figures["stops"] = {
        "deadlocks": sum(bool(entry[1]) for entry in told),
        "for_a_later_command": sum(not entry[1] for entry in told),
        "planned_again": sum(row["replans"] for row in executed),
        "tasks_with_deadlock": sum(any(entry[1] for entry in row["deadlocks"]) for row in executed),
        "tasks_with_deadlock_that_arrived": sum(
            row["outcome"] == "arrived" and any(entry[1] for entry in row["deadlocks"]) for row in executed
        ),
    }
    figures["executed_s"] = _spread([row["seconds"] for row in executed])
    figures["pushed_part"] = round(float(np.mean([row["pushed"] for row in executed])), 4)
    figures["tasks_pushed"] = sum(row["pushed"] > 0.0 for row in executed)
    figures["servo_error_rad"] = _spread([row["servo_error"] for row in executed])
    figures["throughput_against_turns"] = _throughput(executed)
    return figures


def _contacts(executed: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    touches = [(row["index"], *touch) for row in executed for touch in row["touches"]]
    touches += [(row["index"], *touch) for row in executed for touch in row.get("turns", {}).get("touches", [])]
    near = [row["nearest"] for row in executed if row["nearest"] is not None]
    return {
        "contacts": len(touches),
        "contacts_between_arms": sum(not any("obstacle" in name for name in touch[1:3]) for touch in touches),
        "tasks_with_contact": len({touch[0] for touch in touches}),
        "contact_list": touches[:50],
        "nearest_mm": round(1e3 * min(near), 2) if near else None,
        "simulated_s": round(sum(row["seconds"] for row in executed), 1),
    }


def _throughput(executed: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the ratio of times, in turns over together, of tasks that arrived both ways."""
    both = [row for row in executed if row.get("turns", {}).get("outcome") == row["outcome"] == "arrived"]
    planned = [row for row in executed if row["later"] == 0.0]
    turns = sum(sum(r["alone"]) for r in planned)
    figures: dict[str, Any] = {
        "tasks_planned": len(planned),
        "planned_ratio": round(turns / max(sum(r["planned"] for r in planned), 1e-9), 3),
        "tasks_executed_both_ways": len(both),
    }
    if both:
        ratios = [row["turns"]["seconds"] / row["seconds"] for row in both]
        whole = sum(row["turns"]["seconds"] for row in both) / sum(row["seconds"] for row in both)
        figures |= {"ratio": round(whole, 3), "ratio_per_task": _spread(ratios)}
    return figures


def _counts(values: Iterator[str] | Any) -> dict[str, int]:
    found = list(values)
    return {value: found.count(value) for value in sorted(set(found))}


def _spread(values: Sequence[float]) -> dict[str, float]:
    p5, p50, p95 = np.percentile(values, (5, 50, 95))
    return {"p5": round(p5, 4), "median": round(p50, 4), "p95": round(p95, 4), "max": round(max(values), 4)}


def _goals(figures: Mapping[str, Any], options: RunOptions) -> list[dict[str, Any]]:
    if not (options.field and options.scheduled):
        return []  # shown without a part, to see what it is for
    goals = [
        report.goal("crossing tasks", figures["tasks"], "tasks", ">=", TASKS),
        report.goal("contacts, MuJoCo", figures.get("contacts", np.nan), "contacts", "==", 0),
        report.goal("tasks that neither arrived nor reported why", _silent(figures), "tasks", "==", 0),
    ]
    ratio = figures.get("throughput_against_turns", {}).get("ratio")
    if ratio is not None:
        goals.append(report.goal("throughput against taking turns", ratio, "times", ">=", 1.0))
    return goals


def _silent(figures: Mapping[str, Any]) -> int:
    return sum(reason == "timeout" for reason in figures["not_arrived"].values())
