"""Points deleted on the operator's side until the robot confirms: it may have been committed to some of them."""

from __future__ import annotations

from dataclasses import dataclass

from telerobot_nodes.plan.log.store import PlanStore, PointBlock

MAX_REMEMBERED = 8192  # points of one deletion; the robot keeps only its committed stretch


@dataclass(slots=True)
class _Deletion:
    number: int  # operation that deletes the points
    after_seq: int  # point that they followed
    rows: slice  # of the store, until they are written over
    points: PointBlock | None = None  # then


class DeletedPoints:
    """Truncates a store and remembers the deletions, in the order of their operations.

    The points stay where they are in the store; they are copied only when it is about to write over them, so that a
    brake copies nothing.
    """

    def __init__(self, store: PlanStore) -> None:
        self._store = store
        self._deletions: list[_Deletion] = []
        store.before_overwriting = self._copy

    def __len__(self) -> int:
        return len(self._deletions)

    def delete(self, number: int, after_seq: int) -> int:
        """Delete the points above `after_seq`, as operation `number` does at the robot; returns how many."""
        dropped = self._store.truncate(after_seq)
        if dropped:
            rows = self._store.truncated_rows(min(dropped, MAX_REMEMBERED))
            self._deletions.append(_Deletion(number, after_seq, rows))
        return dropped

    def holds(self, seq: int, applied_number: int) -> bool:
        """True when an applied operation should have deleted point `seq`."""
        return any(self._index(entry, seq) >= 0 for entry in self._deletions if entry.number <= applied_number)

    def confirm(self, applied_number: int) -> None:
        """Forget the deletions up to `applied_number`."""
        self._deletions = [entry for entry in self._deletions if entry.number > applied_number]

    def clear(self) -> None:
        """Forget every deletion."""
        self._deletions.clear()

    def restore(self, tail_seq: int) -> int | None:
        """Make `tail_seq` the newest point of the store: truncate, or append deleted points again.

        Returns the newest point that stayed in place, None (store unchanged) when `tail_seq` is unknown.
        """
        if self._store.contains(tail_seq):
            self._store.truncate(tail_seq)
            return tail_seq
        for entry in self._deletions:
            n = self._index(entry, tail_seq)
            kept = self.restore(entry.after_seq) if n >= 0 else None
            if kept is not None:
                self._store.extend(self._points(entry).first(n + 1).copy())
                return kept
        return None

    def _points(self, entry: _Deletion) -> PointBlock:
        return self._store.rows(entry.rows) if entry.points is None else entry.points

    def _index(self, entry: _Deletion, seq: int) -> int:
        """Index of a point in a deletion; -1 if absent."""
        known = self._points(entry).seq
        n = int(known.searchsorted(seq))
        return n if n < known.size and int(known[n]) == seq else -1

    def _copy(self) -> None:
        for entry in self._deletions:
            if entry.points is None:
                entry.points = self._store.rows(entry.rows).copy()
