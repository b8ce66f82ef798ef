"""Pictures of one run of a task: the scene at several moments, and force, motion and measures over time."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.plotting.figure import VERMILION, picture
from telerobot_nodes.plotting.moments import Camera, SceneTrace, draw_moment, render
from telerobot_nodes.tasks import Measure, Task, TaskRig, load_task

MOMENTS = 8


@dataclass
class TaskTrace:
    """What a run left, one row per control period."""

    scene: SceneTrace = field(default_factory=SceneTrace)
    label: list[str] = field(default_factory=list)
    tool: list[FloatArray] = field(default_factory=list)  # (3,) [m] WORLD
    wrench: list[FloatArray] = field(default_factory=list)  # (6,) [N], [N m] measured, SENSE
    measures: list[list[float]] = field(default_factory=list)  # of the judge, at the end of the period

    def sample(self, rig: TaskRig) -> None:
        """Record one period; the rig calls it."""
        self.scene.sample(rig.now, rig.arm.data)
        self.label.append(rig.label)
        self.tool.append(rig.arm.data.body(f"arm/{rig.robot.tool_frame}").xpos.copy())
        self.wrench.append(rig.executive.status(rig.now).motion.wrench_sense)
        self.measures.append(rig.judge.rows[-1])


def draw_task(name: str, seed: int, scenes: Path | None, plot: Path | None) -> None:
    """Run a task and write moments of it to `scenes` and its plots to `plot`, where given.

    Raises NotInstalledError without offscreen OpenGL.
    """
    task, trace = load_task(name), TaskTrace()
    rig = TaskRig(task, seed, trace.sample)
    rig.run()
    if plot is not None:
        draw_task_plot(task, trace, plot)
    if scenes is not None:
        _draw_scenes(rig, trace, scenes)


def _draw_scenes(rig: TaskRig, trace: TaskTrace, file: Path) -> None:
    camera = Camera(np.mean(trace.tool, axis=0), 0.75, 150.0, -35.0, size=(300, 400))  # from the operator's side
    rows = trace.scene.moments(MOMENTS)
    images = render(rig.arm.model, trace.scene, rows.tolist(), camera)
    with picture(file, (2.6 * MOMENTS / 2, 4.4)) as figure:
        for axes, image, row in zip(figure.subplots(2, MOMENTS // 2).flat, images, rows, strict=True):
            draw_moment(axes, image, f"{trace.scene.time[row]:.1f} s  {trace.label[row]}")


def draw_task_plot(task: Task, trace: TaskTrace, file: Path) -> None:
    """Write tool motion, measured force, and each measure as it is judged, with its limit, as PNG."""
    t, count = np.array(trace.scene.time), len(task.success)
    tool, wrench = np.array(trace.tool), np.array(trace.wrench)
    heights = [2.0, 2.0, *count * [1.0]]
    with picture(file, (8.0, 1.1 * sum(heights)), dpi=90) as figure:
        panels = figure.subplots(2 + count, 1, sharex=True, height_ratios=heights)
        _draw_vectors(panels[0], t, 1e3 * (tool - tool[0]), "tool, from start [mm]")
        _draw_vectors(panels[1], t, wrench[:, :3], "measured force,\nSENSE [N]")
        for axes, measure, values in zip(panels[2:], task.success, np.array(trace.measures).T, strict=True):
            _draw_measure(axes, measure, t, values, np.array(trace.label))
        _mark_primitives(panels, t, trace.label)
        panels[-1].set_xlabel("time [s]")
        figure.align_ylabels(panels)


def _draw_vectors(axes: Any, t: FloatArray, rows: FloatArray, label: str) -> None:
    axes.plot(t, rows, label=("x", "y", "z"), linewidth=0.8)
    axes.set_ylabel(label)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))


def _mark_primitives(panels: Any, t: FloatArray, labels: list[str]) -> None:
    """A line in every panel where another primitive begins, its name on top."""
    starts = [k for k in range(len(labels)) if k == 0 or labels[k] != labels[k - 1]]
    for axes in panels:
        for k in starts[1:]:
            axes.axvline(t[k], color="0.6", linewidth=0.6)
    for k in starts:
        panels[0].text(t[k], panels[0].get_ylim()[1], labels[k], fontsize=7, va="bottom")


def _draw_measure(axes: Any, m: Measure, t: FloatArray, values: FloatArray, labels: NDArray[np.str_]) -> None:
    """One measure over time, smoothed, while it counts; the dashed line is its limit."""
    counts = np.isin(labels, m.during) if m.during else np.full(t.size, True)
    width = max(round(m.smooth / (t[1] - t[0])), 1)
    smooth = np.convolve(values[counts], np.full(width, 1.0 / width), "valid")
    axes.plot(t[counts][width - 1 :], smooth, linewidth=0.8)
    axes.axhline(m.value, color=VERMILION, linestyle="--", linewidth=0.8)
    axes.set_ylabel(f"{m.name.replace('_', chr(10), 1)}\n[{m.unit or '-'}]", fontsize=7)
    axes.text(1.01, 0.5, f"{m.reduce}\n{m.op} {m.value:.3g}", transform=axes.transAxes, fontsize=7, va="center")
