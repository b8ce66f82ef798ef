"""Widgets that show the value in force, and send the one that a person sets."""

from __future__ import annotations

from collections.abc import Callable

from python_qt_binding.QtWidgets import QCheckBox, QComboBox, QDoubleSpinBox

TOUCHED = 2.0  # [s] a widget just used is not pulled back to the value in force


class _Use:
    """When a person used a widget last."""

    def __init__(self) -> None:
        self._now = False  # since the last question
        self._at = -TOUCHED  # [s]

    def note(self) -> None:
        """A person uses the widget."""
        self._now = True

    def is_over(self, now: float) -> bool:
        """True when the widget was not used for TOUCHED."""
        if self._now:
            self._now, self._at = False, now
        return now - self._at >= TOUCHED


class FollowedNumber(QDoubleSpinBox):
    """A number; `in_force` [its unit] None: not known."""

    def __init__(
        self, name: str, low: float, high: float, step: float, unit: str, send: Callable[[float], None]
    ) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setDecimals(3 if step < 0.01 else 2)
        self.setRange(low, high)
        self.setSingleStep(step)
        self.setSuffix(f" {unit}" if unit else "")
        self.setKeyboardTracking(False)  # a number half typed is not sent
        self._use = _Use()
        self.valueChanged.connect(lambda value: self._set(send, value))

    def follow(self, in_force: float | None, now: float) -> None:
        """Show the value in force, unless the widget was just used or has the focus."""
        free = self._use.is_over(now) and not self.hasFocus()
        if in_force is None or not free or abs(self.value() - in_force) < 1e-3:
            return
        self.blockSignals(True)
        self.setValue(in_force)
        self.blockSignals(False)

    def _set(self, send: Callable[[float], None], value: float) -> None:
        self._use.note()
        send(value)


class FollowedBox(QCheckBox):
    """A switch; `in_force` None: not known."""

    def __init__(self, name: str, label: str, send: Callable[[bool], None]) -> None:
        super().__init__(label)
        self.setObjectName(name)
        self._use = _Use()
        self.clicked.connect(lambda on: self._set(send, bool(on)))  # by a person, not by `setChecked`

    def follow(self, in_force: bool | None, now: float) -> None:
        """Show the value in force, unless the widget was just used."""
        if self._use.is_over(now) and in_force is not None:
            self.setChecked(in_force)

    def _set(self, send: Callable[[bool], None], on: bool) -> None:
        self._use.note()
        send(on)


class FollowedChoice(QComboBox):
    """One of several words; `in_force` None: not known."""

    def __init__(self, name: str, words: tuple[str, ...], send: Callable[[str], None]) -> None:
        super().__init__()
        self.setObjectName(name)
        self.addItems(words)
        self._use = _Use()
        self.activated.connect(lambda row: self._set(send, words[row]))  # by a person, not by `setCurrentText`

    def follow(self, in_force: str | None, now: float) -> None:
        """Show the word in force, unless the widget was just used."""
        if self._use.is_over(now) and in_force is not None:
            self.setCurrentText(in_force)

    def _set(self, send: Callable[[str], None], word: str) -> None:
        self._use.note()
        send(word)
