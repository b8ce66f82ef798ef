"""A page for a phone or a headset that is moved in space: the operator's hand by WebXR, with a dead man's button.

What belongs here: the page, its connection, and whose device counts. What must never enter: ROS, what the hand moves.
"""

from __future__ import annotations

import json
import math
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

from telerobot_nodes.core.values import FloatArray, finite
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.devices import GAP, RemoteClock, TrackedHand, world_from_xr

PAGE = "/hand"
PATH = "/hand/poses"  # of its connection
KEPT = 64  # poses that nobody took yet
MOST_CHARACTERS = 1000  # of a message

Handler = Callable[[Any], Awaitable[None]]
Answer = Callable[[Any, Any], Any]


@dataclass(frozen=True)
class HandSample:
    """Where the held device was."""

    taken: float  # [s] of this host's monotonic clock
    pose: FloatArray  # (7,) x forward, y left, z up, from the place where the person began


class HandPage:
    """The page, and the poses of the device that is held; one at a time."""

    def __init__(self, wake: Callable[[], object], grip: Callable[[bool], object] | None = None) -> None:
        """`wake`: called when there are poses; `grip`: to close (True) or open the gripper, None where there is none.

        Both are called on the server's thread and must not block.
        """
        self._wake, self._grip = wake, grip
        self._samples: deque[HandSample] = deque(maxlen=KEPT)
        self._holder: Any = None  # the connection whose device is held; of the server's thread only
        self._held_at = -math.inf  # [s] its latest pose
        self._hand = TrackedHand()
        self.blocked = ""  # why what is held moves nothing, for people

    def take(self) -> list[HandSample]:
        """The poses since the last call, oldest first."""
        taken: list[HandSample] = []
        while self._samples:
            taken.append(self._samples.popleft())
        return taken

    def added(self, answer: Answer) -> Answer:
        """A server of pages like `answer`, with this one among them."""

        def process(connection: Any, request: Any) -> Any:
            if urlsplit(request.path).path != PAGE:
                return answer(connection, request)
            response = connection.respond(200, _page(grips=self._grip is not None))
            del response.headers["Content-Type"]
            response.headers["Content-Type"] = "text/html; charset=utf-8"
            response.headers["Cache-Control"] = "no-store"
            return response

        return process

    def routed(self, handler: Handler) -> Handler:
        """A handler of websockets that takes the connections of this page and leaves all others to `handler`."""

        async def handle(connection: Any) -> None:
            if connection.request.path == PATH:
                await self._listen(connection)
            else:
                await handler(connection)

        return handle

    async def _listen(self, connection: Any) -> None:
        from websockets.exceptions import ConnectionClosed

        clock = RemoteClock()
        told: tuple[bool | None, str] = (None, "")
        try:
            async for message in connection:
                counts = self._receive(connection, clock, message), self.blocked
                if counts != told:  # only when it changes
                    told = counts
                    await connection.send(json.dumps({"counts": counts[0], "blocked": counts[1]}))
        except InvalidValueError as error:
            await connection.close(1008, str(error)[:120])
        except ConnectionClosed:
            pass
        finally:
            self._let_go(connection)

    def _receive(self, connection: Any, clock: RemoteClock, message: object) -> bool | None:
        """Whether the device of the page counts; None: it is not held. Raises InvalidValueError."""
        now = time.monotonic()
        told = _parsed(message)
        if "grip" in told:
            if self._grip is not None:
                self._grip(told["grip"])
            return True if self._holder is connection else None
        taken = clock.here(1e-3 * finite(told.get("time", math.nan), "time"), now)
        if not told["held"]:
            self._let_go(connection)
            return None
        if self._holder not in (None, connection) and now - self._held_at <= GAP:
            return False
        if self._holder is not connection:
            self._hand.let_go()
        self._holder, self._held_at = connection, now
        self._samples.append(HandSample(taken, self._hand.move(taken, world_from_xr(told.get("pose")))))
        if len(self._samples) == 1:  # else a call is on its way
            self._wake()
        return True

    def _let_go(self, connection: Any) -> None:
        if self._holder is connection:
            self._holder = None
            self._hand.let_go()


def _parsed(message: object) -> dict[str, Any]:
    problem = (
        'allowed: {"held": true or false, "time": [ms]}, if held "pose": [x, y, z, qx, qy, qz, qw]; {"grip": true}'
    )
    if not isinstance(message, str) or len(message) > MOST_CHARACTERS:
        raise InvalidValueError("message", "bytes or too long", problem)
    try:
        told = json.loads(message)
    except (ValueError, RecursionError):
        told = None
    if not isinstance(told, dict) or not isinstance(told.get("grip", told.get("held")), bool):
        raise InvalidValueError("message", message[:40], problem)
    return told


def _page(grips: bool) -> str:
    page = files(__package__).joinpath("hand_page.html").read_text(encoding="utf-8")
    return page if grips else page.replace('<main id="hand">', '<main id="hand" class="bare">')
