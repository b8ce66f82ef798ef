"""The console in a real, headless browser: real presses, when the page showed what they did, and bytes received."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from telerobot_nodes.errors import TelerobotError

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ["--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader", "--use-angle=swiftshader"]
WIDTH, HEIGHT = 1280, 800
OPEN_LIMIT = 180.0  # [s] for the first drawing, without a graphics card
SHOWN_LIMIT = 20.0  # [s]
PICTURES = "/pictures"  # path of the socket of the robot's camera

# Times [ms] are of the page's clock: of the press as an input event, and of the frame that shows its effect.
_INSTRUMENT = """
window.probe = {pressed: 0, shown: 0, wanted: ""};
window.addEventListener("pointerdown", (event) => { probe.pressed = event.timeStamp; }, true);
const look = () => {
  if (probe.wanted === "") return;
  for (const one of document.querySelectorAll("button, #stops .banner span")) {
    if (!one.textContent.trim().startsWith(probe.wanted)) continue;
    probe.wanted = "";
    requestAnimationFrame(() => { probe.shown = performance.now(); });
    return;
  }
};
new MutationObserver(look).observe(document, {subtree: true, childList: true, characterData: true});
"""


class ConsolePage:
    """One page of a console."""

    def __init__(self, page: Any, url: str) -> None:
        self._page = page
        self.received: Counter[str] = Counter()  # bytes of the page's sockets, by their path
        page.set_default_timeout(1000.0 * OPEN_LIMIT)
        page.add_init_script(_INSTRUMENT)
        page.on("websocket", self._count)
        page.goto(url)
        page.locator("#stops:not(.lost)").wait_for()
        page.locator("canvas").first.wait_for()
        page.get_by_role("button", name="pause", exact=True).wait_for()

    def press(self, button: str, wanted: str) -> tuple[float, float]:
        """Press the button of this name; when it was pressed, and when a text that begins with `wanted` was shown.

        Both on the host's monotonic clock [s]. Raises TelerobotError when it is not shown.
        """
        target = self._page.get_by_role("button", name=button, exact=True)
        target.scroll_into_view_if_needed()
        box = target.bounding_box()
        self._page.evaluate("(wanted) => Object.assign(probe, {pressed: 0, shown: 0, wanted})", wanted)
        self._page.mouse.click(box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"])
        times = self._times()
        end = time.monotonic() + SHOWN_LIMIT
        while not times["shown"]:
            if time.monotonic() > end:
                raise TelerobotError(f"{button!r} was pressed; {wanted!r} is not shown after {SHOWN_LIMIT:g} s")
            self.spin(0.02)
            times = self._times()
        origin = 1e-3 * times["origin"] - (time.time() - time.monotonic())
        return origin + 1e-3 * times["pressed"], origin + 1e-3 * times["shown"]

    def spin(self, seconds: float) -> None:
        """Let the page live for `seconds`."""
        self._page.wait_for_timeout(1000.0 * seconds)

    def picture(self, file: str) -> None:
        """Keep a screenshot."""
        self._page.screenshot(path=file)

    def _times(self) -> dict[str, float]:
        times: dict[str, float] = self._page.evaluate(
            "({pressed: probe.pressed, shown: probe.shown, origin: performance.timeOrigin})"
        )
        return times

    def _count(self, socket: Any) -> None:
        path = urlsplit(socket.url).path
        socket.on("framereceived", lambda frame: self.received.update({path: len(frame)}))


@contextlib.contextmanager
def console_page(url: str) -> Iterator[ConsolePage]:
    """A page of the console at `url`. Raises TelerobotError when no browser is installed."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise TelerobotError("playwright is not installed; it is among the development requirements") from None
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        raise TelerobotError(f"no browser on this machine; one of {', '.join(BROWSERS)} is needed")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        try:
            yield ConsolePage(browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}), url)
        finally:
            browser.close()
