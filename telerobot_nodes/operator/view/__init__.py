"""What a person sees of the client: its values as texts with units, and what to draw. Knows no ROS and no widgets."""

from __future__ import annotations

from telerobot_nodes.operator.view.console_view import ConsoleView, Controls, view
from telerobot_nodes.operator.view.host_rows import Light
from telerobot_nodes.operator.view.rows import Row
from telerobot_nodes.operator.view.scene_view import SceneView, other_plan, plan_lines, scene

__all__ = ["ConsoleView", "Controls", "Light", "Row", "SceneView", "other_plan", "plan_lines", "scene", "view"]
