"""Benchmark of the promise that executed means done by the arm: random faults at random phases, in physics.

While a fault is in force the loop is offered a window in every period: new ones while the executor has any, else the
last again. A point counts as wrong when it is reported as executed and the measured arm, or in the end the fingers,
had not been there before.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from telerobot_nodes.bench import chosen, report
from telerobot_nodes.bench.plan.executed_rig import BETWEEN, FAULTS, Content, ExecutedRig
from telerobot_nodes.core.robot import RobotModel, load_robot

WINDOWS = 10_000  # offered during each fault
POINTS = {Content.PATH: 50, Content.DWELL: 30, Content.FINGERS: 50, Content.GRASP: 5}  # of a plan
GRASP_TIME = 0.8  # [s] of the fingers for their way
SHORTEST, LONGEST = 0.02, 0.6  # [s] of a fault


def run(options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Conditions, figures, goals.

    Options: `windows` (10000) offered during each fault of each kind of plan, `faults` and `plans` (all), `limit` [s]
    of all (none), `seed` (1).
    """
    options = options or {}
    windows, seed = int(options.get("windows", WINDOWS)), int(options.get("seed", 1))
    faults = chosen(options, "faults", tuple(FAULTS))
    contents = [Content(name) for name in chosen(options, "plans", [one.value for one in Content])]
    pairs = [(fault, content) for fault in faults for content in contents]
    limit = float(options.get("limit", 0.0)) / len(pairs)
    bench = _Bench(load_robot("arm"), seed)
    counts = {f"{fault}, {content.value}": bench.cases(fault, content, windows, limit) for fault, content in pairs}
    conditions = {**report.conditions(seed), "windows_asked_of_each": windows}
    return report.result(conditions, {"counts": counts, "first_failures": bench.failures}, _goals(counts))


class _Bench:
    """Cases, one after the other on one rig; after a failure, and now and then, on a new one."""

    def __init__(self, robot: RobotModel, seed: int) -> None:
        self._robot, self._seed = robot, seed
        self._case = 0
        self.failures: list[str] = []  # the first ten: which case, and what

    def cases(self, fault: str, content: Content, windows: int, limit: float) -> dict[str, int]:
        """Cases until `windows` were offered during the fault, or `limit` [s] (0: none) is over: counts."""
        counts: Counter[str] = Counter(cases=0, windows_in_the_fault=0, points=0, wrong=0, stuck=0)
        end = time.monotonic() + (limit or np.inf)
        rig = ExecutedRig(self._robot)
        while counts["windows_in_the_fault"] < windows and time.monotonic() < end:
            self._case += 1
            chance = np.random.default_rng([self._seed, self._case])
            rig.append(content, POINTS[content])
            rig.run(chance.uniform(0.0, GRASP_TIME if content is Content.GRASP else 1.2 * BETWEEN * POINTS[content]))
            before = rig.offered
            FAULTS[fault](rig, chance.uniform(SHORTEST, LONGEST))
            counts["windows_in_the_fault"] += rig.offered - before
            trouble, wrong = rig.help(), rig.wrong()
            counts.update(cases=1, points=len(rig.done), wrong=wrong, stuck=bool(trouble))
            if trouble or wrong:
                found = f"{wrong} points wrong" if wrong else trouble
                self.failures += [f"case {self._case}, {fault}, {content.value}: {found}"][: 10 - len(self.failures)]
                rig = ExecutedRig(self._robot)
        return dict(counts)


def _goals(counts: Mapping[str, Mapping[str, int]]) -> list[dict[str, Any]]:
    total: Counter[str] = Counter()
    for found in counts.values():
        total.update(found)
    return [
        report.goal("points counted as executed that the arm did not do", total["wrong"], "-", "==", 0),
        report.goal("plans that neither go on nor are reported", total["stuck"], "-", "==", 0),
    ]
