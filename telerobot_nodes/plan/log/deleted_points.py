"""Points deleted on the operator's side until the robot confirms: it may have been committed to some of them."""

from __future__ import annotations

from dataclasses import dataclass

from telerobot_nodes.plan.log.store import PlanStore, PointBlock

MAX_REMEMBERED = 8192  # points of one deletion; the robot keeps only its committed stretch


@dataclass(frozen=True)
class _Deletion:
    number: int  # operation that deletes the points
    after_seq: int  # point that they followed
    points: PointBlock

    def index(self, seq: int) -> int:
        """Index of a point in the deletion; -1 if absent."""
        n = int(self.points.seq.searchsorted(seq))
        return n if n < len(self.points) and int(self.points.seq[n]) == seq else -1


class DeletedPoints:
    """Deletions in the order of their operations."""

    def __init__(self) -> None:
        self._deletions: list[_Deletion] = []

    def __len__(self) -> int:
        return len(self._deletions)

    def remember(self, number: int, store: PlanStore, after_seq: int) -> None:
        """Copy the points above `after_seq` that operation `number` deletes."""
        points = store.copy_after(after_seq, MAX_REMEMBERED)
        if len(points):
            self._deletions.append(_Deletion(number, after_seq, points))

    def holds(self, seq: int, applied_number: int) -> bool:
        """True when an applied operation should have deleted point `seq`."""
        return any(entry.index(seq) >= 0 for entry in self._deletions if entry.number <= applied_number)

    def confirm(self, applied_number: int) -> None:
        """Forget the deletions up to `applied_number`."""
        self._deletions = [entry for entry in self._deletions if entry.number > applied_number]

    def clear(self) -> None:
        """Forget every deletion."""
        self._deletions.clear()

    def restore(self, store: PlanStore, tail_seq: int) -> int | None:
        """Make `tail_seq` the newest point of the store: truncate, or append deleted points again.

        Returns the newest point that stayed in place, None (store unchanged) when `tail_seq` is unknown.
        """
        if store.contains(tail_seq):
            store.truncate(tail_seq)
            return tail_seq
        for entry in self._deletions:
            n = entry.index(tail_seq)
            kept = self.restore(store, entry.after_seq) if n >= 0 else None
            if kept is not None:
                store.extend(entry.points.first(n + 1))
                return kept
        return None
