"""The widgets of a playback: time, play, speed, events. Callbacks only note wishes; the owner's thread takes them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from telerobot_nodes.operator.playback.player import Player

RATES = ("0.25", "0.5", "1", "2", "5", "10", "50")
SHOW_PERIOD = 0.2  # [s] between two positions of the slider while it plays
STEP = 0.05  # [s] of the slider


class PlaybackControls:
    """Widgets in `gui` for `player`."""

    def __init__(self, gui: Any, player: Player) -> None:
        self._player = player
        self._wishes: deque[Callable[[], None]] = deque(maxlen=64)
        self._at: float | None = None  # the newest position asked for
        self._shown = -SHOW_PERIOD
        with gui.add_folder("Recording", order=-1.0):
            self._time = gui.add_slider(
                "time [s]", min=0.0, max=max(player.duration, STEP), step=STEP, initial_value=0.0
            )
            self._speed = gui.add_dropdown("speed", RATES, initial_value="1")
            self._buttons = gui.add_button_group("", ("play", "pause", "previous event", "next event"))
        wishes: dict[str, Callable[[], None]] = {
            "play": lambda: player.play(True),
            "pause": lambda: player.play(False),
            "previous event": lambda: player.step(False),
            "next event": lambda: player.step(True),
        }

        async def pressed(_event: Any) -> None:  # coroutines: viser then keeps the order of events
            self._wishes.append(wishes[self._buttons.value])

        async def chosen(_event: Any) -> None:
            self._wishes.append(lambda: player.set_speed(float(self._speed.value)))

        self._buttons.on_click(pressed)
        self._speed.on_update(chosen)

        async def moved(event: Any) -> None:
            if event.client_id is not None:  # by a person
                self._at = float(self._time.value)

        self._time.on_update(moved)

    def step(self, now: float) -> float:
        """Do what was asked; returns the position [s] at `now`."""
        while self._wishes:
            self._wishes.popleft()()
        asked, self._at = self._at, None
        if asked is not None:
            self._player.seek(asked)
        position = self._player.advance(now)
        if asked is None and now - self._shown >= SHOW_PERIOD and abs(self._time.value - position) > STEP:
            self._time.value = position
            self._shown = now
        return position
