"""Windows (trajectory segments) sent to the control loop and not yet superseded there."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from telerobot_nodes.plan.executor.profile import Profile

CAPACITY = 64  # windows; older ones are dropped, however long the loop is silent


@dataclass(frozen=True)
class InFlightSegment:
    """One window with its motion."""

    number: int
    profile: Profile
    committed: float  # [s] plan time that it depends on
    splice: float  # [s] time from which it differs from the one before


class InFlightSegments:
    """The window in use and those after it, oldest first; bounded."""

    def __init__(self, number: int, profile: Profile) -> None:
        self._entries: deque[InFlightSegment] = deque(
            [InFlightSegment(number, profile, profile.end_tau, -np.inf)], maxlen=CAPACITY
        )

    @property
    def last_number(self) -> int:
        """Number of the latest window."""
        return self._entries[-1].number

    @property
    def committed(self) -> float:
        """Plan time that any of the windows may reach or depends on [s]."""
        return max(entry.committed for entry in self._entries)

    def add(self, number: int, profile: Profile, committed: float, splice: float) -> None:
        """Add a window sent to the loop; `committed` [s] plan time, `splice` [s]."""
        if len(self._entries) == CAPACITY:
            committed = max(committed, self._entries[0].committed)
        self._entries.append(InFlightSegment(number, profile, committed, splice))

    def confirm(self, number: int) -> None:
        """Drop the windows before `number`, which the loop uses."""
        if self.find(number) is not None:
            while self._entries[0].number < number:
                self._entries.popleft()

    def overdue(self, now: float, after: int, timeout: float) -> bool:
        """True when a window above number `after` should have been in use for `timeout` [s]."""
        return any(entry.number > after and entry.splice + timeout < now for entry in self._entries)

    def find(self, number: int) -> InFlightSegment | None:
        """The window of this number, None if it cannot be in use."""
        return next((entry for entry in self._entries if entry.number == number), None)
