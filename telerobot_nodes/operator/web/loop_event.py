"""An asyncio event that any thread may set, and its place in the server of viser.

viser 1.1 sets an asyncio.Event from the thread that draws. Between a page's look at the event and its wait, such an
event stays set and the page waits for ever: nothing drawn reaches it any more, until it is loaded again.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any


class LoopEvent(asyncio.Event):
    """Changes only on the thread of its loop; `set` on another thread asks that thread to set it."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._home = loop
        self._asked = False

    def set(self) -> None:
        """Wake what waits; from any thread."""
        if asyncio._get_running_loop() is self._home:
            super().set()
        elif not self._asked:
            self._asked = True
            with contextlib.suppress(RuntimeError):  # the loop has ended
                self._home.call_soon_threadsafe(self._set_here)

    def _set_here(self) -> None:
        self._asked = False  # first: what comes from now on asks again
        super().set()


def make_wakes_safe(server: Any) -> None:
    """Replace the event of what a viser server sends to all its pages."""
    buffer = server._websock_server.get_message_buffer()
    before, buffer.message_event = buffer.message_event, LoopEvent(buffer.event_loop)

    def wake() -> None:  # a page that was faster than this call waits for the event before
        before.clear()
        before.set()

    buffer.event_loop.call_soon_threadsafe(wake)
