"""Which datagrams of a session arrived before: a window over their numbers."""

from __future__ import annotations

WIDTH = 4096  # numbers behind the latest that may still arrive


class ReplayWindow:
    """Numbers of one life. Nothing below the first is accepted: it was sent to a session that is gone."""

    def __init__(self, first: int) -> None:
        self._latest = first
        self._seen = (1 << WIDTH) - 1  # bit k: latest - k

    def accept(self, number: int) -> bool:
        """Whether this number is new; it is not the next time."""
        ahead = number - self._latest
        if ahead > 0:
            self._seen = ((self._seen << ahead) | 1) & ((1 << WIDTH) - 1) if ahead < WIDTH else 1
            self._latest = number
            return True
        if -ahead >= WIDTH or self._seen >> -ahead & 1:
            return False
        self._seen |= 1 << -ahead
        return True
