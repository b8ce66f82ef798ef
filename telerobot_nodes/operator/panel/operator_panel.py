"""The panel as one widget: stops above, tabs of controls below. It knows no ROS and no robot.

`Requests` is what it asks for, as Qt signals; `show_view` is what it shows. Both belong to the Qt thread.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from html import escape

from python_qt_binding.QtCore import QObject, Signal
from python_qt_binding.QtWidgets import (
    QComboBox,
    QFormLayout,
    QGroupBox,
    QHBoxLayout,
    QLabel,
    QLayout,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from telerobot_nodes.core.protocol import GRIPPER_RANGE, SCALE_RANGE, ControlMode, trial_of
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.client import Command, commands
from telerobot_nodes.operator.panel.followed import FollowedBox, FollowedChoice, FollowedNumber
from telerobot_nodes.operator.panel.menu_page import MenuPage
from telerobot_nodes.operator.panel.stop_rows import StopRows
from telerobot_nodes.operator.view import ConsoleView, Controls, Row

LINES = 200  # of answers kept
Deed = commands.Deed
AUTHORITY = (Deed.REQUEST_CONTROL, Deed.GRANT_CONTROL, Deed.REFUSE_CONTROL, Deed.RELEASE_CONTROL, Deed.TAKE_CONTROL)


class Requests(QObject):
    """What a person asks for."""

    command = Signal(object)  # a Command
    text = Signal(str)  # for the decision unit
    primitive = Signal(str, str)  # name, parameters as words key=value
    change = Signal(str)  # parameters of the primitive that runs
    stop_primitive = Signal()


class OperatorPanel(QWidget):
    """Every control of the table in `operator/client/controls.py`, by its object name."""

    def __init__(self, primitives: tuple[str, ...] = ()) -> None:
        """`primitives`: names to offer."""
        super().__init__()
        self.setWindowTitle("Telerobot")
        self.setObjectName("OperatorPanel")
        self.requests = Requests()
        self._followed: list[
            tuple[FollowedNumber | FollowedBox | FollowedChoice, Callable[[Controls], float | bool | str | None]]
        ] = []
        self._stops = StopRows(self._send)
        self._status, self._notices = _text("status"), _text("notices")
        self._answers = QPlainTextEdit()
        self._answers.setObjectName("answers")
        self._answers.setReadOnly(True)
        self._answers.setMaximumBlockCount(LINES)
        self.menus = MenuPage()
        tabs = QTabWidget()
        for name, page in (
            ("Plan", self._plan_page()),
            ("Device", self._device_page()),
            ("Menu", self.menus),
            ("Task", self._task_page(primitives)),
            ("Status", _page(self._status)),
        ):
            tabs.addTab(page, name)
        layout = QVBoxLayout(self)
        layout.addWidget(self._stops)
        layout.addWidget(tabs, 3)
        layout.addWidget(_page(self._notices), 1)

    def show_view(self, view: ConsoleView, now: float) -> None:
        """Show a view; `now` [s]."""
        self._stops.show_view(view)
        _replace(self._status, _table(view.rows))
        _replace(self._notices, _table(view.notices))
        for widget, in_force in self._followed:
            widget.follow(in_force(view.controls), now)  # type: ignore[arg-type]

    def say(self, text: str) -> None:
        """Show why there is no robot."""
        self._stops.say(text)

    def tell(self, text: str) -> None:
        """Add a line to the answers."""
        self._answers.appendPlainText(text)

    # pages -------------------------------------------------------------------------------------------------------

    def _plan_page(self) -> QWidget:
        form = QFormLayout()
        clutch = "time clutch: plan time follows the hand"
        form.addRow(self._box("clutch", clutch, commands.TimeClutch, lambda c: c.time_clutch))
        ratio = self._number("ratio", *commands.RATIO_RANGE, 0.05, "", commands.TimeRatio, lambda c: c.time_ratio)
        form.addRow("time ratio", ratio)
        joint = "position clutch: points join the plan"
        form.addRow(self._box("position_clutch", joint, commands.PositionClutch, lambda c: c.position_clutch))
        form.addRow("trial path", self._deeds((Deed.ADOPT, Deed.DISCARD)))
        waits = "stop before collision: the robot waits before points that would collide"
        form.addRow(self._box("collision_stop", waits, commands.CollisionStop, lambda c: c.collision_stop))
        passes = "pass singularities: the hand may lead the tool through, slowly"
        box = self._box("pass_singularities", passes, commands.PassSingularities, lambda c: c.pass_singularities)
        form.addRow(box)
        brake = self._number("brake", *commands.BRAKE_RANGE, 0.1, "s/s", commands.Brake, lambda c: c.brake_rate)
        form.addRow("time brake (0: off)", brake)
        opening = self._number("gripper", *GRIPPER_RANGE, 0.002, "m", commands.Gripper, lambda c: c.gripper)
        form.addRow("gripper", opening)
        form.addRow("rate of execution", self._number("rate", *commands.RATIO_RANGE, 0.05, "", commands.Rate))
        scrub = self._number("scrub", -1.0, 1e6, 0.1, "s", commands.Scrub)
        scrub.blockSignals(True)
        scrub.setValue(-1.0)
        scrub.blockSignals(False)
        form.addRow("scrub (-1: off)", scrub)
        pauses = _row(self._button(Deed.PAUSE.value, "pause", lambda: Deed.PAUSE))
        pauses.addWidget(self._button("clear", "delete all", commands.Clear))
        pauses.addWidget(self._button(Deed.UNDO.value, "undo", lambda: Deed.UNDO))
        form.addRow("plan", pauses)
        form.addRow("control", self._deeds(AUTHORITY, "_control"))
        return _scrolled(form)

    def _device_page(self) -> QWidget:
        form = QFormLayout()
        words = tuple(mode.word for mode in ControlMode)
        mode = FollowedChoice("mode", words, lambda word: self._send(commands.Mode(ControlMode.named(word))))
        self._followed.append((mode, lambda controls: controls.mode))
        form.addRow("who moves the arm", mode)
        file, speed = QLineEdit(), FollowedNumber("speed", *commands.RATIO_RANGE, 0.1, "", lambda value: None)
        file.setObjectName("hand")
        file.setPlaceholderText("recorded hand; empty: the demo's own")
        speed.setValue(1.0)
        form.addRow("hand", file)
        form.addRow("speed", speed)
        replay = _row(self._button("replay", "play", lambda: commands.Replay(file.text(), speed.value())))
        replay.addWidget(self._button("stop_replay", "stop", commands.StopReplay))
        form.addRow(replay)
        turns = "orientation clutch: turning the hand turns the tool"
        form.addRow(self._box("orientation_clutch", turns, commands.OrientationClutch, lambda c: c.orientation_clutch))
        scales = (
            ("linear", commands.LinearScale, lambda c: c.linear_scale),
            ("angular", commands.AngularScale, lambda c: c.angular_scale),
        )
        for name, kind, in_force in scales:
            form.addRow(f"{name} scale", self._number(f"{name}_scale", *SCALE_RANGE, 0.05, "", kind, in_force))
        moves = "direct: the device moves the primitive"
        form.addRow(self._box("direct", moves, commands.Direct, lambda c: c.direct))
        form.addRow(self._button("tare", "tare", commands.Tare))
        form.addRow(self._link_group())
        return _scrolled(form)

    def _link_group(self) -> QWidget:
        """The emulated link; hidden until one is known."""
        group, form = QGroupBox("Emulated link"), QFormLayout()
        low, high = commands.DELAY_RANGE
        delay = FollowedNumber("delay", low, high, 0.05, "s", lambda value: None)
        jitter = FollowedNumber("jitter", low, high, 0.01, "s", lambda value: None)
        loss = FollowedNumber("loss", 0.0, 1.0, 0.01, "", lambda value: None)
        for name, widget in (("one way", delay), ("jitter", jitter), ("loss", loss)):
            form.addRow(name, widget)
        set_link = self._button("link", "set", lambda: commands.SetLink(delay.value(), jitter.value(), loss.value()))
        form.addRow(set_link)
        group.setLayout(form)
        self._followed += [
            (delay, lambda c: c.link.delay if c.link else None),
            (jitter, lambda c: c.link.jitter if c.link else None),
            (loss, lambda c: c.link.loss if c.link else None),
        ]
        return group

    def _task_page(self, primitives: tuple[str, ...]) -> QWidget:
        layout = QVBoxLayout()
        text, name, values = QLineEdit(), QComboBox(), QLineEdit()
        for widget, label in ((text, "text"), (name, "primitive"), (values, "values")):
            widget.setObjectName(label)
        text.setPlaceholderText("grasp module with left_arm")
        text.returnPressed.connect(lambda: self.requests.text.emit(text.text()))
        name.addItems(primitives)
        values.setPlaceholderText("tr_rel_dest=[0,0,0.05,0,0,0,1]")
        asked = self.requests
        layout.addLayout(_row(text))
        words = _row(_plain("run", lambda: asked.text.emit(text.text())))
        words.addWidget(_plain("try", lambda: self._try(text.text())))
        layout.addLayout(words)
        layout.addWidget(name)
        layout.addWidget(values)
        goals = _row(_plain("start", lambda: asked.primitive.emit(name.currentText(), values.text())))
        goals.addWidget(_plain("change", lambda: asked.change.emit(values.text())))
        goals.addWidget(_plain("stop", asked.stop_primitive.emit))
        layout.addLayout(goals)
        layout.addWidget(self._answers)
        return _scrolled(layout)

    def _try(self, text: str) -> None:
        try:
            self.requests.text.emit(trial_of(text))
        except InvalidValueError as error:
            self.tell(str(error))

    # wiring ------------------------------------------------------------------------------------------------------

    def _send(self, command: Command) -> None:
        self.requests.command.emit(command)

    def _button(self, name: str, text: str, make: Callable[[], Command]) -> QPushButton:
        return _plain(name, lambda: self._send(make()), text)

    def _deeds(self, deeds: tuple[commands.Deed, ...], ending: str = "") -> QLayout:
        row = QHBoxLayout()
        for deed in deeds:
            row.addWidget(self._button(deed.value, deed.value.removesuffix(ending), partial(_itself, deed)))
        return row

    def _box(
        self,
        name: str,
        text: str,
        make: Callable[[bool], Command],
        in_force: Callable[[Controls], bool | None] = lambda controls: None,
    ) -> FollowedBox:
        box = FollowedBox(name, text, lambda on: self._send(make(on)))
        self._followed.append((box, in_force))
        return box

    def _number(
        self,
        name: str,
        low: float,
        high: float,
        step: float,
        unit: str,
        make: Callable[[float], Command],
        in_force: Callable[[Controls], float | None] = lambda controls: None,
    ) -> FollowedNumber:
        number = FollowedNumber(name, low, high, step, unit, lambda value: self._send(make(value)))
        self._followed.append((number, in_force))
        return number


def _itself(deed: commands.Deed) -> Command:
    return deed


def _plain(name: str, press: Callable[[], None], text: str = "") -> QPushButton:
    button = QPushButton(text or name)
    button.setObjectName(name)
    button.clicked.connect(lambda _checked: press())
    return button


def _row(widget: QWidget) -> QHBoxLayout:
    row = QHBoxLayout()
    row.addWidget(widget)
    return row


def _text(name: str) -> QLabel:
    label = QLabel()
    label.setObjectName(name)
    label.setWordWrap(True)
    return label


def _page(widget: QWidget) -> QScrollArea:
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setWidget(widget)
    return area


def _scrolled(layout: QLayout) -> QScrollArea:
    inner = QWidget()
    inner.setLayout(layout)
    return _page(inner)


def _table(rows: tuple[Row, ...]) -> str:
    cells = "".join(f"<tr><td><b>{escape(row.label)}</b>&nbsp;</td><td>{escape(row.text)}</td></tr>" for row in rows)
    return f"<table>{cells}</table>"


def _replace(label: QLabel, text: str) -> None:
    if label.text() != text:
        label.setText(text)
