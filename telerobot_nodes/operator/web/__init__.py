"""The web server of the console, and the stop bar of its pages: the part of a page that needs no widget to work."""

from __future__ import annotations

from telerobot_nodes.operator.web.browser import NO_BROWSER, open_browser
from telerobot_nodes.operator.web.picture_view import PictureState, PictureView
from telerobot_nodes.operator.web.server import start_server, stop_server, url
from telerobot_nodes.operator.web.stop_bar import BarState, Press, StopBar
from telerobot_nodes.operator.web.token_gate import TokenGate, user_token
from telerobot_nodes.operator.web.view_only import ViewOnly
from telerobot_nodes.operator.web.workspaces import Workspaces

__all__ = [
    "NO_BROWSER",
    "BarState",
    "PictureState",
    "PictureView",
    "Press",
    "StopBar",
    "TokenGate",
    "ViewOnly",
    "Workspaces",
    "open_browser",
    "start_server",
    "stop_server",
    "url",
    "user_token",
]
