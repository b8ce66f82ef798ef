"""The web server of the console, and the stop bar of its pages: the part of a page that needs no widget to work."""

from __future__ import annotations

from telerobot_nodes.operator.web.browser import NO_BROWSER, open_browser
from telerobot_nodes.operator.web.certificate import create_certificate, server_context
from telerobot_nodes.operator.web.hand_page import HandPage
from telerobot_nodes.operator.web.picture_view import PictureState, PictureView
from telerobot_nodes.operator.web.server import Served, is_loopback, start_server, stop_server, url
from telerobot_nodes.operator.web.stop_bar import BarState, Press, StopBar
from telerobot_nodes.operator.web.token_gate import TokenGate, user_token
from telerobot_nodes.operator.web.view_only import ViewOnly
from telerobot_nodes.operator.web.workspaces import Workspaces

__all__ = [
    "NO_BROWSER",
    "BarState",
    "HandPage",
    "PictureState",
    "PictureView",
    "Press",
    "Served",
    "StopBar",
    "TokenGate",
    "ViewOnly",
    "Workspaces",
    "create_certificate",
    "is_loopback",
    "open_browser",
    "server_context",
    "start_server",
    "stop_server",
    "url",
    "user_token",
]
