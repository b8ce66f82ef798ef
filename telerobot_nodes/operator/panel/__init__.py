"""The Qt panel: widgets of `python_qt_binding` that show a view and send the operator's commands [US5231693]."""

from __future__ import annotations

from telerobot_nodes.operator.panel.menu_page import MenuPage
from telerobot_nodes.operator.panel.operator_panel import OperatorPanel, Requests

__all__ = ["MenuPage", "OperatorPanel", "Requests"]
