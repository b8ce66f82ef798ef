"""Every control of the table, used in every view: it sends what the table says, or the table says why it is missing."""

from __future__ import annotations

import inspect
from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from telerobot_nodes.cli import main
from telerobot_nodes.cli.table import COMMANDS
from telerobot_nodes.operator.camera import CameraFolder
from telerobot_nodes.operator.client import CONTROLS, Missing, OperatorWords, Outcome, Result, commands
from telerobot_nodes.operator.client.commands import Deed, kind_of
from telerobot_nodes.operator.console.console import PRESSES
from telerobot_nodes.operator.console.inbox import GizmoMode, Inbox
from telerobot_nodes.operator.console.panel import Panel
from telerobot_nodes.operator.web import Press

KINDS = {*Deed, *(kind for kind in commands.Command.__args__ if kind is not Deed)}
VIEWS = ("console", "shell", "client", "panel")


def having(view, kinds=True):
    """Controls of a view, with where they are."""
    rows = [(row, getattr(row, view)) for row in CONTROLS if bool(row.kinds) is kinds]
    return [pytest.param(row, where, id=row.name) for row, where in rows if not isinstance(where, Missing)]


def test_every_command_of_the_operator_is_a_control():
    assert {kind for row in CONTROLS for kind in row.kinds} == KINDS


def test_names_are_unique_and_every_exception_has_a_reason():
    assert len({row.name for row in CONTROLS}) == len(CONTROLS)
    missing = [
        where for row in CONTROLS for where in (getattr(row, view) for view in VIEWS) if not isinstance(where, str)
    ]
    assert all(len(where.reason) > 20 for where in missing)
    assert len(missing) <= 4  # a new exception is a decision


# shell -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("row", "words"), having("shell"))
def test_the_shell_sends_it(row, words, monkeypatch):
    from telerobot_nodes.cli import operate, stops

    sent = []
    stopping = {"halt": commands.Halt, "estop": commands.EStop}
    for module in (operate, stops):
        monkeypatch.setattr(module, "do", lambda command, namespace: sent.append(kind_of(command)))
    monkeypatch.setattr(stops, "_stop", lambda topic, *_: sent.append(stopping[topic]))
    assert main(words.split()) == 0
    assert sent == list(row.kinds)


@pytest.mark.parametrize(("row", "words"), having("shell", kinds=False))
def test_the_shell_has_it(row, words):
    assert words in COMMANDS


# client ------------------------------------------------------------------------------------------------------------


class Recorder(OperatorWords):
    def __init__(self):
        self.sent = []

    def ask(self, command):
        self.sent.append(kind_of(command))
        return Outcome(Result.DONE)

    def halt(self, reason=""):
        return self.ask(commands.Halt(reason))

    def estop(self, reason=""):
        return self.ask(commands.EStop(reason))


@pytest.mark.parametrize(("row", "method"), having("client"))
def test_the_client_sends_it(row, method):
    recorder = Recorder()
    needed = [p for p in inspect.signature(getattr(recorder, method)).parameters.values() if p.default is p.empty]
    examples = {"bool": True, "float": 0.1, "str": "shared"}
    assert getattr(recorder, method)(*(examples[p.annotation] for p in needed)).done
    assert recorder.sent == list(row.kinds)


@pytest.mark.parametrize(("row", "method"), [*having("client"), *having("client", kinds=False)])
def test_the_robot_of_a_program_has_it(row, method):
    pytest.importorskip("rclpy")
    from telerobot_nodes.nodes.clients import Robot

    assert hasattr(Robot, method)


# console -----------------------------------------------------------------------------------------------------------


class Widget:
    """A widget of viser: a value, and what it calls."""

    def __init__(self, label, value=None):
        self.label, self.value, self.called = label, value, []
        self.on_click = self.on_update = self.on_trigger = self.called.append


class Gui:
    """What viser's `gui` is for the panel."""

    def __init__(self):
        self.widgets = []

    def add_folder(self, *_, **__):
        return nullcontext()

    def add_html(self, *_, **__):
        return Widget("")

    def _add(self, label, *values, **_):
        self.widgets.append(Widget(label, values[-1] if values else None))
        return self.widgets[-1]

    def add_button_group(self, label, options, **_):
        widget = self._add(label)
        widget.options = options
        return widget

    def add_dropdown(self, label, options, **_):
        return self._add(label, options[0])

    add_button = add_slider = add_checkbox = add_number = add_command = _add


def pressed(widget):
    """Requests that a person causes with a widget, one for each of its values."""
    inbox = widget.inbox
    for value in getattr(widget, "options", (widget.value,)):
        widget.value = value
        for call in widget.called:
            with pytest.raises(StopIteration):
                call(SimpleNamespace(client_id=1, target=widget)).send(None)
    return list(inbox.take())


@pytest.fixture
def console_widgets():
    gui, inbox = Gui(), Inbox()
    Panel(gui, inbox, frozenset(KINDS), {})
    CameraFolder(gui, inbox, ("overview", "wrist"))
    for widget in gui.widgets:
        widget.inbox = inbox
    return gui.widgets


@pytest.mark.parametrize(("row", "label"), having("console"))
def test_the_console_sends_it(row, label, console_widgets):
    if (name := label.replace("-", "")) in Press.__members__:
        assert kind_of(PRESSES[Press[name]]()) in row.kinds
        return
    widget = next(widget for widget in console_widgets if widget.label == label)
    assert {kind_of(request) for request in pressed(widget)} >= set(row.kinds)


def test_the_console_drives_by_its_gizmo(console_widgets):
    widget = next(widget for widget in console_widgets if widget.label == "drive by gizmo")
    assert [type(request) for request in pressed(widget)] == [GizmoMode]


# panel -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("row", "name"), having("panel"))
def test_the_panel_sends_it(row, name, panel, sent):
    from python_qt_binding.QtWidgets import QAbstractButton, QComboBox, QWidget

    widget = panel.findChild(QWidget, name)
    if isinstance(widget, QAbstractButton):
        widget.click()
    elif isinstance(widget, QComboBox):
        widget.activated.emit(1)
    else:
        widget.setValue(0.15)
    assert [kind_of(command) for command in sent] == list(row.kinds)


@pytest.mark.parametrize(("row", "name"), having("panel", kinds=False))
def test_the_panel_has_it(row, name, panel):
    from python_qt_binding.QtWidgets import QWidget

    assert panel.findChild(QWidget, name) is not None
