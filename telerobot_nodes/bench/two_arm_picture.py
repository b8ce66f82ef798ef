"""Two arms crossing, as a picture: moments of one task in physics, and how far each arm is (run this module).

Rendering needs MuJoCo's offscreen OpenGL (MUJOCO_GL=egl or osmesa).
"""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from telerobot_nodes.bench.two_arm_run import RunOptions, TwoArmRunner
from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.errors import NotInstalledError

MOMENTS = 8
SIZE = (330, 400)  # rows, columns of one moment


@dataclass
class Trace:
    """What a run left, a row for each period."""

    time: list[float] = field(default_factory=list)  # [s]
    state: list[FloatArray] = field(default_factory=list)  # qpos
    obstacles: list[tuple[FloatArray, FloatArray]] = field(default_factory=list)  # their places and turns
    way: list[list[float]] = field(default_factory=list)  # [-] of each arm's path behind it
    pushed: list[bool] = field(default_factory=list)

    def take(self, running: Any, physics: Any) -> None:
        """Called by the runner after every period."""
        execution = running.execution
        self.time.append(physics.time)
        self.state.append(physics.data.qpos.copy())
        self.obstacles.append((physics.data.mocap_pos.copy(), physics.data.mocap_quat.copy()))
        self.way.append(execution.way)
        self.pushed.append(any(execution.pushed))


def draw(index: int, file: Path) -> dict[str, Any]:
    """Run task `index` of the benchmark and draw it; its row. Raises NotInstalledError without offscreen OpenGL."""
    os.environ.setdefault("MUJOCO_GL", "egl")
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    runner, trace = TwoArmRunner(RunOptions(turns_every=10**9)), Trace()
    runner.watch = trace.take
    row = runner.run(index)
    chosen = np.linspace(0, len(trace.time) - 1, MOMENTS).astype(int)
    images = _render(runner.physics.model, trace, chosen)
    figure = plt.figure(figsize=(2.7 * MOMENTS / 2, 6.4))
    grid = figure.add_gridspec(3, MOMENTS // 2, height_ratios=(1.0, 1.0, 0.62))
    for place, (image, k) in enumerate(zip(images, chosen, strict=True)):
        axis = figure.add_subplot(grid[place // (MOMENTS // 2), place % (MOMENTS // 2)])
        axis.imshow(image)
        axis.set_title(f"{trace.time[k]:.1f} s", fontsize=9)
        axis.axis("off")
    _plot(figure.add_subplot(grid[2, :]), trace, chosen)
    figure.tight_layout(pad=0.9)
    figure.savefig(file, dpi=90)
    plt.close(figure)
    return row


def _plot(axis: Any, trace: Trace, chosen: Any) -> None:
    """How much of its path each arm has behind it."""
    way = 100.0 * np.array(trace.way)
    for i, name in enumerate(("left arm (blue)", "right arm (brown)")):
        axis.plot(trace.time, way[:, i], label=name)
    axis.fill_between(trace.time, 0.0, 100.0, where=trace.pushed, color="0.85", label="the field pushes", step="mid")
    for k in chosen:
        axis.axvline(trace.time[k], color="0.6", linewidth=0.5)
    axis.set(xlabel="time [s]", ylabel="way [%]", xlim=(0.0, trace.time[-1]), ylim=(0.0, 103.0))
    axis.legend(fontsize=8, loc="lower right")
    axis.grid(alpha=0.3)


def _render(model: Any, trace: Trace, chosen: Any) -> list[Any]:
    import mujoco

    data, camera = mujoco.MjData(model), mujoco.MjvCamera()
    camera.lookat[:] = (0.65, 0.0, 0.45)
    camera.distance, camera.azimuth, camera.elevation = 2.0, 90.0, -42.0
    try:
        renderer = mujoco.Renderer(model, *SIZE)
    except Exception as error:  # noqa: BLE001 - whatever OpenGL says
        raise NotInstalledError(f"pictures: no offscreen OpenGL, try MUJOCO_GL=osmesa ({error})") from None
    images = []
    for k in chosen:
        data.qpos[:] = trace.state[k]
        data.mocap_pos[:], data.mocap_quat[:] = trace.obstacles[k]
        mujoco.mj_forward(model, data)
        renderer.update_scene(data, camera)
        images.append(renderer.render().copy())
    renderer.close()
    return images


def main() -> None:
    """Draw `docs/images/two_arms.png`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", type=int, default=1)
    parser.add_argument("--image", type=Path, default=Path("docs/images/two_arms.png"))
    chosen = parser.parse_args()
    print({key: value for key, value in draw(chosen.task, chosen.image).items() if key != "touches"})


if __name__ == "__main__":
    main()
