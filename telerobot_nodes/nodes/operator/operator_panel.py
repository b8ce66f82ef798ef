"""The Qt panel on the client of one arm: a window of its own, or the widget of the rqt plugin [US5231693].

The client receives on its own thread, or on rqt's. Everything crosses to the Qt thread as a signal. Not a node of the
graph table.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from threading import Thread
from time import monotonic
from typing import Any

from python_qt_binding.QtCore import QObject, QTimer, Signal
from python_qt_binding.QtWidgets import QApplication

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.menus import Leaf, folder_of
from telerobot_nodes.motion.parameters import KINDS
from telerobot_nodes.nodes.clients import NoGraphError, Robot, RunningPrimitive, RunningText, open_robot
from telerobot_nodes.nodes.menus import (
    PRACTICE,
    ClientRun,
    LeafRun,
    MenuRunner,
    Motion,
    MotionSender,
    PrimitiveRun,
    SimulatedRun,
    Situation,
)
from telerobot_nodes.operator.client import Command, CommandResult, PrimitiveResult, pairs
from telerobot_nodes.operator.panel import OperatorPanel
from telerobot_nodes.operator.view import ConsoleView

AGAIN = 3000  # [ms] between looks for a graph
MENU_PERIOD = 100  # [ms] between steps of the menus
SIZE = (640, 820)  # [px]


class PanelSession(QObject):
    """Connects a panel to a robot, as soon as there is one. Lives on the Qt thread."""

    joined = Signal(object)  # Robot
    failed = Signal(str)
    seen = Signal(object)  # ConsoleView
    told = Signal(str)

    def __init__(self, panel: OperatorPanel, join: Callable[[], Robot]) -> None:
        """`join` connects, on a thread of its own; raises TelerobotError when there is no graph."""
        super().__init__()
        self.robot: Robot | None = None
        self._panel, self._join, self._closed = panel, join, False
        self._primitive: RunningPrimitive | None = None
        self.joined.connect(self._on_joined)
        self.failed.connect(self._on_failed)
        self.seen.connect(self._on_seen)
        self.told.connect(panel.tell)
        asked = panel.requests
        asked.command.connect(self._on_command)
        asked.text.connect(self._on_text)
        asked.primitive.connect(self._on_primitive)
        asked.change.connect(self._on_change)
        asked.stop_primitive.connect(self._on_stop)
        self._stepping = QTimer(self)
        self._look()

    def show_menus(self, folder: Path, robot: str) -> None:
        """Show the menus of a folder, for a robot by its name or file. Raises ModelError."""
        menus = MenuRunner(self._panel.menus, _PanelRuns(self, robot), folder, robot)
        self._stepping.timeout.connect(lambda: menus.step(monotonic()))
        self._stepping.start(MENU_PERIOD)

    def close(self) -> None:
        """Leave the graph."""
        self._closed = True
        self._stepping.stop()
        if self.robot is not None:
            self.robot.close()
            self.robot = None

    def _look(self) -> None:
        if not self._closed:
            Thread(target=self._connect, name="telerobot panel", daemon=True).start()

    def _connect(self) -> None:
        try:
            self.joined.emit(self._join())
        except TelerobotError as error:
            self.failed.emit(str(error))

    # on the Qt thread ------------------------------------------------------------------------------------------------

    def _on_joined(self, robot: Robot) -> None:
        if self._closed:
            robot.close()
            return
        self.robot = robot
        robot.listen(self.seen.emit)

    def _on_failed(self, reason: str) -> None:
        self._panel.say(f"NO ROBOT: {reason}")
        QTimer.singleShot(AGAIN, self._look)

    def _on_seen(self, view: ConsoleView) -> None:
        self._panel.show_view(view, monotonic())

    def _on_command(self, command: Command) -> None:
        if self.robot is None:
            self._panel.say(f"NO ROBOT: {command} NOT SENT")
        else:
            self.robot.send(command)  # its outcome is among the notices

    def _on_text(self, text: str) -> None:
        if self.robot is not None and text.strip():
            self._panel.tell(f"> {text}")
            running: RunningText = self.robot.begin(text)
            running.then(lambda end: self.told.emit(_line(end)))

    def _on_primitive(self, name: str, words: str) -> None:
        if self.robot is None:
            return
        try:
            self._primitive = self.robot.begin_primitive(name, pairs(words.split()))
        except TelerobotError as error:
            self._panel.tell(str(error))
            return
        self._panel.tell(f"> {name} {words}")
        self._primitive.then(lambda end: self.told.emit(f"{name} {_line(end)}"))

    def _on_change(self, words: str) -> None:
        if self.robot is None or self._primitive is None:
            self._panel.tell("no primitive was started here")
            return
        try:
            changed = self._primitive.begin_change(**pairs(words.split()))
        except TelerobotError as error:
            self._panel.tell(str(error))
            return
        changed.then(lambda outcome: self.told.emit(f"change: {outcome.text or outcome.result.value}"))

    def _on_stop(self) -> None:
        if self._primitive is not None:
            self._primitive.stop()


class _PanelRuns:
    """Begins the leaves of the menus on the robot of a session."""

    def __init__(self, session: PanelSession, robot: str) -> None:
        """`robot`: its name or file."""
        self._session, self._robot = session, robot
        self._motions: tuple[Robot, MotionSender] | None = None  # of the robot that is joined

    def begin(self, leaf: Leaf, values: Mapping[str, Any]) -> LeafRun:
        """Run a leaf with checked values. Raises NoGraphError."""
        robot = self._session.robot
        if robot is None:
            raise NoGraphError("no robot; allowed: when the panel has found one")
        if leaf.entry.macro:
            return ClientRun(leaf, values, self._robot, lambda: nullcontext(robot))
        return PrimitiveRun(robot.begin_primitive(leaf.runs, values))

    def practise(self, leaf: Leaf, values: Mapping[str, Any]) -> LeafRun:
        """Run a leaf with checked values on the practice robot of this host, behind its delay."""
        return ClientRun(leaf, values, self._robot, lambda: open_robot(PRACTICE, "panel"), Motion())

    def simulate(self, leaf: Leaf, values: Mapping[str, Any]) -> SimulatedRun:
        """Run a leaf with checked values on an arm in physics on this host, from where the real one stands, or home."""
        robot = self._session.robot
        situation = Situation()
        if robot is not None:
            link = robot.state.link
            round_trip = 2.0 * link.delay if link is not None else 0.0
            situation = Situation(robot.state.joint_position, round_trip, robot.camera_pose)
        return SimulatedRun(leaf, values, self._robot, situation)

    def draw(self, motion: Motion | None) -> None:
        """Let the forward simulation draw this motion as it grows; None: none."""
        if sender := self._sender():
            sender.draw(motion)

    def clear(self) -> None:
        """Let it draw no motion, whoever has sent one."""
        if sender := self._sender():
            sender.clear()

    def _sender(self) -> MotionSender | None:
        """To the graph of the robot; None: there is no robot."""
        robot = self._session.robot
        if robot is None:
            return None
        if self._motions is None or self._motions[0] is not robot:
            self._motions = robot, MotionSender(robot.show_motion, load_robot(self._robot).joint_names)
        return self._motions[1]

    def step(self, now: float) -> None:
        """The robot sends by itself."""


def run_panel(namespace: str = "", picture: str = "", robot: str = "arm", menus: Path | None = None) -> int:
    """The panel as a window until it is closed; `picture`: PNG file to write once the robot is seen, and end.

    `robot`: name or file of the arm for which the menus of the folder `menus` are checked. Raises ModelError.
    """
    application = QApplication(sys.argv[:1])
    panel = OperatorPanel(tuple(KINDS))
    panel.resize(*SIZE)
    panel.show()
    session = PanelSession(panel, partial(open_robot, namespace, "panel"))
    session.show_menus(folder_of(menus), robot)
    if picture:
        session.seen.connect(lambda _view: (panel.grab().save(picture), application.quit()))
    signal.signal(signal.SIGINT, lambda *_: application.quit())
    awake = QTimer()  # Python's signals are only taken while Python runs
    awake.timeout.connect(lambda: None)
    awake.start(200)
    try:
        return int(application.exec_())
    finally:
        session.close()


def _line(end: CommandResult | PrimitiveResult) -> str:
    answer = end.answer if isinstance(end, CommandResult) else end.reason
    return f"{end.end.value}: {answer}" if answer else end.end.value
