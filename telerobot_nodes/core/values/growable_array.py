"""A growing array: rows are appended at the tail and dropped at both ends, without moving those that stay."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


class GrowableArray:
    """Rows of one shape and type; `view` is contiguous. Memory follows the rows held, not those ever added."""

    def __init__(self, width: tuple[int, ...] = (), dtype: npt.DTypeLike = np.float64, capacity: int = 256) -> None:
        """`width`: shape of a row; `capacity`: rows allocated at first."""
        self._data: npt.NDArray[Any] = np.empty((capacity, *width), dtype=dtype)
        self._first = 0
        self._last = 0

    def __len__(self) -> int:
        return self._last - self._first

    @property
    def view(self) -> npt.NDArray[Any]:
        """Rows held, first to last; writable, valid until the next `extend`."""
        return self._data[self._first : self._last]

    def extend(self, count: int) -> npt.NDArray[Any]:
        """Append `count` rows and return them, to be written."""
        if self._last + count > len(self._data):
            self._make_room(count)
        self._last += count
        return self._data[self._last - count : self._last]

    def cut(self, length: int) -> None:
        """Keep the first `length` rows."""
        self._last = self._first + min(length, len(self))

    def drop(self, count: int) -> None:
        """Drop the first `count` rows."""
        self._first += min(count, len(self))
        if len(self) == 0:
            self.clear()

    def clear(self) -> None:
        """Drop every row."""
        self._first = self._last = 0

    def _make_room(self, count: int) -> None:
        held = len(self)
        data = np.empty((max(2 * (held + count), 256), *self._data.shape[1:]), dtype=self._data.dtype)
        data[:held] = self.view
        self._data, self._first, self._last = data, 0, held
