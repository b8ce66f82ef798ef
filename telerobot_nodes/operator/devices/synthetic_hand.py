"""Writes the recorded hand of the demo: SYNTHETIC, no person's motion.

`python -m telerobot_nodes.operator.devices.synthetic_hand FILE` writes it.

Minimum-jerk strokes between via points [FlashHogan1985], a pause, tremor of 8 to 12 Hz with 0.3 mm RMS,
and one tracker jump of 6 cm within one sample. The seed is fixed: the file is the same every time.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from telerobot_nodes.core.values import FloatArray

PERIOD = 0.01  # [s]
SEED = 5046022
TREMOR = 0.0003  # [m] RMS per axis
JUMP_TIME = 2.6  # [s]
JUMP = (0.035, -0.04, 0.027)  # [m] 6 cm

# x y z [m] and the time of the stroke that ends there [s]: reach, lift over an edge, lower, pause, circle back
STROKES: tuple[tuple[float, float, float, float], ...] = (
    (0.00, 0.00, 0.00, 0.4),
    (0.10, 0.12, 0.10, 1.3),
    (0.14, 0.28, 0.02, 1.2),
    (0.14, 0.28, 0.02, 0.7),
    (0.02, 0.22, 0.14, 1.2),
    (-0.08, 0.04, 0.08, 1.3),
    (0.00, -0.12, 0.12, 1.2),
    (0.08, -0.18, 0.00, 1.1),
    (0.00, 0.00, 0.00, 1.6),
)


def minimum_jerk(u: FloatArray) -> FloatArray:
    """Progress 0 .. 1 of a minimum-jerk stroke at the share `u` 0 .. 1 of its duration [FlashHogan1985]."""
    progress: FloatArray = u**3 * (10.0 - 15.0 * u + 6.0 * u**2)
    return progress


def synthetic_hand() -> FloatArray:
    """(n, 4) rows t [s], x y z [m]."""
    place = np.array(STROKES[0][:3])
    parts = []
    for *goal, duration in STROKES:
        u = np.linspace(0.0, 1.0, round(duration / PERIOD) + 1)[1:]
        parts.append(place + minimum_jerk(u)[:, None] * (np.array(goal) - place))
        place = np.array(goal)
    position = np.concatenate(parts)
    time = PERIOD * np.arange(len(position), dtype=np.float64)
    position += _tremor(time)
    position[time >= JUMP_TIME] += np.array(JUMP)
    return np.column_stack([time, position])


def _tremor(time: FloatArray) -> FloatArray:
    random = np.random.default_rng(SEED)
    frequency = random.uniform(8.0, 12.0, (5, 3))  # [Hz]
    phase = random.uniform(0.0, 2.0 * np.pi, (5, 3))
    waves = np.sin(2.0 * np.pi * frequency * time[:, None, None] + phase).sum(axis=1)
    tremor: FloatArray = TREMOR * (waves - waves[0]) / waves.std(axis=0)
    return tremor


def write(path: Path) -> None:
    """Write the recording as CSV."""
    rows = (",".join(f"{value:.6f}" for value in row) for row in synthetic_hand())
    path.write_text("t[s],x[m],y[m],z[m]\n" + "\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
