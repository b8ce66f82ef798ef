"""The 3-D scene: floor, camera, arms, plan, obstacles, force, labels, tool target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.operator.client import PlanLines, SceneView
from telerobot_nodes.operator.console import palette
from telerobot_nodes.operator.console.arm_geometry import Shape
from telerobot_nodes.operator.console.arm_view import ArmStyle, ArmView
from telerobot_nodes.operator.console.plan_view import PlanView
from telerobot_nodes.operator.console.solids_view import SolidsView

NEWTON = 0.01  # [m/N] length of the force arrow
MIN_FORCE = 1.0  # [N] below: no arrow
FORCE_STEP = 0.3  # [N] smaller changes are not sent
CAMERA = (1.75, -1.75, 1.5)  # [m] WORLD
LOOK_AT = (0.25, 0.0, 0.55)  # [m] WORLD


@dataclass(frozen=True)
class StageShapes:
    """Shapes that the scene is built of."""

    arm: tuple[Shape, ...]
    ghost: tuple[Shape, ...]  # simpler shapes, for the ghosts
    surroundings: tuple[Shape, ...] = ()  # fixed in WORLD


class Stage:
    """Draws `SceneView`s into a viser scene."""

    def __init__(self, server: Any, robot: RobotModel, shapes: StageShapes) -> None:
        scene = server.scene
        _furnish(server, shapes.surroundings)
        self._scene = scene
        self._actual = ArmView(scene, "/arm/actual", robot, shapes.arm, ArmStyle())
        self._estimate = _ghost(scene, "estimate", robot, shapes.ghost, palette.ESTIMATE, 0.22)
        self._predicted = _ghost(scene, "predicted", robot, shapes.ghost, palette.PREDICTED, 0.42)
        self._trial = _ghost(scene, "trial", robot, shapes.ghost, palette.TRIAL, 0.35)
        self._plan = PlanView(scene)
        self._solids = SolidsView(scene)
        self._lead_label = scene.add_label(
            "/labels/predicted", "forward simulation", font_screen_scale=0.9, anchor="center-left", visible=False
        )
        self._trial_label = scene.add_label(
            "/labels/trial", "trial path", font_screen_scale=0.9, anchor="center-right", visible=False
        )
        self._force_frame = scene.add_frame("/force", show_axes=False, visible=False)
        self._force: FloatArray = np.zeros(3)  # [N] WORLD, as drawn
        self._stale = False
        self.target = scene.add_transform_controls(
            "/target", scale=0.18, line_width=3.0, depth_test=False, visible=False
        )

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
        self._plan.draw_conflicts(view.conflicts)
        self._solids.draw(view.solids)
        self._solids.follow(view.tool_pose)
        self._label(view, ahead)
        self._arrow(view)

    def draw_plan(self, lines: PlanLines, other: FloatArray) -> None:
        """Replace the lines of the plan; `other` (n, 3) [m]: plan of another operator with authority."""
        self._plan.draw(lines, other)

    def _label(self, view: SceneView, shown: bool) -> None:
        self._lead_label.visible = shown and view.head_pose is not None
        if shown and view.head_pose is not None:
            self._lead_label.position = view.head_pose[:3]
            self._lead_label.text = f"forward simulation, {view.lead:.1f} s ahead"

    def _arrow(self, view: SceneView) -> None:
        force = force_in_world(view)
        self._force_frame.visible = view.tool_pose is not None and bool(np.linalg.norm(force) >= MIN_FORCE)
        if view.tool_pose is None or not self._force_frame.visible:
            return
        self._force_frame.position = view.tool_pose[:3]
        if np.abs(force - self._force).max() > FORCE_STEP:
            self._force = force
            self._scene.add_arrows(
                "/force/arrow",
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
    return ArmView(scene, f"/arm/{name}", robot, moving, ArmStyle(colour, opacity))


def _furnish(server: Any, surroundings: tuple[Shape, ...]) -> None:
    scene = server.scene
    scene.set_up_direction("+z")
    scene.world_axes.visible = False
    server.initial_camera.position, server.initial_camera.look_at = CAMERA, LOOK_AT
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
        shadow_opacity=0.35,
    )
    scene.add_frame("/world", axes_length=0.15, axes_radius=0.004)
    for number, shape in enumerate(surroundings):
        scene.add_mesh_simple(f"/surroundings/{number}", shape.vertices, shape.faces, color=shape.colour)
