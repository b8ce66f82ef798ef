"""Where in a recording the playback is: play, pause, speed, any time, next and previous event."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from telerobot_nodes.core.values import finite, in_range

SPEEDS = (0.1, 100.0)  # [-] allowed
SAME = 1e-6  # [s] two events this near are at one time


class Player:
    """Position in a recording of `duration` [s] with events at `times` [s], in order."""

    def __init__(self, duration: float, times: Sequence[float] = ()) -> None:
        self.duration = duration
        self.position = 0.0  # [s]
        self.speed = 1.0
        self.playing = False
        self._times = list(times)
        self._now: float | None = None

    def advance(self, now: float) -> float:
        """The position at `now` [s]; playback ends with the recording."""
        if self.playing and self._now is not None:
            self.seek(self.position + self.speed * (now - self._now))
            self.playing = self.position < self.duration
        self._now = now
        return self.position

    def play(self, on: bool) -> None:
        """Play or pause; at the end it plays from the beginning."""
        if on and self.position >= self.duration:
            self.position = 0.0
        self.playing = on

    def set_speed(self, speed: float) -> None:
        """Seconds of the recording per second. Raises InvalidValueError outside SPEEDS."""
        self.speed = in_range(speed, "speed", *SPEEDS)

    def seek(self, position: float) -> None:
        """Go to a time; before the beginning and after the end is there."""
        self.position = min(max(finite(position, "position"), 0.0), self.duration)

    def step(self, forward: bool) -> None:
        """Go to the next or the previous event and pause; without one, stay."""
        self.playing = False
        if forward:
            k = bisect_right(self._times, self.position + SAME)
        else:
            k = bisect_left(self._times, self.position - SAME) - 1
        if 0 <= k < len(self._times):
            self.seek(self._times[k])
