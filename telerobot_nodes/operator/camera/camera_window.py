"""The camera in the console: its window over the scene, and its folder in the panel, once a camera was heard of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from telerobot_nodes.core.camera import BUDGET_RANGE, RATE_RANGE
from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.operator.camera.camera_feed import CameraFeed, CameraState
from telerobot_nodes.operator.camera.overlay import Overlay
from telerobot_nodes.operator.client import OperatorClient, commands
from telerobot_nodes.operator.console import Followed, Inbox, Refused
from telerobot_nodes.operator.view import plan_lines, scene
from telerobot_nodes.operator.web import PictureState, PictureView

DRAW_PERIOD = 0.1  # [s] shortest time between two drawings
OLD = 5.0  # [s] an older picture is marked
KILO = 1000.0


class CameraWindow:
    """Draws the feed into the pages of a console; the folder's requests go into its inbox."""

    def __init__(self, gui: Any, pictures: PictureView, inbox: Inbox, overlay: Overlay) -> None:
        self._gui, self._pictures, self._inbox, self._overlay = gui, pictures, inbox, overlay
        self._folder: CameraFolder | None = None
        self._drawn = -DRAW_PERIOD  # [s]

    def step(self, feed: CameraFeed, client: OperatorClient, now: float) -> None:
        """Show what has changed; at most every DRAW_PERIOD."""
        if now - self._drawn < DRAW_PERIOD or (feed.state is None and feed.picture is None):
            return
        self._drawn = now
        if feed.state is not None:
            if self._folder is None and feed.state.cameras:
                self._folder = CameraFolder(self._gui, self._inbox, feed.state.cameras)
            if self._folder is not None:
                self._folder.show(feed.state, now)
        self._pictures.show(feed.picture.data if feed.picture else b"", self._state(feed, client, now))

    def _state(self, feed: CameraFeed, client: OperatorClient, now: float) -> PictureState:
        age = feed.age(now, client.queue.round_trip)
        lens = feed.lens()
        problems = [feed.state.problem if feed.state else "", feed.problem]
        if isinstance(lens, str):
            return PictureState(_title(feed, age), "; ".join(filter(None, [*problems, lens])), _is_old(age))
        marks = self._overlay.marks(scene(client, now), plan_lines(client), *lens)
        text = "; ".join(filter(None, problems))
        return PictureState(_title(feed, age), text, _is_old(age), [mark.as_json() for mark in marks])


class CameraFolder:
    """Which camera, how often, and how many bytes."""

    def __init__(self, gui: Any, inbox: Inbox, cameras: tuple[str, ...]) -> None:
        self._inbox = inbox
        with gui.add_folder("Camera"):
            camera = gui.add_dropdown("camera", cameras)
            rate = gui.add_slider("pictures [Hz]", *RATE_RANGE, 0.5, 4.0, hint="pictures per second; 0: none")
            low, high = (value / KILO for value in BUDGET_RANGE)
            hint = "most bytes of pictures per second"
            budget = gui.add_number("budget [kB/s]", 120.0, min=low, max=high, step=1.0, hint=hint)
        asks = commands.SetCamera
        self._followed = [
            self._follow(camera, lambda: asks(camera.value), lambda state: state.setting.camera),
            self._follow(rate, lambda: asks(rate=float(rate.value)), lambda state: state.setting.rate),
            self._follow(
                budget, lambda: asks(budget=KILO * float(budget.value)), lambda state: state.setting.budget / KILO
            ),
        ]

    def show(self, state: CameraState, now: float) -> None:
        """Show what is in force, except where the operator has just changed it."""
        for followed in self._followed:
            followed.follow(state, now)

    def _follow(
        self, widget: Any, make: Callable[[], commands.SetCamera], in_force: Callable[[CameraState], Any]
    ) -> Followed:
        followed = Followed(widget, in_force)

        async def moved(event: Any) -> None:
            if event.client_id is not None:  # not caused by `show`
                followed.touched = True
                self._request(make)

        widget.on_update(moved)
        return followed

    def _request(self, make: Callable[[], commands.SetCamera]) -> None:
        try:
            self._inbox.put_newest(make())
        except (TelerobotError, TypeError, ValueError) as error:
            self._inbox.put(Refused(str(error)))


def _title(feed: CameraFeed, age: float | None) -> str:
    name = feed.picture.camera if feed.picture is not None else ""
    shown = "no picture" if feed.picture is None else "age not known" if age is None else f"{max(age, 0.0):.1f} s old"
    return f"camera {name}: {shown}".replace("  ", " ")


def _is_old(age: float | None) -> bool:
    return age is None or age > OLD
