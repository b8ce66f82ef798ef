"""The plan as coloured lines: executed, committed, ahead by timing kind, trial; redrawn only when it changed."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.operator.client import PlanLines
from telerobot_nodes.operator.scene import palette

_THICKNESS = {
    "executed": 0.003,
    "committed": 0.008,
    "ahead": 0.005,
    "trial": 0.004,
    "other": 0.004,
    "motion": 0.005,
}  # [m]
_CONFLICT_THICKNESS = 0.011  # [m]


def linear(colours: object) -> npt.NDArray[np.uint8]:
    """Linear values of sRGB colours: the line shader of viser does not convert them."""
    value = np.asarray(colours) / 255.0
    return np.asarray(
        np.round(255.0 * np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)), np.uint8
    )


_COLOURS = linear([*(colour for _, colour in palette.TIMINGS), palette.UNKNOWN_TIMING])


class PlanView:
    """Lines of one plan in a viser scene."""

    def __init__(self, scene: Any, root: str = "/plan") -> None:
        self._scene, self._root = scene, root
        self._handles: dict[str, Any] = {}
        self._conflicts: FloatArray = np.empty((0, 2, 3))
        self._motion: FloatArray = np.empty((0, 3))
        scene.add_frame(root, show_axes=False)

    def draw(self, lines: PlanLines, other: FloatArray) -> None:
        """Replace the lines; `other` (n, 3) [m]: plan of another operator with authority."""
        self._line("executed", lines.executed, linear(palette.EXECUTED))
        self._line("committed", lines.committed, linear(palette.COMMITTED))
        self._line("ahead", lines.ahead, vertex_colours(lines.ahead_timing))
        self._line("trial", lines.trial, linear(palette.TRIAL))
        self._line("other", other, linear(palette.OTHER))

    def draw_conflicts(self, stretches: FloatArray) -> None:
        """Draw the stretches (n, 2, 3) [m] over the plan; only changes are sent."""
        if np.array_equal(stretches, self._conflicts):
            return
        self._conflicts = stretches
        self._remove("conflicts")
        if len(stretches):
            self._handles["conflicts"] = self._scene.add_line_segments(
                f"{self._root}/conflicts", stretches, linear(palette.CONFLICT), thickness=_CONFLICT_THICKNESS
            )

    def draw_motion(self, vertices: FloatArray) -> None:
        """Draw the path (n, 3) [m] of a simulated or practised motion over the plan; only changes are sent."""
        if not np.array_equal(vertices, self._motion):
            self._motion = vertices
            self._line("motion", vertices, linear(palette.MOTION))

    def _line(self, name: str, vertices: FloatArray, colours: npt.NDArray[np.uint8]) -> None:
        if len(vertices) < 2:
            self._remove(name)
            return
        segments = np.stack((vertices[:-1], vertices[1:]), axis=1)
        paint = np.broadcast_to(_segments(colours, len(vertices)), segments.shape).astype(np.uint8)
        self._handles[name] = self._scene.add_line_segments(
            f"{self._root}/{name}", segments, paint, thickness=_THICKNESS[name]
        )

    def _remove(self, name: str) -> None:
        handle = self._handles.pop(name, None)
        if handle is not None:
            handle.remove()


def vertex_colours(timing: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """(n, 3) colour per vertex from its timing kind."""
    return _COLOURS[np.minimum(timing, len(_COLOURS) - 1)]


def _segments(colours: npt.NDArray[np.uint8], vertices: int) -> npt.NDArray[np.uint8]:
    if colours.ndim == 1:
        return colours.reshape(1, 1, 3)
    return np.repeat(colours[1:vertices, None, :], 2, axis=1)  # a segment has the colour of its end
