"""Latest-value mailbox for fixed-size records between one writer and one reader, over any memory they share.

The algorithm is a sequence lock over a ring of slots [Lamport1977], [Boehm2012]: the writer fills the next slot, then
stores its count; the reader copies the slot of the count and reads again if the writer has since come round to that
slot. Neither waits. (Earlier name: Exchange.)

Memory order: the writer's stores must become visible in program order, and the reader's loads must happen in program
order. x86-64 guarantees both (total store order). Other CPUs, such as Arm, need barriers between two processes; between
two threads of one CPython process the interpreter lock provides them.

What belongs here: copying bytes so that a reader never gets half a record. What must never enter: locks, waiting, the
meaning of the records (`control_records.py`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

_SLOTS = 4  # a read is repeated when the writer makes _SLOTS - 1 records during it
_HEADER = 64  # bytes; keeps the count on a cache line of its own

Record = npt.NDArray[Any]  # 0-d structured array


class Mailbox:
    """The latest record of `dtype`; older ones are overwritten.

    `buffer` (default: own memory) must hold `size(dtype)` bytes and be zero before the first use.
    """

    def __init__(self, dtype: np.dtype[Any], buffer: memoryview | bytearray | None = None) -> None:
        self.dtype = dtype
        memory = bytearray(self.size(dtype)) if buffer is None else buffer
        self._count = np.frombuffer(memory, dtype=np.int64, count=1)
        slots = np.frombuffer(memory, dtype=dtype, count=_SLOTS, offset=_HEADER)
        self._slot = [slots[i : i + 1].reshape(()) for i in range(_SLOTS)]

    @staticmethod
    def size(dtype: np.dtype[Any]) -> int:
        """Bytes of memory that a mailbox of `dtype` needs."""
        return _HEADER + _SLOTS * dtype.itemsize

    @property
    def count(self) -> int:
        """Records written since the start; 0: none yet."""
        return int(self._count[0])

    def write(self, record: Record) -> None:
        """Publish a copy of `record`. Only one writer may call it."""
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
