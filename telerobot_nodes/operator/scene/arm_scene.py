"""One arm in the scene: confirmed, estimated, simulated and trial arm, plan, obstacles, force, labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.operator.client import PlanLines
from telerobot_nodes.operator.scene import palette
from telerobot_nodes.operator.scene.arm_geometry import Shape
from telerobot_nodes.operator.scene.arm_view import ArmStyle, ArmView
from telerobot_nodes.operator.scene.plan_view import PlanView
from telerobot_nodes.operator.scene.solids_view import SolidsView
from telerobot_nodes.operator.view import SceneView

NEWTON = 0.01  # [m/N] length of the force arrow
MIN_FORCE = 1.0  # [N] below: no arrow
FORCE_STEP = 0.3  # [N] smaller changes are not sent


@dataclass(frozen=True)
class ArmShapes:
    """Shapes that an arm is drawn of."""

    arm: tuple[Shape, ...]
    ghost: tuple[Shape, ...]  # simpler shapes, for the ghosts


class ArmScene:
    """Draws the `SceneView`s of one arm below the node `root` of a viser scene.

    `name`: of the arm, where there is more than one.
    """

    def __init__(self, scene: Any, robot: RobotModel, shapes: ArmShapes, root: str = "", name: str = "") -> None:
        self._scene, self._root = scene, root
        self._of = f"{name}: " if name else ""
        self._actual = ArmView(scene, f"{root}/arm/actual", robot, shapes.arm, ArmStyle())
        self._estimate = _ghost(scene, f"{root}/arm/estimate", robot, shapes.ghost, palette.ESTIMATE, 0.22)
        self._predicted = _ghost(scene, f"{root}/arm/predicted", robot, shapes.ghost, palette.PREDICTED, 0.42)
        self._trial = _ghost(scene, f"{root}/arm/trial", robot, shapes.ghost, palette.TRIAL, 0.35)
        self._motion = _ghost(scene, f"{root}/arm/motion", robot, shapes.ghost, palette.MOTION, 0.45)
        self._plan = PlanView(scene, f"{root}/plan")
        self._solids = SolidsView(scene, f"{root}/obstacles")
        self._lead_label = scene.add_label(
            f"{root}/labels/predicted", "", font_screen_scale=0.9, anchor="center-left", visible=False
        )
        self._trial_label = scene.add_label(
            f"{root}/labels/trial", f"{self._of}trial path", font_screen_scale=0.9, anchor="center-right", visible=False
        )
        self._force_frame = scene.add_frame(f"{root}/force", show_axes=False, visible=False)
        self._force: FloatArray = np.zeros(3)  # [N] WORLD, as drawn
        self._stale = False

    def draw(self, view: SceneView) -> None:
        """Draw `view`; only changes are sent to the browsers."""
        self._actual.show(view.robot)
        if view.robot_stale != self._stale:
            self._stale = view.robot_stale
            self._actual.paint(palette.STALE if self._stale else None)
        self._estimate.show(view.estimate, unless_at=view.robot)
        ahead = self._predicted.show(view.head, unless_at=view.robot)
        self._trial_label.visible = self._trial.show(view.trial, unless_at=view.head)
        if self._trial_label.visible:
            self._trial_label.position = self._trial.tip
        self._motion.show(view.motion)
        self._plan.draw_motion(view.motion_path)
        self._plan.draw_conflicts(view.conflicts)
        self._solids.draw(view.solids)
        self._solids.follow(view.tool_pose)
        self._label(view, ahead)
        self._arrow(view)

    def draw_plan(self, lines: PlanLines, other: FloatArray) -> None:
        """Replace the lines of the plan; `other` (n, 3) [m]: plan of another operator with authority."""
        self._plan.draw(lines, other)

    def place_ghosts(self, offset: FloatArray) -> None:
        """Draw all arms but the actual one `offset` (3,) [m] beside in WORLD."""
        for ghost in (self._estimate, self._predicted, self._trial):
            ghost.place(offset)

    def _label(self, view: SceneView, shown: bool) -> None:
        self._lead_label.visible = shown and view.head_pose is not None
        if shown and view.head_pose is not None:
            self._lead_label.position = view.head_pose[:3]
            self._lead_label.text = f"{self._of}forward simulation, {view.lead:.1f} s ahead"

    def _arrow(self, view: SceneView) -> None:
        force = force_in_world(view)
        self._force_frame.visible = view.tool_pose is not None and bool(np.linalg.norm(force) >= MIN_FORCE)
        if view.tool_pose is None or not self._force_frame.visible:
            return
        self._force_frame.position = view.tool_pose[:3]
        if np.abs(force - self._force).max() > FORCE_STEP:
            self._force = force
            self._scene.add_arrows(
                f"{self._root}/force/arrow",
                np.array([[np.zeros(3), NEWTON * force]]),
                palette.FORCE,
                shaft_radius=0.006,
                head_radius=0.014,
                head_length=0.03,
            )


def force_in_world(view: SceneView) -> FloatArray:
    """(3,) [N] measured force in WORLD; zero if none is measured. The axes of the sensor are those of the tool."""
    if view.wrench is None or view.tool_pose is None or view.wrench.size != 6:
        return np.zeros(3)
    v, w = view.tool_pose[3:6], view.tool_pose[6]
    force = view.wrench[:3]
    turn = 2.0 * np.cross(v, force)
    return np.asarray(force + w * turn + np.cross(v, turn))


def _ghost(
    scene: Any, name: str, robot: RobotModel, shapes: tuple[Shape, ...], colour: palette.Rgb, opacity: float
) -> ArmView:
    moving = tuple(shape for shape in shapes if shape.joint)
    return ArmView(scene, name, robot, moving, ArmStyle(colour, opacity))
