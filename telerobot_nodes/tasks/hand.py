"""The operator's hand of a task: increments of a device at its own rate, from sine waves or a recording."""

from __future__ import annotations

import math

import numpy as np

from telerobot_nodes.core.config import share_path
from telerobot_nodes.core.values import FloatArray, finite_array
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.tasks.task import HandSegment


class ScriptedHand:
    """Increments (6,) [m], [rad] since the last call, along the axes of `tele_mode`."""

    def __init__(self, hand: HandSegment, phase: float = 0.0) -> None:
        """`phase` [rad] is added to every wave, to vary the operator."""
        self._hand = hand
        self._phase = phase
        self._table = _recording(hand) if hand.recording else np.zeros((0, 4))
        self._began = math.nan
        self._device_time = 0.0
        self._last = self._place(0.0)

    def increment(self, now: float) -> FloatArray | None:
        """Motion since the last reading; None if the device has no new reading at `now` [s]."""
        if math.isnan(self._began):
            self._began = now
        t = math.floor((now - self._began) * self._hand.rate + 1e-9) / self._hand.rate
        if t <= self._device_time:
            return None
        self._device_time = t
        last, self._last = self._last, self._place(t)
        return self._last - last

    def _place(self, t: float) -> FloatArray:
        """Place of the device (6,) [m], [rad] at `t` [s] since the start, from a fixed origin."""
        out = np.zeros(6)
        for wave in self._hand.waves:
            out[wave.dof] += wave.size * math.sin(2.0 * math.pi * t / wave.period + wave.phase + self._phase)
        for column, dof in enumerate(self._hand.axes if len(self._table) else ()):
            out[dof] += self._hand.scale * np.interp(t, self._table[:, 0], self._table[:, 1 + column])
        return out


def _recording(hand: HandSegment) -> FloatArray:
    """Rows (n, 4) of a recording: t [s] from its start, x, y, z [m]. Raises InvalidValueError, ModelError."""
    path = share_path(hand.recording)
    try:
        table = np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)
    except ValueError as error:
        raise InvalidValueError("hand.recording", hand.recording, f"allowed: CSV of t, x, y, z ({error})") from None
    if table.shape[1] != 4 or len(hand.axes) > 3:
        raise InvalidValueError("hand.recording (columns)", table.shape[1], "allowed: t, x, y, z")
    finite_array(table, "hand.recording")
    table[:, 0] -= table[0, 0]
    return np.array(table)
