"""The picture of two arms crossing: moments of one task in physics, and how far each arm is on its path."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from telerobot_nodes.plotting.figure import picture
from telerobot_nodes.plotting.moments import Camera, SceneTrace, draw_moment, render

MOMENTS = 8
CAMERA = Camera((0.65, 0.0, 0.45), 2.0, 90.0, -42.0, size=(330, 400))


@dataclass
class CrossingTrace:
    """What a run left, one row per period."""

    scene: SceneTrace = field(default_factory=SceneTrace)
    way: list[list[float]] = field(default_factory=list)  # [-] share of each arm's path behind it
    pushed: list[bool] = field(default_factory=list)  # by the force field


def draw_crossing(model: Any, trace: CrossingTrace, file: Path) -> None:
    """Write the picture as PNG; `model`: the compiled MuJoCo model. Raises NotInstalledError without OpenGL."""
    rows = trace.scene.moments(MOMENTS)
    images = render(model, trace.scene, rows.tolist(), CAMERA)
    columns = MOMENTS // 2
    with picture(file, (2.7 * columns, 6.4), dpi=90) as figure:
        grid = figure.add_gridspec(3, columns, height_ratios=(1.0, 1.0, 0.62))
        for place, (image, row) in enumerate(zip(images, rows, strict=True)):
            axes = figure.add_subplot(grid[place // columns, place % columns])
            draw_moment(axes, image, f"{trace.scene.time[row]:.1f} s")
        _draw_progress(figure.add_subplot(grid[2, :]), trace, rows)


def _draw_progress(axes: Any, trace: CrossingTrace, rows: npt.NDArray[np.int64]) -> None:
    time, way = trace.scene.time, 100.0 * np.array(trace.way)
    axes.plot(time, way, label=("left arm (blue)", "right arm (brown)"))
    axes.fill_between(time, 0.0, 100.0, where=trace.pushed, color="0.85", label="the field pushes", step="mid")
    for row in rows:
        axes.axvline(time[row], color="0.6", linewidth=0.5)
    axes.set(xlabel="time [s]", ylabel="way [%]", xlim=(0.0, time[-1]), ylim=(0.0, 103.0))
    axes.legend(loc="lower right")
