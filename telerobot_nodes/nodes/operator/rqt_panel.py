"""The panel as a plugin of rqt, on rqt's own node: no rclpy of its own is begun or ended."""

from __future__ import annotations

from functools import partial
from typing import Any

from rqt_gui_py.plugin import Plugin

from telerobot_nodes.menus import folder_of
from telerobot_nodes.motion.parameters import KINDS
from telerobot_nodes.nodes.clients import open_robot
from telerobot_nodes.nodes.operator.operator_panel import PanelSession
from telerobot_nodes.operator.panel import OperatorPanel

ROBOT = "arm"  # whose menus are shown, when no argument names one


class OperatorPanelPlugin(Plugin):  # type: ignore[misc]
    """Takes rqt's node from `context`; rqt spins it.

    Arguments: the namespace of the arm, and the robot whose menus are shown, by default ROBOT: `--args left panda`.
    Raises ModelError when there is no such robot.
    """

    def __init__(self, context: Any) -> None:
        super().__init__(context)
        self.setObjectName("TelerobotOperatorPanel")
        words = context.argv()
        namespace = words[0] if words else ""
        robot = words[1] if len(words) > 1 else ROBOT
        panel = OperatorPanel(tuple(KINDS))
        self._session = PanelSession(panel, partial(open_robot, namespace, "panel", context.node))
        self._session.show_menus(folder_of(), robot)
        context.add_widget(panel)

    def shutdown_plugin(self) -> None:
        """Leave the graph; rqt's node stays."""
        self._session.close()
