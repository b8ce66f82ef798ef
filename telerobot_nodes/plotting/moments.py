"""Moments of a run in MuJoCo, rendered offscreen side by side. Needs OpenGL: MUJOCO_GL=egl or osmesa."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import NotInstalledError

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Camera:
    """Where the scene is seen from: target (3,) [m] WORLD, distance [m], angles [degrees]; size of the image."""

    target: Sequence[float]
    distance: float
    azimuth: float
    elevation: float
    size: tuple[int, int]  # rows, columns


@dataclass
class SceneTrace:
    """State of the physics over time."""

    time: list[float] = field(default_factory=list)  # [s]
    _places: list[tuple[FloatArray, FloatArray, FloatArray]] = field(default_factory=list)  # qpos and mocap poses

    def sample(self, time: float, data: Any) -> None:
        """Record the state of a `mujoco.MjData` at `time` [s]."""
        self.time.append(time)
        self._places.append((data.qpos.copy(), data.mocap_pos.copy(), data.mocap_quat.copy()))

    def restore(self, row: int, data: Any) -> None:
        """Set `data` to the state of a row."""
        data.qpos[:], data.mocap_pos[:], data.mocap_quat[:] = self._places[row]

    def moments(self, count: int) -> npt.NDArray[np.int64]:
        """Rows (count,) evenly spaced in time, the first and the last among them."""
        return np.linspace(0, len(self.time) - 1, count).astype(np.int64)


def draw_moment(axes: Axes, image: FloatArray, title: str) -> None:
    """Show one image with its title."""
    axes.imshow(image)
    axes.set_title(title, fontsize=8)
    axes.axis("off")


def render(model: Any, trace: SceneTrace, rows: Sequence[int], camera: Camera) -> list[FloatArray]:
    """Images of the rows of `trace`. Raises NotInstalledError without offscreen OpenGL."""
    os.environ.setdefault("MUJOCO_GL", "egl")
    import mujoco

    data, view = mujoco.MjData(model), mujoco.MjvCamera()
    view.lookat[:] = camera.target
    view.distance, view.azimuth, view.elevation = camera.distance, camera.azimuth, camera.elevation
    try:
        renderer = mujoco.Renderer(model, *camera.size)
    except Exception as error:  # noqa: BLE001 - OpenGL raises what its platform defines
        raise NotInstalledError(f"pictures: no offscreen OpenGL, try MUJOCO_GL=osmesa ({error})") from None
    images = []
    for row in rows:
        trace.restore(row, data)
        mujoco.mj_forward(model, data)
        renderer.update_scene(data, view)
        images.append(renderer.render().copy())
    renderer.close()
    return images
