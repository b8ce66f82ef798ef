"""One drawn arm: meshes fixed to joint frames, each inside that of its parent, so that a motion sends turns only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.operator.scene.arm_geometry import Shape
from telerobot_nodes.operator.scene.palette import Rgb

STILL = 1e-4  # [rad] smaller changes are not sent
TOGETHER = 0.02  # [rad] a ghost this close to the arm is not drawn


@dataclass(frozen=True)
class ArmStyle:
    """How an arm looks; `colour` None: its own."""

    colour: Rgb | None = None
    opacity: float | None = None  # None: opaque


class ArmView:
    """An arm in a viser scene under the frame `root`, hidden until it has a pose."""

    def __init__(self, scene: Any, root: str, robot: RobotModel, shapes: Sequence[Shape], style: ArmStyle) -> None:
        self._robot, self._data = robot, robot.new_data()
        self._root = scene.add_frame(root, show_axes=False, visible=False)
        self._frames: dict[int, Any] = {}  # by joint
        self._places: dict[int, FloatArray] = {}  # (3,) [m] of each frame in its parent's, as sent
        paths = {0: root}
        for joint in range(1, robot.model.njoints):
            paths[joint] = f"{paths[robot.model.parents[joint]]}/joint_{joint}"
            self._frames[joint] = scene.add_frame(paths[joint], show_axes=False)
        self._last: FloatArray | None = None
        self._meshes: list[Any] = []
        self._colours: list[Rgb] = []
        for number, shape in enumerate(shapes):
            colour = style.colour or shape.colour
            self._colours.append(colour)
            self._meshes.append(
                scene.add_mesh_simple(
                    f"{paths[shape.joint]}/shape_{number}",
                    shape.vertices,
                    shape.faces,
                    color=colour,
                    opacity=style.opacity,
                    flat_shading=False,
                    side="double" if style.opacity is None else "front",
                    cast_shadow=style.opacity is None,
                    receive_shadow=False,  # of itself: ragged edges
                )
            )

    def show(self, q: FloatArray | None, unless_at: FloatArray | None = None) -> bool:
        """Draw the arm at `q` (dof,) [rad]; hide it when None, of wrong length, or together with `unless_at`."""
        if q is None or q.size != self._robot.dof or _close(q, unless_at, TOGETHER):
            self._root.visible = False
            return False
        if not _close(q, self._last, STILL):
            self._place(q)
            self._last = np.array(q)
        self._root.visible = True
        return True

    @property
    def tip(self) -> FloatArray:
        """(3,) [m] WORLD: origin of the last joint, where the arm was drawn last."""
        return np.array(self._data.oMi[self._robot.dof].translation)

    def place(self, offset: FloatArray) -> None:
        """Draw the arm `offset` (3,) [m] beside where it is, in the coordinates of the node above."""
        self._root.position = offset

    def paint(self, colour: Rgb | None) -> None:
        """Set one colour for all shapes; None restores their own."""
        for mesh, own in zip(self._meshes, self._colours, strict=True):
            mesh.color = colour or own

    def _place(self, q: FloatArray) -> None:
        pin.forwardKinematics(self._robot.model, self._data, q)
        for joint, frame in self._frames.items():
            T_parent_joint = self._data.liMi[joint]
            place = np.array(T_parent_joint.translation)
            before = self._places.get(joint)
            if before is None or not np.array_equal(place, before):  # once, but for a joint that slides
                self._places[joint] = frame.position = place
            x, y, z, w = pin.Quaternion(T_parent_joint.rotation).coeffs()
            frame.wxyz = (w, x, y, z)


def _close(q: FloatArray, other: FloatArray | None, bound: float) -> bool:
    return other is not None and other.size == q.size and bool(np.abs(q - other).max(initial=0.0) < bound)
