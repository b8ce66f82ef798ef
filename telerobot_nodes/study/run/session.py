"""A person works through a study: the order of events.

What belongs here: when a graph starts and stops, when the person is asked what. What must never enter: what counts as
reached (`design/judge.py`), the order of the trials (`design/order.py`), widgets (`page.py`).
"""

from __future__ import annotations

import contextlib
import datetime
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from telerobot_nodes.core.protocol import UpdateKind
from telerobot_nodes.core.robot import RobotModel, load_robot
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.operator.client import PlanChange, commands
from telerobot_nodes.operator.console import Console, ConsoleSetup
from telerobot_nodes.operator.scene import ArmShapes, Detail, load_shapes
from telerobot_nodes.operator.view import plan_lines
from telerobot_nodes.operator.web import open_browser, user_token
from telerobot_nodes.runtime import GraphOptions, NodeEvent, Supervisor, join_graph
from telerobot_nodes.study.design import DIRECT, SCALES, TOUCH_COST, Ending, Judge, Task, Trial, Workload, task_named
from telerobot_nodes.study.results import StudyFolder, TrialResult, write_summary
from telerobot_nodes.study.run.page import MIDDLE, Press, StudyPage
from telerobot_nodes.study.run.scripted_hand import ScriptedHand
from telerobot_nodes.study.run.trial_graph import BAG, trial_graph

if TYPE_CHECKING:
    from telerobot_nodes.nodes.clients import Terminal

START_LIMIT = 120.0  # [s] for the graph to be ready
LINK_LIMIT = 30.0  # [s] for the link to carry reports, and two round trips
PERIOD = 0.02  # [s] of looking and moving
DRAW_PERIOD = 0.1  # [s] of the targets

OFFERED: frozenset[commands.Kind] = frozenset(
    {
        *(commands.TimeClutch, commands.PositionClutch, commands.Brake, commands.Clear),
        *(commands.Deed.ADOPT, commands.Deed.DISCARD, commands.Deed.UNDO),
        *(commands.OrientationClutch, commands.LinearScale, commands.AngularScale),
    }
)
_HAND: frozenset[commands.Kind] = frozenset({commands.OrientationClutch, commands.LinearScale, commands.AngularScale})
ALLOWED: dict[str, frozenset[commands.Kind]] = {
    "a": _HAND,
    "b": _HAND,
    "c": _HAND | {commands.TimeClutch},
    "d": OFFERED,
}
SEEN = {
    "a": ("You see the actual arm, as late as the link is, and nothing of what it is going to do.",),
    "b": ("The orange arm shows at once what the actual arm is going to do.",),
    "c": (
        "The orange arm shows at once what the actual arm is going to do.",
        "The time clutch is disengaged: the actual arm follows at its own pace, however fast you go.",
    ),
    "d": (
        "The orange arm shows at once what the actual arm is going to do.",
        "The time clutch is disengaged: the actual arm follows at its own pace, however fast you go.",
        "Position clutch off: you try a path, and join it to the plan by switching the clutch on, or discard it.",
        "The brake takes back the end of the plan for as long as it is above 0; undo brings it back.",
    ),
}
WHAT_TO_DO = (
    "Bring the tool through the numbered targets in their order: orange is the next one, blue are those that the plan "
    "passes, green those that the actual arm has passed.",
    "The trial ends by itself once the actual arm is seen in the last target.",
)

Show = Callable[[str], None]  # prints a line of progress


class StudyError(TelerobotError):
    """A trial could not be held; the message names what did not come. Its results so far are kept."""


@dataclass(frozen=True)
class Seat:
    """Where the person sits, and who moves and answers."""

    host: str = "127.0.0.1"
    port: int = 8080
    browser: bool = True  # open it, if there is a screen
    params: Path | None = None  # of the graph; None: the study's own
    scripted_hand: bool = False
    scripted_answers: bool = False  # and presses


def run_study(folder: StudyFolder, person: str, seat: Seat, show: Show = print) -> bool:
    """Hold the trials that a person has not done yet; False if the person stopped before the last one.

    Writes table and picture at the end, also of a study that is broken off. Raises StudyError.
    """
    trials = folder.left(person)
    join_graph()  # before messages are imported: this process is a node of the graph as well
    try:
        with contextlib.closing(Session(folder, person, seat, show)) as session:
            return all(session.hold(trial) for trial in trials)
    finally:
        write_summary(folder)


class Session:
    """One person at one console, from the first trial to the last or until the person stops."""

    def __init__(self, folder: StudyFolder, person: str, seat: Seat, show: Show = print) -> None:
        self._folder, self._person, self._seat, self._show = folder, person, seat, show
        self._trials = len(folder.settings.order(folder.person(person)))
        self._robot: RobotModel = load_robot(folder.settings.robot)
        self._desk: _Desk | None = None
        self._ending: threading.Thread | None = None

    def hold(self, trial: Trial) -> bool:
        """Hold one trial and add its result; False if the person stopped before it. Raises StudyError."""
        task, place = task_named(trial.task), self._folder.place(self._person, trial)
        name = f"trial {trial.number} of {self._trials}"
        self._show(f"{name}: {trial.task}, ({trial.condition}), round trip {trial.round_trip:g} s")
        options = trial_graph(task, trial.round_trip, self._folder.settings.robot, place, self._seat.params)
        with self._graph(options, place, name) as supervisor:
            desk = self._seated(supervisor)
            self._prepare(desk, trial, task)
            if self._wait_for(desk, name, (Press.BEGIN, Press.PAUSE), _instructions(trial, task)) is Press.PAUSE:
                return False
            begun = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
            judge, ending = self._work(desk, trial, task, name)
            self._ending = threading.Thread(target=supervisor.stop, name="end of the trial", daemon=True)
            self._ending.start()  # while the person answers
            workload = self._ask(desk, f"{name}: {ending.value}")
        result = TrialResult(
            person=self._person,
            trial=trial,
            ending=ending,
            elapsed=round(judge.elapsed, 2),
            seconds=judge.seconds(trial.round_trip),
            touches=judge.touches,
            targets=judge.done,
            workload=workload,
            begun=begun,
            bag=str((place / BAG).relative_to(self._folder.folder)),
        )
        self._folder.add(result)
        self._show(f"{name}: {result.ending.value} after {result.elapsed:.1f} s, workload {workload.score:.0f}")
        return True

    def close(self) -> None:
        """End the console."""
        if self._desk is not None:
            self._desk.close()

    @contextlib.contextmanager
    def _graph(self, options: GraphOptions, place: Path, name: str) -> Iterator[Supervisor]:
        """A graph for the time of one trial; its lines go to `nodes.log`."""
        with (place / "nodes.log").open("w", encoding="utf-8") as log:
            supervisor = Supervisor(options, on_line=lambda node, line: print(f"[{node}] {line}", file=log))
            if self._desk is not None:
                self._desk.page.show(name, ("The robot is being started. Please wait.",), ())
                self._desk.step(PERIOD)
            supervisor.start()
            try:
                end = time.monotonic() + START_LIMIT
                while not supervisor.wait_ready(PERIOD):
                    if supervisor.wait(0.0) or time.monotonic() > end:
                        raise StudyError(_failed(supervisor, place))
                    if self._desk is not None:
                        self._desk.step(PERIOD)
                yield supervisor
                if supervisor.failure is not None:
                    raise StudyError(_failed(supervisor, place))
            finally:
                supervisor.stop()

    def _seated(self, supervisor: Supervisor) -> _Desk:
        """The console, on this graph."""
        if self._desk is None:
            from telerobot_nodes.nodes.clients import Terminal  # after `join_graph`

            self._desk = _Desk(Terminal(), self._robot, self._seat)
            self._show(f"console: {self._desk.console.url}")
        self._desk.supervisor = supervisor
        return self._desk

    def _prepare(self, desk: _Desk, trial: Trial, task: Task) -> None:
        """Wait for the graph's states, and set what the condition shows and allows."""
        desk.begin_graph()
        limit = LINK_LIMIT + 2.0 * trial.round_trip
        if not desk.wait(desk.is_fresh, limit):
            raise StudyError(f"the robot's reports: not within {limit:g} s")
        engaged = trial.condition in "ab"
        outcome = desk.terminal.ask(commands.TimeClutch(engaged))
        if not outcome.done or not desk.wait(lambda: desk.client.queue.time_clutch == engaged, LINK_LIMIT):
            raise StudyError(f"time clutch {'on' if engaged else 'off'}: {outcome.text or 'not in force'}")
        desk.console.allow(ALLOWED[trial.condition])
        desk.console.show_ahead(trial.condition != DIRECT, _error(trial, task))

    def _wait_for(self, desk: _Desk, title: str, presses: Sequence[Press], lines: Sequence[str]) -> Press:
        """What the person presses of `presses`; the script presses the first of them."""
        desk.page.show(title, lines, presses)
        if self._seat.scripted_answers:
            desk.page.press(presses[0])
        while True:
            desk.step(PERIOD)
            for press in desk.page.take():
                return press

    def _work(self, desk: _Desk, trial: Trial, task: Task, name: str) -> tuple[Judge, Ending]:
        """From the first sight of the targets to the end of the trial."""
        client, page, error = desk.client, desk.page, _error(trial, task)
        page.show(name, _instructions(trial, task), (Press.GIVE_UP,))
        judge = Judge(task, trial.seed, client.robot.tool_pose[:3], desk.now(), self._folder.settings.limit)
        hand = ScriptedHand(desk.terminal, trial, judge.goals, error) if self._seat.scripted_hand else None
        drawn = -DRAW_PERIOD
        while (ending := judge.ending) is None:
            now = desk.now()
            if now - drawn >= DRAW_PERIOD:
                drawn = now
                planned = judge.planned(desk.path() + error) if trial.condition != DIRECT else 0
                page.draw(judge.goals, judge.done, planned, judge.plate)
            if hand is not None:
                hand.step(now, judge.goals)
            desk.step(PERIOD)
            if Press.GIVE_UP in page.take():
                judge.abandon(desk.now())
            judge.see(desk.now(), client.robot.tool_pose[:3])
        page.clear()
        return judge, ending

    def _ask(self, desk: _Desk, title: str) -> Workload:
        """The person's answers about the workload."""
        desk.supervisor = None  # it is being stopped
        lines = ("How was this trial? Please move each slider, also where 50 is right.",)
        desk.page.show(title, lines, (Press.SAVE,), questions=True)
        if self._seat.scripted_answers:
            desk.page.answer(Workload(dict.fromkeys(SCALES, MIDDLE)))
            desk.page.press(Press.SAVE)
        while True:
            desk.step(PERIOD)
            if Press.SAVE in desk.page.take() and (workload := desk.page.answers()) is not None:
                return workload


class _Desk:
    """Console and client of a study; they outlive the graphs of its trials."""

    def __init__(self, terminal: Terminal, robot: RobotModel, seat: Seat) -> None:
        self.terminal, self.client = terminal, terminal.operator
        self.supervisor: Supervisor | None = None  # None: no graph is needed now
        shapes = ArmShapes(load_shapes(robot, Detail.VISUAL), load_shapes(robot, Detail.COLLISION))
        setup = ConsoleSetup(seat.host, seat.port, OFFERED, typed_goals=False, token=user_token())
        self.console = Console(self.client, robot, shapes, setup)
        self.page = StudyPage(self.console.gui, self.console.scene)
        self._since = 0.0  # [s] when this graph was ready
        if seat.browser:
            open_browser(self.console.url, os.environ)

    def now(self) -> float:
        """Host monotonic time [s]."""
        return self.terminal.now()

    def begin_graph(self) -> None:
        """Forget the plan of the graph before."""
        self.client.receive_plan(PlanChange(UpdateKind.RESET))
        self.client.notices.clear()
        self._since = self.now()

    def is_fresh(self) -> bool:
        """True when this graph's states are here and the operator holds the plan."""
        client, received = self.client, self.client.received
        times = (received.queue, received.robot, received.simulation)
        fresh = all(time is not None and time > self._since for time in times)
        return fresh and client.queue.has_authority and not client.queue.stale and client.robot.tool_pose.size == 7

    def path(self) -> FloatArray:
        """(n, 3) [m] the plan ahead of the arm."""
        lines = plan_lines(self.client)
        return np.concatenate((lines.committed[:-1], lines.ahead))  # they share a joint

    def step(self, seconds: float) -> None:
        """Receive for a time, serve the pages. Raises StudyError when the graph has ended."""
        self.terminal.spin(seconds)
        self.client.tick(self.now())
        self.console.step(self.now())
        if self.supervisor is not None and self.supervisor.wait(0.0):
            failure = self.supervisor.failure
            raise StudyError(f"{failure or 'the graph'} ended under way; start again to repeat this trial")

    def wait(self, ready: Callable[[], bool], limit: float) -> bool:
        """Serve the pages until `ready`; False after `limit` [s]."""
        end = self.now() + limit
        while not ready():
            if self.now() > end:
                return False
            self.step(PERIOD)
        return True

    def close(self) -> None:
        """End the web server, leave the graph."""
        self.console.close()
        self.terminal.close()


def _instructions(trial: Trial, task: Task) -> tuple[str, ...]:
    plate = (f"Do not touch the plate: a touch costs {TOUCH_COST:g} s and one round trip.",) if task.plate else ()
    return (*WHAT_TO_DO, *SEEN[trial.condition], *plate, f"Round trip of the link: {trial.round_trip:g} s.")


def _error(trial: Trial, task: Task) -> FloatArray:
    """(3,) [m] from the tool to where it is drawn ahead of the arm; the actual arm is drawn where it is."""
    return task.error(trial.seed) if trial.condition != DIRECT else np.zeros(3)


def _failed(supervisor: Supervisor, place: Path) -> str:
    failure: NodeEvent | None = supervisor.failure
    if failure is not None:
        return f"{failure}; see {place / 'nodes.log'}"
    return f"not ready after {START_LIMIT:g} s: {', '.join(supervisor.waiting_for())}; see {place / 'nodes.log'}"
