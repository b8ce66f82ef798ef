"""A workcell in memory: the real interface, decision unit, workers and database; an executor below them.

Time is simulated: it goes from one event to the next.
"""

from __future__ import annotations

import heapq
import itertools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from telerobot_nodes.rtc.decision import (
    CommandReport,
    DecisionUnit,
    Dispatch,
    HaltSubsystem,
    HoldSubsystem,
    Job,
    Output,
    Progress,
    Reply,
    ScriptState,
    Send,
    ShowTask,
)
from telerobot_nodes.rtc.rehearsal.executor import KinematicExecutor
from telerobot_nodes.rtc.rehearsal.slide_arms import Obstacles, SlideChecks
from telerobot_nodes.rtc.server import InterfaceServer, Workers
from telerobot_nodes.rtc.skills import Library, Primitive
from telerobot_nodes.rtc.world import Database, Validity

FOREVER = 10_000.0  # [s]
START = (0.3, 0.0, 0.7)  # [m] between the arms' tools at the start
APART = 0.4  # [m] between them
HOME = (0.2, 0.0, 0.7, 0.0, np.pi, 0.0)
ANSWER_AFTER = 1.0  # [s] a person takes for a task


class Cell:
    """Drives the interface with the executor; collects what comes out."""

    def __init__(
        self,
        library: Library,
        folder: Path | None,
        faults: Mapping[str, Sequence[str | None]] | None = None,
        balls: Mapping[str, tuple[tuple[float, float, float], float]] | None = None,
        home: tuple[float, float, float] = START,
        database: Database | None = None,
        executor: Callable[..., KinematicExecutor] = KinematicExecutor,
    ) -> None:
        """`folder`: of the skill files; `faults`: see KinematicExecutor; `home`: where the arms start [m]."""
        self.library = library
        self.checks = SlideChecks(collision=Obstacles(balls or {}))
        own = {f"{arm}.home": HOME for arm in library.workcell.arms}
        start = Database(replace(item, value=own.get(item.key, item.value)) for item in library.workcell.items)
        self.database = database or start
        self.workers = Workers(self.database, self.checks, folder)
        self.interface = InterfaceServer(DecisionUnit(library), self.database)
        self.executor = executor(start, self.checks, faults)
        self._poses = {item.key: item.value for item in self.database.view.query()}
        self.now = 0.0  # [s]
        self.scripts: list[ScriptState] = []  # each change of a live script
        self.script_times: list[float] = []  # [s] of each
        self.reports: dict[int, CommandReport] = {}
        self.report_count: Counter[int] = Counter()
        self.replies: list[Reply] = []
        self.progress: list[Progress] = []
        self.tasks: dict[int, ShowTask] = {}
        self.halts: list[tuple[float, HaltSubsystem]] = []
        self.on_task: Callable[[ShowTask], str | None] | None = None  # the operator's answer to each task
        self.after: list[tuple[float, int, Callable[[], object]]] = []  # time, order, action
        self._order = itertools.count()
        self._queue: list[tuple[int, Job]] = []
        places = np.linspace(-0.5, 0.5, len(library.workcell.arms)) if len(library.workcell.arms) > 1 else [0.0]
        for arm, place in zip(library.workcell.arms, places, strict=True):
            self.executor.joints[arm] = np.array([home[0], home[1] + APART * place, home[2], 0.0, np.pi, 0.0])
            self.measure(arm)
        self.settle()

    def measure(self, arm: str) -> None:
        """Give the interface the joints and the tool's pose of an arm, as a measurement at the present time."""
        joints = self.executor.joints[arm]
        pose = self.checks.kinematics.forward(arm, joints)
        self.take(self.interface.measured(arm, tuple(joints.tolist()), tuple(pose.tolist()), self.now))

    @property
    def unit(self) -> DecisionUnit:
        """The decision unit."""
        return self.interface.unit

    def say(self, text: str | bytes, sender: str = "operator") -> int:
        """Submit a text; the number of the command, 0 when it is none or is not read yet."""
        before = len(self.replies)
        self.take(self.interface.submit(sender, text, self.now))
        return next((reply.command for reply in self.replies[before:] if reply.command), 0)

    def run(self, text: str | bytes, sender: str = "operator") -> CommandReport:
        """Submit a command and go on until it has ended."""
        number = self.say(text, sender)
        assert number, self.replies[-1].text
        self.settle()
        return self.reports[number]

    def settle(self, until: float = FOREVER) -> None:
        """Go on until nothing happens any more, or until a time [s]."""
        while True:
            self._work()
            if not self.unit.commands and not self._queue and not self.executor.running and not self.after:
                return
            asked = min((time for time, _, _ in self.after), default=float("inf"))
            later = min(self.executor.next_end(), self.unit.wake_at(), asked)
            if later > until:
                self.now = max(self.now, until) if until < FOREVER else self.now
                return
            self.now = max(self.now, later)
            due = [entry for entry in self.after if entry[0] <= self.now]
            self.after = [entry for entry in self.after if entry[0] > self.now]
            for _, _, action in sorted(due, key=lambda entry: entry[:2]):
                action()
            for report in self.executor.finished(self.now):
                self.take(self.interface.report(report, self.now))
            self.take(self.interface.tick(self.now))

    def at(self, time: float, action: Callable[[], object]) -> None:
        """Do something at a time [s]."""
        self.after.append((time, next(self._order), action))

    def take(self, outputs: Sequence[Output]) -> None:
        """Take the outputs of the interface."""
        for output in outputs:
            self._one(output)
        changes = self.unit.script_changes(self.now)
        self.scripts += changes
        self.script_times += [self.now] * len(changes)

    def _one(self, output: Output) -> None:
        if isinstance(output, Dispatch):
            heapq.heappush(self._queue, (next(self._order), output.job))
        elif isinstance(output, Send):
            if "object" in (slots := self._slots(output.primitive)):
                self.executor.looking_for = str(slots["object"])
                self._show_what_was_moved(self.executor.looking_for)
            self.executor.begin(output.primitive, self.now)
        elif isinstance(output, HaltSubsystem):
            self.halts.append((self.now, output))
            self.executor.halt(output.subsystem, self.now)
        elif isinstance(output, HoldSubsystem):
            self.executor.hold(output.primitive, output.hold, self.now)
        elif isinstance(output, ShowTask):
            self._task(output)
        elif isinstance(output, CommandReport):
            self.reports[output.command] = output
            self.report_count[output.command] += 1
        elif isinstance(output, Progress):
            self.progress.append(output)
        elif isinstance(output, Reply):
            self.replies.append(output)

    def _show_what_was_moved(self, name: str) -> None:
        """The camera sees it in the hand, or where a step has put it."""
        view, key = self.database.view, f"{name}.pose"
        if not view.has(key):
            return
        item = view.item(key)
        if item.frame or (item.value != self._poses.get(key) and item.validity is not Validity.VALID):
            self.executor.truth[key] = tuple(view.pose(name, Validity.INVALID).tolist())
        self._poses[key] = item.value

    def _slots(self, primitive: Primitive) -> Mapping[str, object]:
        record = self.unit.commands.get(primitive.command)
        return record.request.slots if record and record.request else {}

    def _task(self, output: ShowTask) -> None:
        if not output.shown:
            self.tasks.pop(output.task, None)
            self.executor.running.pop(output.primitive, None)
            return
        self.tasks[output.task] = output
        answer = self.on_task(output) if self.on_task is not None else None
        if answer:
            self.at(self.now + ANSWER_AFTER, lambda: self.say(answer))

    def _work(self) -> None:
        while self._queue:
            _, job = heapq.heappop(self._queue)
            self.take(self.interface.job_done(self.workers.run(job, self.now), self.now))
        for number in [n for n, r in self.executor.running.items() if r.primitive.subsystem == "program"]:
            record = self.unit.commands.get(self.executor.running[number].primitive.command)
            if record is None or record.primitive is None or record.primitive.number != number:
                del self.executor.running[number]
