"""Opening a browser only where there is a screen."""

from telerobot_nodes.operator.web import NO_BROWSER, open_browser
from telerobot_nodes.operator.web.browser import wanted


def test_without_a_screen_no_browser_is_opened():
    assert not open_browser("http://127.0.0.1:8080", {})
    assert wanted({"DISPLAY": ":0"})
    assert not wanted({"DISPLAY": ":0", NO_BROWSER: "1"})
