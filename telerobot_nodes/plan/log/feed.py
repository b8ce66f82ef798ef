"""Updates of the plan for displays and simulators on the operator's host (`PlanUpdate.msg`)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from telerobot_nodes.core.protocol import UpdateKind
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.plan.log.points import PlanPoints
from telerobot_nodes.plan.log.store import PlanStore, as_points, gapless


@dataclass(frozen=True)
class PlanUpdate:
    """One change of the plan or of the trial path."""

    kind: UpdateKind
    trial: bool
    points: PlanPoints | None = None  # APPEND; RESET: the whole path, None if empty
    after_seq: int = 0  # TRUNCATE
    tip: FloatArray | None = None  # TIP: (7,) tool in WORLD, ahead of the last point; None: it is at the last point


class PlanFeed:
    """Follows one store; `drain` returns the changes since the last call, in order."""

    def __init__(self, author: str, trial: bool = False) -> None:
        self._author = author
        self._trial = trial
        self._published_seq = 0
        self._again = False
        self._updates: list[PlanUpdate] = []

    @property
    def published_seq(self) -> int:
        """Last point published."""
        return self._published_seq

    def truncate(self, after_seq: int) -> None:
        """Publish that the points above `after_seq` were deleted."""
        if after_seq < self._published_seq:
            self._updates.append(PlanUpdate(UpdateKind.TRUNCATE, self._trial, after_seq=after_seq))
            self._published_seq = after_seq

    def reset(self) -> None:
        """Publish that the path starts anew with what the store holds at the next drain."""
        self._updates = [PlanUpdate(UpdateKind.RESET, self._trial)]
        self._published_seq = 0

    def republish(self) -> None:
        """End the next drain with the whole path, for a new subscriber; others find no change in it."""
        self._again = True

    def drain(self, store: PlanStore) -> list[PlanUpdate]:
        """Changes since the last call."""
        updates = self._changes(store)
        if self._again:
            self._again = False
            whole = as_points(gapless(store.after(0)), self._author) if len(store) else None
            updates.append(PlanUpdate(UpdateKind.RESET, self._trial, whole))
            self._published_seq = whole.last_seq if whole is not None else 0
            updates += self._changes(store)
        return updates

    def _changes(self, store: PlanStore) -> list[PlanUpdate]:
        updates, self._updates = self._updates, []
        while store.last_seq > self._published_seq:
            points = as_points(gapless(store.after(self._published_seq)), self._author)
            updates.append(PlanUpdate(UpdateKind.APPEND, self._trial, points))
            self._published_seq = points.last_seq
        return updates
