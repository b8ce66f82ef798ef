"""An event that only its own loop sets, and its place in the server of viser.

viser 1.1 sets an asyncio.Event from the thread that draws, and asks the loop to set it as well. Between a page's look
at the event and its wait, the first of the two leaves the event set and the page waiting for ever: nothing drawn
reaches it any more, until it is loaded again. The second alone is right.
"""

from __future__ import annotations

import asyncio
from typing import Any


class LoopEvent(asyncio.Event):
    """An event that another thread cannot set but through the loop: its own call of `set` is ignored."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._home = loop

    def set(self) -> None:
        """Wake what waits, on the loop's thread."""
        if asyncio._get_running_loop() is self._home:
            super().set()


def make_wakes_safe(server: Any) -> None:
    """Replace the event of what a viser server sends to all its pages."""
    buffer = server._websock_server.get_message_buffer()
    before, buffer.message_event = buffer.message_event, LoopEvent(buffer.event_loop)

    def wake() -> None:  # a page that was faster than this call waits for the event before
        before.clear()
        before.set()

    buffer.event_loop.call_soon_threadsafe(wake)
