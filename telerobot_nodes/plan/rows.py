"""A growing array whose front is dropped and whose tail is cut, without moving what stays."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


class Rows:
    """Rows of one shape and type; `view` is contiguous. Memory follows what is held, not what was ever added."""

    def __init__(self, width: tuple[int, ...] = (), dtype: npt.DTypeLike = np.float64, capacity: int = 256) -> None:
        self._data: npt.NDArray[Any] = np.empty((capacity, *width), dtype=dtype)
        self._first = 0
        self._last = 0

    def __len__(self) -> int:
        return self._last - self._first

    @property
    def view(self) -> npt.NDArray[Any]:
        """The rows held, first to last; writable, valid until the next `extend`."""
        return self._data[self._first : self._last]

    def extend(self, count: int) -> npt.NDArray[Any]:
        """Add `count` rows and return them to be written."""
        if self._last + count > len(self._data):
            self._make_room(count)
        self._last += count
        return self._data[self._last - count : self._last]

    def cut(self, length: int) -> None:
        """Keep the first `length` rows."""
        self._last = self._first + min(length, len(self))

    def drop(self, count: int) -> None:
        """Forget the first `count` rows."""
        self._first += min(count, len(self))
        if len(self) == 0:
            self._first = self._last = 0

    def clear(self) -> None:
        """Forget every row."""
        self._first = self._last = 0

    def _make_room(self, count: int) -> None:
        held = len(self)
        needed = held + count
        data = np.empty((max(2 * needed, 256), *self._data.shape[1:]), dtype=self._data.dtype)
        data[:held] = self.view
        self._data, self._first, self._last = data, 0, held
