"""The robot's camera at the operator's side: delayed pictures, and what the arm will do drawn into them [US5231693]."""

from __future__ import annotations

from telerobot_nodes.operator.camera.camera_feed import CameraFeed, CameraState, Picture
from telerobot_nodes.operator.camera.camera_window import CameraFolder, CameraWindow
from telerobot_nodes.operator.camera.overlay import Mark, Overlay
from telerobot_nodes.operator.camera.painting import paint

__all__ = ["CameraFeed", "CameraFolder", "CameraState", "CameraWindow", "Mark", "Overlay", "Picture", "paint"]
