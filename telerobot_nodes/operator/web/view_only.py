"""Pages that only look: the console at an address of its own, from which only the place of a page's camera is taken."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

TAKEN = "ViewerCameraMessage"  # viser counts a page only when it has told its camera
MOST_PORTS = 1000  # tried

Handler = Callable[[Any], Awaitable[None]]
Open = Callable[[int], Any]  # a server at a port, as a context manager that is awaited


class ViewOnly:
    """Where the pages that only look are served: at `port` or the next free one; 0: any."""

    def __init__(self, host: str, port: int) -> None:
        self.host, self.port = host, port

    @staticmethod
    def looking(handler: Handler) -> Handler:
        """A handler like `handler` that receives of a page only its camera."""

        async def handle(connection: Any) -> None:
            await handler(_Looking(connection))

        return handle

    async def open(self, at: Open, stack: AsyncExitStack) -> None:
        """Enter the server of the first port that is free. Raises OSError when there is none."""
        last = self.port + MOST_PORTS
        while True:
            try:
                entered = await stack.enter_async_context(at(self.port))
            except OSError:
                self.port += 1
                if self.port == last:
                    raise
            else:
                self.port = entered.sockets[0].getsockname()[1]
                return


class Both:
    """Two servers as the one context manager that viser enters: the console's own, and the one that only looks."""

    def __init__(self, first: Any, view: ViewOnly, second: Open) -> None:
        self._first, self._view, self._second = first, view, second
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Any:
        entered = await self._stack.enter_async_context(self._first)
        await self._view.open(self._second, self._stack)
        return entered

    async def __aexit__(self, *error: Any) -> None:
        await self._stack.aclose()


class _Looking:
    """A connection of which only the camera is received."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    async def recv(self) -> Any:
        """The next camera of the page."""
        while True:
            message = await self._connection.recv()
            if _kind(message) == TAKEN:
                return message


def _kind(message: Any) -> str:
    """Type of a message of viser; empty: it is none."""
    import msgspec

    try:
        return str(msgspec.msgpack.decode(message)["type"])
    except (msgspec.DecodeError, TypeError, KeyError, ValueError):
        return ""
