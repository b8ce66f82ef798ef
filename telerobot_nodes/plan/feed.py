"""The plan as displays and simulators on the operator's host are told of it (`PlanUpdate.msg`)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from telerobot_nodes.plan.points import PlanPoints
from telerobot_nodes.plan.store import PlanStore, as_points, gapless


class UpdateKind(IntEnum):
    """Values equal the constants of `PlanUpdate.msg`."""

    APPEND = 0
    TRUNCATE = 1
    RESET = 2


@dataclass(frozen=True)
class PlanUpdate:
    """One change of the plan or of the trial path."""

    kind: UpdateKind
    trial: bool
    points: PlanPoints | None = None  # APPEND; RESET: the whole plan kept, None: nothing
    after_seq: int = 0  # TRUNCATE


class PlanFeed:
    """Follows one store; `drain` returns the changes since the call before, in order."""

    def __init__(self, author: str, trial: bool = False) -> None:
        self._author = author
        self._trial = trial
        self._shown_seq = 0
        self._again = False
        self._updates: list[PlanUpdate] = []

    @property
    def shown_seq(self) -> int:
        """Last point told of."""
        return self._shown_seq

    def truncate(self, after_seq: int) -> None:
        """Points with numbers above `after_seq` are gone."""
        if after_seq < self._shown_seq:
            self._updates.append(PlanUpdate(UpdateKind.TRUNCATE, self._trial, after_seq=after_seq))
            self._shown_seq = after_seq

    def reset(self) -> None:
        """Everything told so far is void; what the store holds at the next drain is the plan."""
        self._updates = [PlanUpdate(UpdateKind.RESET, self._trial)]
        self._shown_seq = 0

    def retell(self) -> None:
        """Somebody has come late: the next drain ends with the whole path; who knew it finds nothing new in it."""
        self._again = True

    def drain(self, store: PlanStore) -> list[PlanUpdate]:
        """Changes since the call before."""
        updates = self._changes(store)
        if self._again:
            self._again = False
            whole = as_points(gapless(store.after(0)), self._author) if len(store) else None
            updates.append(PlanUpdate(UpdateKind.RESET, self._trial, whole))
            self._shown_seq = whole.last_seq if whole is not None else 0
            updates += self._changes(store)
        return updates

    def _changes(self, store: PlanStore) -> list[PlanUpdate]:
        updates, self._updates = self._updates, []
        while store.last_seq > self._shown_seq:
            points = as_points(gapless(store.after(self._shown_seq)), self._author)
            updates.append(PlanUpdate(UpdateKind.APPEND, self._trial, points))
            self._shown_seq = points.last_seq
        return updates
