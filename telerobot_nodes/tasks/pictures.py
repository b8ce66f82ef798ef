"""Pictures of a task: the scene at moments of one run, and plots of force and motion.

What belongs here: drawing of what a run left. Rendering needs MuJoCo's offscreen OpenGL (MUJOCO_GL=egl or osmesa).
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.errors import NotInstalledError
from telerobot_nodes.tasks.rig import TaskRig
from telerobot_nodes.tasks.task import Measure, Task
from telerobot_nodes.tasks.task_file import load_task

MOMENTS = 8
SIZE = (300, 400)  # rows, columns of one moment


@dataclass
class Trace:
    """What a run left, a row for each control period."""

    time: list[float] = field(default_factory=list)  # [s]
    label: list[str] = field(default_factory=list)
    tool: list[FloatArray] = field(default_factory=list)  # (3,) [m] WORLD
    wrench: list[FloatArray] = field(default_factory=list)  # (6,) [N], [N m] felt, SENSE
    measures: list[list[float]] = field(default_factory=list)  # the judge's, at the period's end
    state: list[FloatArray] = field(default_factory=list)  # qpos

    def take(self, rig: TaskRig) -> None:
        """Called by the rig."""
        self.time.append(rig.now)
        self.label.append(rig.label)
        self.tool.append(rig.arm.data.body(f"arm/{rig.robot.tool_frame}").xpos.copy())
        self.wrench.append(rig.executive.status(rig.now).motion.wrench_sense)
        self.measures.append(rig.judge.rows[-1])
        self.state.append(rig.arm.data.qpos.copy())


def draw(name: str, seed: int, picture: Path | None, plot: Path | None) -> None:
    """Run a task once more and draw it. Raises NotInstalledError where nothing can be rendered."""
    task, trace = load_task(name), Trace()
    rig = TaskRig(task, seed, trace.take)
    rig.run()
    if plot is not None:
        _plot(task, trace, plot)
    if picture is not None:
        _sheet(rig, trace, picture)


def _sheet(rig: TaskRig, trace: Trace, file: Path) -> None:
    """MOMENTS of the run beside each other."""
    os.environ.setdefault("MUJOCO_GL", "egl")
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    chosen = np.linspace(0, len(trace.time) - 1, MOMENTS).astype(int)
    images = _render(rig, [trace.state[k] for k in chosen], np.mean(trace.tool, axis=0))
    figure, axes = plt.subplots(2, MOMENTS // 2, figsize=(2.6 * MOMENTS / 2, 4.4))
    for axis, image, k in zip(axes.flat, images, chosen, strict=True):
        axis.imshow(image)
        axis.set_title(f"{trace.time[k]:.1f} s  {trace.label[k]}", fontsize=8)
        axis.axis("off")
    figure.tight_layout(pad=0.3)
    figure.savefig(file, dpi=110)
    plt.close(figure)


def _render(rig: TaskRig, states: list[FloatArray], at: FloatArray) -> list[FloatArray]:
    """Images of the scene in these states, seen from the side of the operator."""
    import mujoco

    model, data = rig.arm.model, mujoco.MjData(rig.arm.model)
    camera = mujoco.MjvCamera()
    camera.lookat[:] = at
    camera.distance, camera.azimuth, camera.elevation = 0.75, 150.0, -35.0
    try:
        renderer = mujoco.Renderer(model, *SIZE)
    except Exception as error:  # noqa: BLE001 - whatever OpenGL says
        raise NotInstalledError(f"pictures: no offscreen OpenGL, try MUJOCO_GL=osmesa ({error})") from None
    images = []
    for qpos in states:
        data.qpos[:] = qpos
        mujoco.mj_forward(model, data)
        renderer.update_scene(data, camera)
        images.append(renderer.render().copy())
    renderer.close()
    return images


def _plot(task: Task, trace: Trace, file: Path) -> None:
    """Tool motion, felt force, and each measure as it is judged: smoothed, while it counts, with its limit."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    t = np.array(trace.time)
    tool, wrench = np.array(trace.tool), np.array(trace.wrench)
    count = len(task.success)
    heights = [2.0, 2.0] + count * [1.0]
    figure, axes = plt.subplots(
        2 + count, 1, figsize=(8, 1.1 * sum(heights)), sharex=True, gridspec_kw={"height_ratios": heights}
    )
    for axis, rows, what in (
        (axes[0], 1e3 * (tool - tool[0]), "tool, from start [mm]"),
        (axes[1], wrench[:, :3], "force felt,\nSENSE [N]"),
    ):
        axis.plot(t, rows, label=("x", "y", "z"), linewidth=0.8)
        axis.set_ylabel(what, fontsize=8)
        axis.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))
    for axis, m, values in zip(axes[2:], task.success, np.array(trace.measures).T, strict=True):
        _draw_measure(axis, m, t, values, np.array(trace.label))
    changes = [k for k in range(1, len(t)) if trace.label[k] != trace.label[k - 1]]
    for axis in axes:
        axis.grid(alpha=0.3)
        axis.tick_params(labelsize=7)
        for k in changes:
            axis.axvline(t[k], color="0.6", linewidth=0.6)
    for k in (0, *changes):
        axes[0].text(t[k], axes[0].get_ylim()[1], trace.label[k], fontsize=7, va="bottom")
    axes[-1].set_xlabel("time [s]", fontsize=8)
    figure.align_ylabels(axes)
    figure.tight_layout(h_pad=0.4)
    figure.savefig(file, dpi=90)
    plt.close(figure)


def _draw_measure(axis: Any, m: Measure, t: FloatArray, values: FloatArray, labels: NDArray[np.str_]) -> None:
    """One measure over time; the dashed line is what it is held against, in the reduction named."""
    counts = np.isin(labels, m.during) if m.during else np.full(t.size, True)
    width = max(round(m.smooth / (t[1] - t[0])), 1)
    smooth = np.convolve(values[counts], np.full(width, 1.0 / width), "valid")
    axis.plot(t[counts][width - 1 :], smooth, linewidth=0.8)
    axis.axhline(m.value, color="C3", linestyle="--", linewidth=0.8)
    axis.set_ylabel(f"{m.name.replace('_', chr(10), 1)}\n[{m.unit or '-'}]", fontsize=7)
    axis.text(1.01, 0.5, f"{m.reduce}\n{m.op} {m.value:.3g}", transform=axis.transAxes, fontsize=7, va="center")
