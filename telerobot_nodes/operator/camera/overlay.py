"""What the arm will do, drawn into a picture of what it did: simulated arms and plan through the camera's calibration.

The predictive display of supervisory control [Bejczy, Kim, Venema, The Phantom Robot, ICRA 1990], [US5046022].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pinocchio as pin
from scipy.spatial import ConvexHull, QhullError

from telerobot_nodes.core.camera import Calibration
from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.operator.client import PlanLines
from telerobot_nodes.operator.scene import Shape, palette
from telerobot_nodes.operator.view import SceneView

TOGETHER = 0.02  # [rad] an arm this close to the measured one is not drawn
SPACING = 2.0  # [px] between points of a line; nearer ones are left out


@dataclass(frozen=True)
class Mark:
    """One thing drawn over a picture."""

    form: str  # area, line, dot
    colour: palette.Rgb
    pixels: FloatArray  # (n, 2) x right, y down; one for a dot

    def as_json(self) -> dict[str, Any]:
        """For the page."""
        return {"form": self.form, "colour": palette.css(self.colour), "pixels": np.round(self.pixels, 1).tolist()}


class Overlay:
    """The overlay of one robot; `shapes` as `load_shapes` gives them, fixed to its joints."""

    def __init__(self, robot: RobotModel, shapes: Sequence[Shape]) -> None:
        self._robot, self._data = robot, robot.new_data()
        self._parts = [(shape.joint, _corners(shape.vertices)) for shape in shapes if shape.joint > 0]

    def marks(self, view: SceneView, lines: PlanLines, calibration: Calibration, camera: FloatArray) -> list[Mark]:
        """Everything to draw, the hindmost first; `camera`: pose (7,) of its optical frame in WORLD."""

        def seen(points: FloatArray) -> FloatArray:
            return calibration.project(points, camera)

        marks = self._arm(view.estimate, view.robot, palette.ESTIMATE, seen)
        marks += _line(lines.committed, palette.COMMITTED, seen)
        marks += _by_timing(lines, seen)
        marks += _line(lines.trial, palette.TRIAL, seen)
        marks += self._arm(view.trial, view.head, palette.TRIAL, seen)
        marks += self._arm(view.head, view.robot, palette.PREDICTED, seen)
        return marks

    def _arm(self, q: FloatArray | None, unless_at: FloatArray | None, colour: palette.Rgb, seen: Any) -> list[Mark]:
        """Outlines of the parts of the arm at `q` (dof,) [rad], and a dot at its tool."""
        if q is None or q.size != self._robot.dof or _together(q, unless_at):
            return []
        pin.framesForwardKinematics(self._robot.model, self._data, q)
        marks = []
        for joint, corners in self._parts:
            T_world_joint = self._data.oMi[joint]
            pixels = seen(corners @ T_world_joint.rotation.T + T_world_joint.translation)
            outline = _corners(pixels[np.isfinite(pixels).all(axis=1)])
            if len(outline) > 2:
                marks.append(Mark("area", colour, outline))
        tool = seen(self._data.oMf[self._robot.tool_frame_id].translation)
        return [*marks, Mark("dot", colour, tool)] if np.isfinite(tool).all() else marks


def _together(q: FloatArray, other: FloatArray | None) -> bool:
    return other is not None and other.size == q.size and bool(np.abs(q - other).max() < TOGETHER)


def _corners(given: Any) -> FloatArray:
    """Corners of the convex hull of (n, 2) or (n, 3) points, around it in the plane; none: it has no inside."""
    points: FloatArray = np.asarray(given, dtype=float)
    try:
        return np.asarray(points[ConvexHull(points).vertices])
    except (QhullError, ValueError):
        return points if points.shape[1] == 3 else points[:0]


def _by_timing(lines: PlanLines, seen: Any) -> list[Mark]:
    """The plan ahead, one colour for each stretch of one timing kind."""
    colours = [*(colour for _, colour in palette.TIMINGS), palette.UNKNOWN_TIMING]
    kinds = np.minimum(lines.ahead_timing, len(colours) - 1)
    ends = [0, *(np.flatnonzero(np.diff(kinds[1:])) + 1).tolist(), len(kinds) - 1]  # a segment has its end's kind
    marks = []
    for start, end in pairwise(ends):
        marks += _line(lines.ahead[start : end + 1], colours[int(kinds[end])] if len(kinds) else colours[-1], seen)
    return marks


def _line(points: FloatArray, colour: palette.Rgb, seen: Any) -> list[Mark]:
    """The visible stretches of a line."""
    if len(points) < 2:
        return []
    pixels = seen(points)
    visible = np.isfinite(pixels).all(axis=1)
    edges = np.flatnonzero(np.diff(np.concatenate(([False], visible, [False])).astype(int)))
    stretches = [_thinned(pixels[a:b]) for a, b in zip(edges[::2], edges[1::2], strict=True)]
    return [Mark("line", colour, stretch) for stretch in stretches if len(stretch) > 1]


def _thinned(pixels: FloatArray) -> FloatArray:
    """Points about SPACING apart along the line, both ends included."""
    length = np.concatenate(([0.0], np.cumsum(np.linalg.norm(np.diff(pixels, axis=0), axis=1))))
    keep = np.diff(np.floor(length / SPACING), prepend=-1.0) > 0.0
    keep[-1] = True
    return np.asarray(pixels[keep])
