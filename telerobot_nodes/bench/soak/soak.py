"""The graph in use for a long time: what grows, what is lost, and which missed deadlines nobody was told of.

Both graphs as their users start them (`telerobot up robot|operator --hosts FILE`): queue, link, executor, loop,
hardware, decision unit and recorders, without the planner. A hand that ends where it began moves the arm again
and again. Options: `minutes` (2) or `hours` of it in real time, `every` [s] between two samples, `folder` for the
recordings (kept there; eight hours need room), `without` (nodes that the operator's graph leaves out; the console),
`domain` (this and the next are used).
"""

from __future__ import annotations

import contextlib
import signal
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from telerobot_nodes.bench import report
from telerobot_nodes.bench.faults import LEFT_OUT, Loop, Rig
from telerobot_nodes.bench.join import PERIOD, write_hand
from telerobot_nodes.bench.security import refusals
from telerobot_nodes.bench.soak import judge
from telerobot_nodes.bench.soak.usage import Sample, Usage, shared_memory, usage_of
from telerobot_nodes.core.protocol import DeviceState
from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.operator.client import commands

NODES = {
    "robot": ("bag_recorder", "link", "plan_executor", "rtc_decision_unit", "gcmsf_control", "hardware_interface"),
    "operator": ("bag_recorder", "link", "path_plan_queue", "forward_simulator", "operator_input", "operator_console"),
}
LOOP_NODE = "gcmsf_control"
ROUND_LIMIT = 120.0  # [s]
SHOWN = 200  # characters of a reason
DIAGNOSTICS = 2.5  # [s] until what has happened is on diagnostics


class Soak:
    """A run: rounds of motion, and samples meanwhile."""

    def __init__(self, rig: Rig, hand: Path, seconds: float, every: float, without: Sequence[str]) -> None:
        """For `seconds`, with a sample `every` [s]; `without`: nodes of the operator that are not there."""
        self._rig, self._hand, self._every = rig, hand, every
        self.nodes = {role: tuple(name for name in names if name not in without) for role, names in NODES.items()}
        self.samples: list[Sample] = []
        self.loop: list[Loop] = []  # the ends of the run
        self.rounds = self.broken = 0  # points lost, twice or out of order
        self.stopped: list[str] = []  # rounds that did not come to their end, and why
        self._due = rig.now()
        self._until = rig.now() + seconds

    def run(self) -> None:
        """Move and look, until the time is over. Raises TelerobotError when a graph has ended."""
        while self._rig.now() < self._until:
            try:
                self._round()
            except TelerobotError as error:
                self._check_graphs()
                self.stopped.append(f"round {self.rounds + 1}: {error}"[:SHOWN])
                self._rig.ready_again()
            self.rounds += 1
            self._keep_ends()
            self._rig.clear()
            self._rig.operator.plan.clear()

    def _round(self) -> None:
        rig = self._rig
        answer = rig.ask(commands.Replay(str(self._hand), 1.0, 1.0))
        if not answer.done:
            raise TelerobotError(answer.text)
        rig.until(rig.moving, "motion")
        self._watch()
        self.broken += sum(rig.finish())

    def _check_graphs(self) -> None:
        for role in NODES:
            if not self._rig.runs(role):
                raise TelerobotError(f"round {self.rounds + 1}: the graph of the {role} has ended")

    def _watch(self) -> None:
        rig, limit = self._rig, self._rig.now() + ROUND_LIMIT
        while rig.operator.operator.queue.device is not DeviceState.IDLE and rig.now() < limit:
            rig.spin(0.2)
            if rig.now() >= self._due:
                self._due = rig.now() + self._every
                self.samples.append(self._sample())
            self._check_graphs()

    def _sample(self) -> Sample:
        processes: dict[str, Usage] = {}
        for role, names in self.nodes.items():
            for name in names:
                with contextlib.suppress(TelerobotError):
                    found = usage_of(self._rig.pid(role, name))
                    if found is not None:
                        processes[f"{role} {name}"] = found
        return Sample(self._rig.now(), processes, *shared_memory())

    def _keep_ends(self) -> None:
        states = [*self.loop, *self._rig.trace.loop]
        self.loop = [*states[: judge.ENDS], *states[judge.ENDS :][-judge.ENDS :]]


def run(options: Mapping[str, str]) -> dict[str, Any]:
    """Use the graph for so long."""
    minutes = 60.0 * float(options["hours"]) if "hours" in options else float(options.get("minutes", 2.0))
    domain, every = int(options.get("domain", 86)), float(options.get("every", 2.0))
    without = options.get("without", ",".join(LEFT_OUT["operator"])).split(",")
    conditions = report.conditions()
    conditions["run"] = f"{minutes:g} minutes asked for, in real time"
    conditions["without"] = [*LEFT_OUT["robot"], *without]
    with contextlib.ExitStack() as stack:
        folder = Path(options.get("folder") or stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        rig = Rig(folder, (domain, domain + 1), LEFT_OUT | {"operator": tuple(without)})
        stack.callback(rig.close)
        signal.signal(signal.SIGTERM, lambda *_: rig.request_end())  # the graphs are stopped first
        rig.start()
        rig.ready()
        soak = Soak(rig, write_hand(folder / "hand.csv"), 60.0 * minutes, every, without)
        began = rig.now()
        soak.run()
        seconds = rig.now() - began
        rig.spin(DIAGNOSTICS)
        told = int(rig.robot.health.get(LOOP_NODE, {}).get("missed", -1))
        links = {
            role: watch.health.get("link", {}) for role, watch in (("robot", rig.robot), ("operator", rig.operator))
        }
    return _result(conditions, soak, seconds, told, links)


def _result(
    conditions: dict[str, Any], soak: Soak, seconds: float, told: int, links: Mapping[str, Mapping[str, str]]
) -> dict[str, Any]:
    found = judge.growths(soak.samples)
    steps, missed = (soak.loop[-1].steps, soak.loop[-1].missed) if soak.loop else (0, -1)
    untold = judge.untold(soak.loop, PERIOD)
    figures = {
        "seconds": round(seconds, 1),
        "rounds": soak.rounds,
        "samples": len(soak.samples),
        "broken_points": soak.broken,
        "steps": steps,
        "missed": missed,
        "missed_on_diagnostics": told,
        "untold_periods": round(untold, 2),
        "growth": judge.figures_of(found),
        "stopped": soak.stopped,
        "refused_datagrams": {role: refusals(one) for role, one in links.items()},
    }
    lived = sum(len(names) for names in soak.nodes.values())
    goals = [
        report.goal("use", seconds, "s", ">=", 8.0 * 3600.0),
        report.goal("points lost, twice or out of order", soak.broken, "-", "==", 0),
        report.goal("rounds that did not come to their end", len(soak.stopped), "-", "==", 0),
        report.goal("nodes that lived all the time", len(found) - 1, "-", "==", lived),
        report.goal("missed periods that are not on diagnostics", max(0, missed - told), "-", "==", 0),
        report.goal("periods neither stepped nor counted as missed", untold, "-", "==", 0),
        *judge.goals_of(found, seconds),
    ]
    return report.result(conditions, figures, goals)
