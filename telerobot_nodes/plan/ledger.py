"""Windows given to the control loop and not yet superseded there: what is committed, and where to go on from."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from telerobot_nodes.plan.profile import Profile

CAPACITY = 64  # windows; a loop silent for longer is not waited for


@dataclass(frozen=True)
class Issued:
    """One window: its motion, and the plan time it depends on [s]."""

    number: int
    profile: Profile
    committed: float
    splice: float  # [s] from when it differs from the one before


class WindowLedger:
    """The window in use and those after it, oldest first; bounded."""

    def __init__(self, number: int, profile: Profile) -> None:
        self._entries: deque[Issued] = deque([Issued(number, profile, profile.end_tau, -np.inf)], maxlen=CAPACITY)

    @property
    def last_number(self) -> int:
        """Number of the latest window."""
        return self._entries[-1].number

    @property
    def committed(self) -> float:
        """[s] plan time any of the windows may still reach or depends on."""
        return max(entry.committed for entry in self._entries)

    def add(self, number: int, profile: Profile, committed: float, splice: float) -> None:
        """A window was given to the loop."""
        if len(self._entries) == CAPACITY:
            committed = max(committed, self._entries[0].committed)
        self._entries.append(Issued(number, profile, committed, splice))

    def confirm(self, number: int) -> None:
        """The loop uses window `number`: those before it are over."""
        if self.find(number) is not None:
            while self._entries[0].number < number:
                self._entries.popleft()

    def overdue(self, now: float, after: int, patience: float) -> bool:
        """True when a window above number `after` should have been in use `patience` [s] ago; none is."""
        return any(entry.number > after and entry.splice + patience < now for entry in self._entries)

    def find(self, number: int) -> Issued | None:
        """The window of this number, if it may still be in use."""
        return next((entry for entry in self._entries if entry.number == number), None)
