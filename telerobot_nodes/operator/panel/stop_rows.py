"""The top of the panel, which never scrolls away: state of the robot, stops, lead, authority, recording light."""

from __future__ import annotations

from collections.abc import Callable

from python_qt_binding.QtCore import Qt
from python_qt_binding.QtGui import QKeySequence
from python_qt_binding.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QShortcut,
    QVBoxLayout,
    QWidget,
)

from telerobot_nodes.operator.client import Command, Tone, commands
from telerobot_nodes.operator.view import ConsoleView, Light

COLOURS = {  # text on background; the words mean the same
    Tone.GOOD: ("#ffffff", "#1a7f37"),
    Tone.PLAIN: ("#ffffff", "#3d444d"),
    Tone.QUIET: ("#ffffff", "#59636e"),
    Tone.WARN: ("#000000", "#e3b341"),
    Tone.BAD: ("#ffffff", "#b3191e"),
}
STOP_STYLE = "QPushButton {{ background: {}; color: white; font-weight: bold; font-size: 15pt; min-height: 44px; }}"
LIGHT_STYLE = "color: #b3191e; font-weight: bold;"
HALT_KEYS = ("H", "Esc")


class StopRows(QWidget):
    """Banner and stops. Nothing else of the panel can hide or disable them."""

    def __init__(self, send: Callable[[Command], None]) -> None:
        super().__init__()
        self._banner = _label("banner", "LOOKING FOR THE ROBOT")
        self._banner.setAlignment(Qt.AlignCenter)
        self._banner.setWordWrap(True)
        self._lead, self._authority = _label("lead", "lead not known"), _label("authority", "authority not known")
        halt = self._button("halt", "HALT  (H, Esc)", lambda: send(commands.Halt("panel")), "#b3191e")
        estop = self._button("estop", "E-STOP", lambda: send(commands.EStop("panel")), "#6e1013")
        resume = self._button("resume", "resume", lambda: send(commands.Resume()))
        reset = self._button("reset", "reset e-stop", lambda: send(commands.Reset()))
        stops = QGridLayout()
        for column, buttons in enumerate(((halt, resume), (estop, reset))):
            for row, button in enumerate(buttons):
                stops.addWidget(button, row, column)
        stops.setColumnStretch(0, 2)
        stops.setColumnStretch(1, 1)
        self._recording: bool | None = None  # as the recorder reports
        self._light = _label("recording", "recording not known")
        self._record = self._button("record", "record", lambda: send(commands.Record(not self._recording)))
        light = QHBoxLayout()
        light.addWidget(self._light, 1)
        light.addWidget(self._record)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._banner)
        layout.addLayout(stops)
        layout.addWidget(self._lead)
        layout.addWidget(self._authority)
        layout.addLayout(light)
        for key in HALT_KEYS:
            QShortcut(QKeySequence(key), self, context=Qt.WindowShortcut).activated.connect(halt.click)
        self._colour(Tone.WARN)

    def show_view(self, view: ConsoleView) -> None:
        """Show state, lead, authority and recording light."""
        rows = {row.label: row.text for row in view.rows}
        self._banner.setText(view.banner.text)
        self._colour(view.banner.tone)
        self._lead.setText(f"lead {rows.get('lead', 'not known')}")
        self._authority.setText(f"authority: {rows.get('authority', 'not known')}")
        self._recording = view.controls.recording
        self._light.setText(f"{view.light.value} {rows.get('recording', 'not known')}")
        self._light.setStyleSheet(LIGHT_STYLE if view.light is Light.ON else "")
        self._record.setText("end the recording" if self._recording else "record")

    def say(self, text: str) -> None:
        """Show why there is no robot."""
        self._banner.setText(text)
        self._colour(Tone.BAD)

    def _colour(self, tone: Tone) -> None:
        text, background = COLOURS[tone]
        self._banner.setStyleSheet(f"color: {text}; background: {background}; padding: 8px; font-size: 13pt;")

    @staticmethod
    def _button(name: str, text: str, press: Callable[[], None], colour: str = "") -> QPushButton:
        button = QPushButton(text)
        button.setObjectName(name)
        button.setFocusPolicy(Qt.NoFocus)  # the space bar presses what has the focus
        button.clicked.connect(lambda _checked: press())
        if colour:
            button.setStyleSheet(STOP_STYLE.format(colour))
        return button


def _label(name: str, text: str) -> QLabel:
    label = QLabel(text)
    label.setObjectName(name)
    return label
