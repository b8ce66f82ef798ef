"""The stop bar: stops and the robot's state at the top of every page, and the keys H and Esc.

It is part of the page itself, beside viser, with a connection of its own: neither scrolling, nor a widget that has the
focus, nor a widget that fails can take it away. The window receives keys before any widget does; the hotkeys of viser
ignore a key while an input, a checkbox or a list has the focus.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field
from enum import Enum
from functools import cache
from importlib.resources import files
from typing import Any

PATH = "/stops"  # of the bar's connection
MOST_CHARACTERS = 32  # of a word from a page
ADDED = ("stop_bar.html", "frame_pace.html", "picture_view.html")
LOOKING = b"<script>window.telerobotLooks = true;</script>"
_BODY = b"<body>"

Handler = Callable[[Any], Awaitable[None]]
Answer = Callable[[Any, Any], Any]


class Press(Enum):
    """What a person can press in the bar; the values are the words that a page sends."""

    HALT = "halt"
    ESTOP = "estop"
    RESUME = "resume"
    RESET = "reset"


@dataclass(frozen=True)
class BarState:
    """What the bar shows."""

    banner: str
    colour: str  # of the banner's background, CSS
    lead: str
    authority: str
    resumable: bool  # after a halt
    latched: bool  # the e-stop
    recording: str = "not known"
    form: str = "?"  # of the recording light
    light: str = "#8b93a1"  # its colour, CSS
    workspace: str = ""  # of this page; "": there is one only
    doors: dict[str, str] = field(default_factory=dict)  # address of each other workspace


class StopBar:
    """One bar for all pages of a console. `pressed` is called on the server's thread and must not block.

    A press is confirmed to its page when `pressed` has returned; if that raises, the page sends a stop again.
    """

    def __init__(self, pressed: Callable[[Press], object]) -> None:
        self._pressed = pressed
        self._connections: set[Any] = set()  # of the server's thread only
        self._loop: asyncio.AbstractEventLoop | None = None
        self._state = ""  # the latest, as JSON

    @property
    def pages(self) -> int:
        """Pages connected now."""
        return len(self._connections)

    def show(self, state: BarState) -> None:
        """Send the state to every page; call it often, for a page takes silence for a fault."""
        self._state = json.dumps(asdict(state))
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the server has ended
                self._loop.call_soon_threadsafe(self._send)

    def routed(self, handler: Handler, looking: bool = False) -> Handler:
        """A handler of websockets that takes the connections of bars and leaves all others to `handler`.

        `looking`: of pages that may press nothing.
        """

        async def handle(connection: Any) -> None:
            if connection.request.path == PATH:
                await self._listen(connection, () if looking else tuple(Press))
            else:
                await handler(connection)

        return handle

    @staticmethod
    def added(answer: Answer, looking: bool = False) -> Answer:
        """A server of pages like `answer`, with the bar in each; `looking`: without buttons and keys."""

        def process(connection: Any, request: Any) -> Any:
            response = answer(connection, request)
            if response is not None and response.headers.get("Content-Type", "").startswith("text/html"):
                zipped = response.headers.get("Content-Encoding") == "gzip"
                response.body = _with_bar(response.body, zipped, looking)
                del response.headers["Content-Length"]
                response.headers["Content-Length"] = str(len(response.body))
            return response

        return process

    async def _listen(self, connection: Any, allowed: tuple[Press, ...]) -> None:
        from websockets.exceptions import ConnectionClosed

        self._loop = asyncio.get_running_loop()
        self._connections.add(connection)
        try:
            if self._state:
                await connection.send(self._state)
            async for word in connection:
                press = press_of(word)
                if press not in allowed:
                    await connection.close(1008, f"allowed: {', '.join(one.value for one in allowed) or 'nothing'}")
                    return
                self._pressed(press)
                await connection.send(json.dumps({"heard": press.value}))
        except ConnectionClosed:
            pass
        finally:
            self._connections.discard(connection)

    def _send(self) -> None:
        from websockets.asyncio.server import broadcast

        broadcast(self._connections, self._state)


def press_of(word: str | bytes) -> Press | None:
    """The press that a word of a page means; None: none."""
    if not isinstance(word, str) or len(word) > MOST_CHARACTERS:
        return None
    return next((press for press in Press if press.value == word), None)


@cache
def _with_bar(page: bytes, zipped: bool, looking: bool) -> bytes:
    plain = gzip.decompress(page) if zipped else page
    bar = LOOKING * looking + b"".join(files(__package__).joinpath(name).read_bytes() for name in ADDED)
    before, body, after = plain.partition(_BODY)
    if not body:
        raise ValueError("the page of viser has no <body> to hold the stop bar")
    whole = before + body + bar + after
    return gzip.compress(whole) if zipped else whole
