"""The 3-D scene of the console: arms, ghosts, plans, obstacles, forces, in the colours of one palette [US5231693]."""

from __future__ import annotations

from telerobot_nodes.operator.scene import palette
from telerobot_nodes.operator.scene.arm_geometry import Detail, Shape, load_shapes
from telerobot_nodes.operator.scene.arm_scene import ArmScene, ArmShapes
from telerobot_nodes.operator.scene.scene_geometry import surroundings
from telerobot_nodes.operator.scene.stage import CAMERAS, Stage

__all__ = [
    "CAMERAS",
    "ArmScene",
    "ArmShapes",
    "Detail",
    "Shape",
    "Stage",
    "load_shapes",
    "palette",
    "surroundings",
]
