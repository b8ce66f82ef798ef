"""A hand that ends where it began: it can move an arm for as long as anybody likes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from telerobot_nodes.core.values import FloatArray

SECONDS, RATE = 12.0, 100  # [s], [Hz]
REACH = 0.05  # [m]


def closed_path(seconds: float = SECONDS) -> tuple[FloatArray, FloatArray]:
    """Times (n,) [s] and positions (n, 3) [m], at rest at both ends, which are one place."""
    time = np.arange(round(seconds * RATE) + 1) / RATE
    u = time / seconds
    turn = 2.0 * np.pi * (10.0 * u**3 - 15.0 * u**4 + 6.0 * u**5)
    return time, REACH * np.column_stack((np.sin(turn), 0.5 * np.sin(2.0 * turn), 0.5 * (1.0 - np.cos(turn))))


def write_hand(file: Path) -> Path:
    """Write it as a recorded hand; the file."""
    time, position = closed_path()
    rows = np.column_stack((time, position))
    np.savetxt(file, rows, fmt="%.6f", delimiter=",", header="t[s],x[m],y[m],z[m]", comments="")
    return file
