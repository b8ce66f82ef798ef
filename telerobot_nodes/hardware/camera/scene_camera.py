"""Pictures of a MuJoCo scene, drawn off screen by EGL, or by OSMesa where there is no EGL.

What must never enter: windows, files, ROS. A context belongs to the thread that made it.
"""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from telerobot_nodes.core.camera import Pixels
from telerobot_nodes.core.values import se3_from_pose
from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.hardware.camera.twin_scene import TwinScene, View

NEAR, FAR = 0.02, 20.0  # [m]
MOST_SHAPES = 2000
HELP = "install libegl1 and libegl-mesa0, or libosmesa6"


class NoDisplayError(TelerobotError):
    """Nothing on this machine draws off screen; the message says what was tried."""


class SceneCamera:
    """Draws one scene at one size. Raises NoDisplayError where nothing draws off screen."""

    def __init__(self, scene: TwinScene, width: int, height: int) -> None:
        self._scene, self._width, self._height = scene, width, height
        size = scene.model.vis.global_
        size.offwidth, size.offheight = width, height
        scene.model.vis.quality.shadowsize = 0  # a third of the time without a graphics card
        self._context = _context(width, height)
        self._context.make_current()
        self._drawn = mujoco.MjvScene(scene.model, MOST_SHAPES)
        for flag in (mujoco.mjtRndFlag.mjRND_SHADOW, mujoco.mjtRndFlag.mjRND_REFLECTION):
            self._drawn.flags[flag] = 0
        self._renderer = mujoco.MjrContext(scene.model, mujoco.mjtFontScale.mjFONTSCALE_100)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._renderer)

    def draw(self, view: View) -> Pixels:
        """The scene as `view` shows it, (height, width, 3)."""
        model, data = self._scene.model, self._scene.data
        self._context.make_current()
        self._scene.settle()
        camera, option = mujoco.MjvCamera(), mujoco.MjvOption()
        everything = mujoco.mjtCatBit.mjCAT_ALL
        mujoco.mjv_updateScene(model, data, option, None, camera, everything, self._drawn)
        for eye in self._drawn.camera:
            self._aim(eye, view)
        area = mujoco.MjrRect(0, 0, self._width, self._height)
        mujoco.mjr_render(area, self._drawn, self._renderer)
        pixels = np.empty((self._height, self._width, 3), np.uint8)
        mujoco.mjr_readPixels(pixels, None, area, self._renderer)
        return np.ascontiguousarray(pixels[::-1])

    def close(self) -> None:
        """Release the context."""
        self._renderer.free()
        self._context.free()

    def _aim(self, eye: Any, view: View) -> None:
        rotation = se3_from_pose(view.pose, "camera pose").rotation
        half = NEAR * np.tan(0.5 * view.field_of_view)
        eye.pos, eye.forward, eye.up = view.pose[:3], rotation[:, 2], -rotation[:, 1]
        eye.frustum_center, eye.frustum_width = 0.0, half * self._width / self._height
        eye.frustum_bottom, eye.frustum_top = -half, half
        eye.frustum_near, eye.frustum_far = NEAR, FAR


def _context(width: int, height: int) -> Any:
    """The first context that can be made."""
    problems = []
    for name in ("egl", "osmesa"):
        try:
            return _maker(name)(width, height)
        except Exception as error:  # noqa: BLE001 -- each library fails in its own way where a driver is missing
            problems.append(f"{name}: {error}")
    raise NoDisplayError(f"nothing draws off screen here ({'; '.join(problems)}); {HELP}")


def _maker(name: str) -> Any:
    if name == "egl":
        from mujoco.egl import GLContext

        return GLContext
    from mujoco.osmesa import GLContext as OffScreen

    return OffScreen
