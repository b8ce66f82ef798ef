"""How often a node may be started again, and after which pause."""

from __future__ import annotations

from collections import deque

WINDOW = 60.0  # [s] in which starts are counted
PAUSES = (0.0, 0.5, 1.0, 2.0, 4.0)  # [s] before the first start of a window, the second ...; the last one stays


class Restarts:
    """Starts of one node after its ends: at most `most` in any `WINDOW`."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._at: deque[float] = deque()  # [s] of the starts in the window

    @property
    def count(self) -> int:
        """Starts in the window of the latest end."""
        return len(self._at)

    def pause(self, now: float) -> float | None:
        """Pause [s] before the start after an end at `now` [s], which is then counted; None: no start any more."""
        while self._at and now - self._at[0] >= WINDOW:
            self._at.popleft()
        if len(self._at) >= self.most:
            return None
        self._at.append(now)
        return PAUSES[min(len(self._at), len(PAUSES)) - 1]
