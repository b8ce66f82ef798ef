"""The camera's window in every page: the picture as it came, and what is drawn over it.

It has a connection of its own beside viser's, and sends a slow page the newest picture only: none waits for another.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field
from typing import Any

PATH = "/pictures"  # of the window's connection

Handler = Callable[[Any], Awaitable[None]]


@dataclass(frozen=True)
class PictureState:
    """What the window shows beside the picture. Marks: form (area, line, dot), CSS colour, pixels of the picture."""

    title: str
    text: str  # under the title, a problem for example
    stale: bool
    marks: list[dict[str, Any]] = field(default_factory=list)


class PictureView:
    """One camera window for all pages of a console, hidden until something is shown."""

    def __init__(self) -> None:
        self._pages: set[asyncio.Event] = set()  # of the server's thread only
        self._loop: asyncio.AbstractEventLoop | None = None
        self._picture = b""
        self._state = ""  # the latest, as JSON

    def show(self, picture: bytes, state: PictureState) -> None:
        """Show a JPEG or PNG, empty: none, and its state in every page; from any thread."""
        self._picture, self._state = picture, json.dumps(asdict(state))
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the server has ended
                self._loop.call_soon_threadsafe(self._wake)

    def routed(self, handler: Handler) -> Handler:
        """A handler of websockets that takes the connections of windows and leaves all others to `handler`."""

        async def handle(connection: Any) -> None:
            if connection.request.path == PATH:
                await self._serve(connection)
            else:
                await handler(connection)

        return handle

    def _wake(self) -> None:
        for page in self._pages:
            page.set()

    async def _serve(self, connection: Any) -> None:
        from websockets.exceptions import ConnectionClosed

        self._loop = asyncio.get_running_loop()
        changed = asyncio.Event()
        changed.set()
        self._pages.add(changed)
        sender = asyncio.create_task(self._send(connection, changed))
        try:
            with contextlib.suppress(ConnectionClosed):
                async for _ in connection:
                    await connection.close(1008, "a window of pictures says nothing")
        finally:
            self._pages.discard(changed)
            sender.cancel()

    async def _send(self, connection: Any, changed: asyncio.Event) -> None:
        from websockets.exceptions import ConnectionClosed

        sent = b""
        with contextlib.suppress(ConnectionClosed):
            while True:
                await changed.wait()
                changed.clear()
                if not self._state:
                    continue
                if self._picture is not sent:
                    sent = self._picture
                    await connection.send(sent)
                await connection.send(self._state)
