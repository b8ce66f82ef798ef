"""Simulated cameras: the scene of the simulated arm as a wrist camera and a camera beside it see it."""

from __future__ import annotations

from telerobot_nodes.hardware.camera.scene_camera import NoDisplayError, SceneCamera
from telerobot_nodes.hardware.camera.twin_scene import OVERVIEW, WRIST, TwinScene, View

__all__ = ["OVERVIEW", "WRIST", "NoDisplayError", "SceneCamera", "TwinScene", "View"]
