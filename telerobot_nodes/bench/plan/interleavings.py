"""Interleavings of operators, links, faults and restarts: how many pass without a counter-example.

The state machines are those of the tests, run with Hypothesis for as many examples as asked. `model`: queue and log at
a robot reduced to its promises; `executor`: at the real executor and control step; each with one operator and with two.
"""

from __future__ import annotations

import re
import time
import traceback
from collections.abc import Callable, Mapping
from typing import Any

from telerobot_nodes.bench import chosen, report
from telerobot_nodes.bench.plan.checkout import load_test

MACHINES: Mapping[str, tuple[str, str]] = {
    "model": ("plan/queue/test_plan_machine.py", "PlanMachine"),
    "model-agents": ("plan/authority/test_agents_machine.py", "AgentsMachine"),
    "executor": ("plan/executor/test_executor_machine.py", "ExecutorMachine"),
    "executor-agents": ("plan/executor/test_executor_machine.py", "ExecutorAgentsMachine"),
}
ACTIONS = 25  # most in one interleaving
CHECK = "hypothesis_stateful_invariant"  # how Hypothesis marks a method that is checked after each action
CALL = re.compile(r".*state\.(\w+)\(")


def run(options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return conditions, figures and goals. Options: `examples` (100) of each of `machines` (all), `seed` (1)."""
    options = options or {}
    examples, seed = int(options.get("examples", 100)), int(options.get("seed", 1))
    figures: dict[str, Any] = {"actions_at_most": ACTIONS}
    goals = []
    for name in chosen(options, "machines", tuple(MACHINES)):
        file, machine = MACHINES[name]
        figures[name] = explore(getattr(load_test(file), machine), examples, seed)
        failures = len(figures[name]["counter_example"]) > 0
        goals.append(report.goal(f"counter-examples, {name}, {examples} asked", float(failures), "-", "<=", 0.0))
        goals.append(report.goal(f"interleavings, {name}", figures[name]["examples"], "-", ">=", examples))
    return report.result(report.conditions(seed), figures, goals)


def explore(machine: Callable[[], Any], examples: int, seed: int) -> dict[str, Any]:
    """Run a state machine; returns the number of interleavings, seconds, and the counter-example, "" if none."""
    import hypothesis
    from hypothesis.stateful import run_state_machine_as_test

    made = 0
    lines: list[object] = []

    def counted() -> Any:  # Hypothesis only calls it
        nonlocal made
        made += 1
        return machine()

    settings = hypothesis.settings(
        max_examples=examples,
        stateful_step_count=ACTIONS,
        deadline=None,
        database=None,
        phases=(hypothesis.Phase.generate,),  # the tests shrink what they find; that takes minutes
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    seeded: Any = hypothesis.seed(seed)(counted)
    begun = time.monotonic()
    with hypothesis.reporting.with_reporter(lines.append):
        try:
            run_state_machine_as_test(seeded, settings=settings)
        except Exception as error:  # noqa: BLE001 whatever a machine raises is a counter-example
            return _result(made, begun, _story(machine, error, lines))
    return _result(made, begun, "")


def _story(machine: Any, error: Exception, lines: list[object]) -> str:
    """The failed check and where it stands, then the actions that led to it, without the checks between them."""
    checks = {name for name in dir(machine) if hasattr(getattr(machine, name), CHECK)}
    notes = "\n".join([*map(str, lines), *getattr(error, "__notes__", [])]).splitlines()
    calls = [line for line in notes if (found := CALL.match(line)) and found[1] not in checks]
    frames = traceback.format_tb(error.__traceback__)
    return "\n".join([f"{type(error).__name__}: {error}", *frames[-1:], *calls])


def _result(examples: int, begun: float, counter_example: str) -> dict[str, Any]:
    seconds = time.monotonic() - begun
    return {"examples": examples, "seconds": round(seconds, 1), "counter_example": counter_example}
