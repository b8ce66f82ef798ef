"""Something that the robot was asked to do, as an object to wait for: from any thread, or with `await`."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from concurrent.futures import Future
from threading import Condition
from time import monotonic
from typing import Any, Generic, TypeVar

Report = TypeVar("Report")
End = TypeVar("End")

LONGEST_WAIT = 3600.0  # [s] unless the caller gives less
MOST_REPORTS = 256  # kept for a reader that is slow


class Ongoing(Generic[Report, End]):
    """Reports while it goes on, then exactly one end. No wait is longer than its limit [s]."""

    def __init__(self, changed: Condition, unfinished: End, limit: float = LONGEST_WAIT) -> None:
        """`unfinished`: returned by a wait that reaches its limit."""
        self._changed, self._unfinished, self._limit = changed, unfinished, limit
        self._reports: deque[Report] = deque(maxlen=MOST_REPORTS)
        self._count = 0  # reports received
        self._end: Future[End] = Future()

    @property
    def ended(self) -> bool:
        """True after the end."""
        return self._end.done()

    @property
    def report(self) -> Report | None:
        """The latest report."""
        with self._changed:
            return self._reports[-1] if self._reports else None

    def wait(self, limit: float | None = None) -> End:
        """The end; after `limit` [s] that it has not ended. It goes on then."""
        with self._changed:
            self._changed.wait_for(self._end.done, self._limit if limit is None else limit)
            return self._end.result() if self._end.done() else self._unfinished

    def then(self, callback: Callable[[End], None]) -> None:
        """Call `callback` with the end, on the thread that ends it, or here if it has ended; it must not wait."""
        self._end.add_done_callback(lambda done: callback(done.result()))

    def __iter__(self) -> Iterator[Report]:
        """Reports until the end, at most for the limit."""
        until, seen = monotonic() + self._limit, 0
        while (found := self._next(seen, until)) is not None:
            seen, report = found
            yield report

    async def __aiter__(self) -> AsyncIterator[Report]:
        until, seen = monotonic() + self._limit, 0
        while (found := await asyncio.to_thread(self._next, seen, until)) is not None:
            seen, report = found
            yield report

    def __await__(self) -> Generator[Any, None, End]:
        return self._awaited().__await__()

    async def _awaited(self) -> End:
        ended = asyncio.shield(asyncio.wrap_future(self._end))  # who stops awaiting does not stop the robot
        try:
            return await asyncio.wait_for(ended, self._limit)
        except asyncio.TimeoutError:
            return self._unfinished

    def _next(self, seen: int, until: float) -> tuple[int, Report] | None:
        """The first report kept after number `seen`, with its number; None: the end, or the time `until` [s]."""
        with self._changed:
            self._changed.wait_for(lambda: self._count > seen or self._end.done(), max(until - monotonic(), 0.0))
            if self._count <= seen:
                return None
            number = max(seen, self._count - len(self._reports))
            return number + 1, self._reports[number - self._count + len(self._reports)]

    # the graph's side, under the condition ---------------------------------------------------------------------

    def tell(self, report: Report) -> None:
        """Add a report."""
        with self._changed:
            self._reports.append(report)
            self._count += 1
            self._changed.notify_all()

    def finish(self, end: End) -> None:
        """End it; a second end is ignored."""
        with self._changed:
            if not self._end.done():
                self._end.set_result(end)
                self._changed.notify_all()
