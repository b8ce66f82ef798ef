"""The Qt panel: what it shows, and what its widgets send when a person uses them."""

import pytest

pytest.importorskip("python_qt_binding.QtWidgets", exc_type=ImportError)
from python_qt_binding.QtCore import Qt
from python_qt_binding.QtTest import QTest
from python_qt_binding.QtWidgets import QApplication, QLabel, QLineEdit, QPlainTextEdit, QPushButton, QWidget

from telerobot_nodes.core.protocol import ExecutorMode, trial_of
from telerobot_nodes.operator.client import (
    LinkSetting,
    OperatorClient,
    QueueStatus,
    RecorderStatus,
    RobotStatus,
    commands,
)
from telerobot_nodes.operator.view import view


class Nowhere:
    def call(self, command, answer):
        pass

    halt = estop = stream = call


def seen(now=10.0, **queue):
    client = OperatorClient(Nowhere())
    client.receive_queue(QueueStatus(lead=7.4, agent="ana", has_authority=True, **queue), 10.0)
    client.receive_robot(RobotStatus(mode=ExecutorMode.HALTED, reason="a <test>", authority="ana"), 10.0)
    client.receive_link(LinkSetting(delay=0.5), 10.0)
    return view(client, now)


def text(panel, name):
    return panel.findChild(QLabel, name).text()


def test_state_lead_and_authority_are_in_sight_on_every_tab(panel):
    panel.show_view(seen(), 100.0)
    assert text(panel, "banner") == "HALTED: a <test>"
    assert text(panel, "lead") == "lead 7.4 s"
    assert text(panel, "authority") == "authority: ana (here)"
    for name in ("banner", "lead", "authority", "halt", "estop"):
        assert panel.findChild(QWidget, name).isVisible()
        assert panel.rect().contains(panel.findChild(QWidget, name).geometry().topLeft())


def test_data_that_has_grown_old_says_so(panel):
    panel.show_view(seen(now=15.0), 100.0)
    assert text(panel, "banner") == "ROBOT SILENT FOR 5.0 s"


@pytest.mark.parametrize("key", [Qt.Key_Escape, Qt.Key_H])
def test_the_keys_halt_from_any_button(panel, sent, key):
    panel.activateWindow()
    QApplication.processEvents()
    panel.findChild(QPushButton, "tare").setFocus()
    QTest.keyClick(panel, key)
    assert sent == [commands.Halt("panel")]


def test_escape_halts_while_a_text_is_typed_and_h_is_a_letter_there(panel, sent):
    field = panel.findChild(QLineEdit, "text")
    field.window().activateWindow()
    field.setFocus()
    QTest.keyClicks(field, "halt")
    assert (field.text(), sent) == ("halt", [])
    QTest.keyClick(field, Qt.Key_Escape)
    assert sent == [commands.Halt("panel")]


def test_a_number_is_sent_when_it_is_set_and_follows_the_value_in_force(panel, sent):
    ratio = panel.findChild(QWidget, "ratio")
    panel.show_view(seen(time_ratio=2.0), 100.0)
    assert (ratio.value(), sent) == (2.0, [])
    ratio.setValue(3.0)
    assert sent == [commands.TimeRatio(3.0)]
    panel.show_view(seen(time_ratio=2.0), 101.0)
    assert ratio.value() == 3.0  # just used
    panel.show_view(seen(time_ratio=2.0), 104.0)
    assert ratio.value() == 2.0  # refused, or not in force yet: shown as it is
    assert len(sent) == 1


def test_a_switch_shows_what_is_in_force_and_sends_the_other(panel, sent):
    clutch = panel.findChild(QWidget, "clutch")
    panel.show_view(seen(time_clutch=True), 100.0)
    assert clutch.isChecked()
    clutch.click()
    assert sent == [commands.TimeClutch(False)]
    panel.show_view(seen(time_clutch=True), 101.0)
    panel.show_view(seen(time_clutch=True), 104.0)
    assert clutch.isChecked()


def test_texts_and_primitives_leave_as_they_were_typed(panel):
    got = []
    asked = panel.requests
    for signal in (asked.text, asked.primitive, asked.change):
        signal.connect(lambda *words: got.append(words))
    asked.stop_primitive.connect(lambda: got.append("stop"))
    panel.findChild(QLineEdit, "text").setText("grasp module")
    panel.findChild(QLineEdit, "values").setText("acc_time=1")
    for name in ("run", "try", "start", "change", "stop"):
        panel.findChild(QPushButton, name).click()
    assert got == [
        ("grasp module",),
        (trial_of("grasp module"),),
        ("cartesian_guarded", "acc_time=1"),
        ("acc_time=1",),
        "stop",
    ]


def test_answers_are_kept_in_order(panel):
    panel.tell("one")
    panel.tell("two")
    assert panel.findChild(QPlainTextEdit, "answers").toPlainText() == "one\ntwo"


def test_the_recording_light_has_form_and_words_and_its_button_asks_for_the_other(panel, sent):
    client, button = OperatorClient(Nowhere()), panel.findChild(QPushButton, "record")
    client.receive_recorder(RecorderStatus(recording=True, duration=5.0, size=2_000_000, free=10**11), 10.0)
    panel.show_view(view(client, 10.0), 100.0)
    assert text(panel, "recording") == "\u25cf RECORDING 5.0 s, 2.0 MB"
    button.click()
    client.receive_recorder(RecorderStatus(), 11.0)
    panel.show_view(view(client, 11.0), 101.0)
    assert text(panel, "recording") == "\u25cb NOT RECORDING"
    button.click()
    assert sent == [commands.Record(False), commands.Record(True)]
    panel.show_view(view(client, 15.0), 105.0)
    assert text(panel, "recording") == "? RECORDER SILENT FOR 4.0 s: NOT KNOWN"
