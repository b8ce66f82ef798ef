"""What is around the arms in the scene: floor, camera, surroundings, and the tool target."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.operator.scene.arm_geometry import Shape

LOOK_AT = (0.25, 0.0, 0.55)  # [m] WORLD, of one arm
CAMERAS = {  # [m] WORLD, of one arm; the first is that of a new page
    "all": (1.75, -1.75, 1.5),
    "front": (2.6, 0.0, 0.9),
    "left": (0.25, 2.4, 0.9),
    "right": (0.25, -2.4, 0.9),
    "above": (0.25, -0.01, 3.0),
}


class Stage:
    """The scene of a console. In WORLD: fixed `surroundings`, and `others` (n, 3) [m], the bases of further arms."""

    def __init__(self, server: Any, surroundings: Iterable[Shape] = (), others: Sequence[FloatArray] = ()) -> None:
        _furnish(server, surroundings)
        self._middle = np.mean([np.zeros(3), *others], axis=0)
        self._farther = 1.0 + max((float(np.linalg.norm(base - self._middle)) for base in others), default=0.0)
        self.look(server.initial_camera, next(iter(CAMERAS)))
        self.target = server.scene.add_transform_controls(
            "/target", scale=0.18, line_width=3.0, depth_test=False, visible=False
        )

    def look(self, camera: Any, name: str) -> None:
        """Move the camera of a page to a place of CAMERAS, farther away where there are several arms."""
        at = np.array(LOOK_AT)
        camera.position = tuple(self._middle + at + self._farther * (np.array(CAMERAS[name]) - at))
        camera.look_at = tuple(self._middle + at)


def _furnish(server: Any, surroundings: Iterable[Shape]) -> None:
    scene = server.scene
    scene.set_up_direction("+z")
    scene.world_axes.visible = False
    _light(scene)
    server.initial_camera.fov = 0.75
    scene.add_grid(
        "/floor",
        width=4.0,
        height=4.0,
        cell_size=0.1,
        section_size=0.5,
        cell_color=(58, 64, 74),
        section_color=(88, 96, 110),
        plane_color=(28, 31, 37),
        plane_opacity=0.9,
        shadow_opacity=0.0,
    )
    scene.add_frame("/world", axes_length=0.15, axes_radius=0.004)
    for number, shape in enumerate(surroundings):
        scene.add_mesh_simple(f"/surroundings/{number}", shape.vertices, shape.faces, color=shape.colour)


def _light(scene: Any) -> None:
    """Lamps only, and no shadows.

    Without a graphics card shadows double the time of a frame; viser's light from a picture stops a page for seconds.
    """
    scene.configure_environment_map(None)
    scene.configure_default_lights(cast_shadow=False)
    scene.add_light_hemisphere("/sky", sky_color=(235, 240, 255), ground_color=(160, 160, 170), intensity=1.6)
