"""Opening the operator's browser, where there is a screen to open it on."""

from __future__ import annotations

import sys
from collections.abc import Mapping

NO_BROWSER = "TELEROBOT_NO_BROWSER"  # environment: set to keep every console from opening a window


def wanted(environment: Mapping[str, str]) -> bool:
    """True when a browser window may and can appear."""
    return not environment.get(NO_BROWSER) and has_screen(environment)


def has_screen(environment: Mapping[str, str]) -> bool:
    """True when there is a screen."""
    return sys.platform == "darwin" or bool(environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"))


def open_browser(url: str, environment: Mapping[str, str]) -> bool:
    """Open the console in the person's browser; False when it is not wanted, or there is no screen or no browser."""
    import webbrowser

    if not wanted(environment):
        return False
    try:
        return webbrowser.open(url)
    except webbrowser.Error:
        return False
