"""Opening the operator's browser, where there is a screen to open it on."""

from __future__ import annotations

import sys
from collections.abc import Mapping


def has_screen(environment: Mapping[str, str]) -> bool:
    """True when a browser window could appear."""
    return sys.platform == "darwin" or bool(environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"))


def open_browser(url: str, environment: Mapping[str, str]) -> bool:
    """Open the console in the person's browser; False when there is no screen or no browser."""
    import webbrowser

    if not has_screen(environment):
        return False
    try:
        return webbrowser.open(url)
    except webbrowser.Error:
        return False
