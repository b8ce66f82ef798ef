"""Single-slot exchange of fixed-size records between one writer and one reader, over any memory they share.

What belongs here: copying bytes so that a reader never sees half a record. What must never enter: locks, waiting,
what the records mean (`control_records.py`). Works between threads, and between processes over shared memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

_SLOTS = 4  # a reader must be slower than this many writes, less one, to be overtaken; then it reads again
_HEADER = 64  # bytes; keeps the count on a cache line of its own

Record = npt.NDArray[Any]  # 0-d structured array


class Exchange:
    """The latest record of `dtype`; older ones are forgotten.

    `buffer` (default: own memory) must hold `size(dtype)` bytes and be zero before the first use.
    """

    def __init__(self, dtype: np.dtype[Any], buffer: memoryview | bytearray | None = None) -> None:
        self.dtype = dtype
        memory = bytearray(self.size(dtype)) if buffer is None else buffer
        self._count = np.frombuffer(memory, dtype=np.int64, count=1)
        self._slots = np.frombuffer(memory, dtype=dtype, count=_SLOTS, offset=_HEADER)
        self._slot = [self._slots[i : i + 1].reshape(()) for i in range(_SLOTS)]

    @staticmethod
    def size(dtype: np.dtype[Any]) -> int:
        """Bytes of memory an exchange of `dtype` needs."""
        return _HEADER + _SLOTS * dtype.itemsize

    @property
    def count(self) -> int:
        """Records written since the start; 0: none yet."""
        return int(self._count[0])

    def write(self, record: Record) -> None:
        """Publish a copy of `record`; by one writer only."""
        count = int(self._count[0]) + 1
        self._slot[count % _SLOTS][...] = record
        self._count[0] = count

    def read(self, into: Record) -> int:
        """Copy the latest record `into`; returns its count, 0 when there is none yet (`into` is unchanged)."""
        while True:
            count = int(self._count[0])
            if count == 0:
                return 0
            into[...] = self._slot[count % _SLOTS]
            if int(self._count[0]) - count < _SLOTS - 1:  # the slot was not being written again
                return count
