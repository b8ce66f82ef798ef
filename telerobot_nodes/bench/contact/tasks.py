"""Success rates of the contact tasks over random starts, on all cores, one seed per run."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import numpy as np

from telerobot_nodes.bench import report
from telerobot_nodes.tasks import TaskResult, TaskRig, load_task

GOAL = 0.95  # [-] of the runs succeed


def run_tasks(names: Sequence[str], seed: int, repeat: int, processes: int = 0) -> dict[str, Any]:
    """Return conditions, figures and goals of `repeat` runs of each task, with seeds from `seed` on."""
    for name in names:
        load_task(name)  # refused before anything runs
    jobs = [(name, seed + k) for name in names for k in range(repeat)]
    count = min(processes or len(os.sched_getaffinity(0)), len(jobs))
    if count == 1:
        results = [_one(job) for job in jobs]
    else:
        # fresh processes: physics and compiled code do not mix with a fork
        with ProcessPoolExecutor(count, mp_context=get_context("spawn")) as pool:
            results = list(pool.map(_one, jobs, chunksize=1))
    by_task = {name: [r for (asked, _), r in zip(jobs, results, strict=True) if asked == name] for name in names}
    figures = {name: _figures(runs) for name, runs in by_task.items()}
    goals = [
        report.goal(f"{name}: successes of {len(runs)}", figures[name]["success_rate"], "-", ">=", GOAL)
        for name, runs in by_task.items()
    ]
    return report.result(report.conditions(seed), figures, goals)


def _one(job: tuple[str, int]) -> TaskResult:
    name, seed = job
    return TaskRig(load_task(name), seed).run()


def _figures(runs: Sequence[TaskResult]) -> dict[str, Any]:
    measures = {}
    for i, verdict in enumerate(runs[0].verdicts):
        values = np.array([run.verdicts[i].value for run in runs])
        finite = values[np.isfinite(values)]
        measures[verdict.name] = {
            "unit": verdict.unit,
            "wanted": f"{verdict.op} {verdict.limit:g}",
            "met": sum(run.verdicts[i].met for run in runs),
            "median": float(np.median(finite)) if finite.size else None,
            "least": float(finite.min()) if finite.size else None,
            "most": float(finite.max()) if finite.size else None,
        }
    ends = Counter(f"{run.ended[-1].label}: {run.ended[-1].reason}" for run in runs if run.ended)
    return {
        "runs": len(runs),
        "success_rate": float(np.mean([run.success for run in runs])),
        "failed_seeds": [run.seed for run in runs if not run.success],
        "measures": measures,
        "last_primitive": dict(ends.most_common(5)),
        "readings": _readings(runs[0]),
        "simulated_s": round(float(np.mean([run.simulated for run in runs])), 2),
        "times_real_time": round(float(np.median([run.simulated / run.wall for run in runs])), 2),
    }


def _readings(run: TaskResult) -> list[dict[str, Any]]:
    """Return the outcome of each primitive of one run."""
    return [{"label": e.label, "reason": e.reason, "elapsed_s": round(e.elapsed, 3), **e.readings} for e in run.ended]


def text(result: dict[str, Any]) -> str:
    """Format goals and measures as lines for a terminal."""
    lines = [report.text(result)]
    for name, figure in result["figures"].items():
        lines.append(f"{name}: {figure['runs']} runs, {figure['times_real_time']:g} times real time")
        for measure, row in figure["measures"].items():
            lines.append(f"  {measure}: {_range(row)} {row['unit']}, wanted {row['wanted']}, met {row['met']}")
        if figure["failed_seeds"]:
            lines.append(f"  failed seeds: {figure['failed_seeds']}; ends: {figure['last_primitive']}")
    return "\n".join(lines)


def _range(row: dict[str, Any]) -> str:
    if row["median"] is None:
        return "nothing measured"
    return f"{row['median']:.4g} ({row['least']:.4g} .. {row['most']:.4g})"
