"""Timing of periodic loops: absolute deadlines without drift, and statistics in fixed memory."""

from __future__ import annotations

import ctypes
import ctypes.util
import errno
import math
import os
import time
from dataclasses import dataclass

from telerobot_nodes.core.values import finite
from telerobot_nodes.errors import InvalidValueError

_CLOCK_MONOTONIC = 1
_TIMER_ABSTIME = 1


class _Timespec(ctypes.Structure):
    _fields_ = (("tv_sec", ctypes.c_long), ("tv_nsec", ctypes.c_long))


def _clock_nanosleep() -> ctypes._NamedFuncPointer:
    function = ctypes.CDLL(ctypes.util.find_library("c") or "libc.so.6").clock_nanosleep
    function.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.POINTER(_Timespec), ctypes.POINTER(_Timespec))
    function.restype = ctypes.c_int
    return function


class AbsoluteTimer:
    """Wakes at `start + k * period` on CLOCK_MONOTONIC; missed periods are skipped and counted.

    Sleeping releases the interpreter lock. `start` [s] is the first deadline minus one period (default: now).
    """

    def __init__(self, period: float, start: float | None = None) -> None:
        if not finite(period, "period") > 0.0:
            raise InvalidValueError("period", period, "allowed: above 0 [s]")
        self.period = float(period)
        self.missed = 0
        self._period_ns = round(period * 1e9)
        self._deadline_ns = time.monotonic_ns() if start is None else round(start * 1e9)
        self._until = _Timespec()
        self._until_pointer = ctypes.byref(self._until)
        self._sleep = _clock_nanosleep()

    @property
    def deadline(self) -> float:
        """The latest deadline waited for [s], monotonic."""
        return self._deadline_ns * 1e-9

    def wait(self) -> float:
        """Sleep to the next deadline; the lateness of the wake-up [s], 0 or more."""
        self._deadline_ns += self._period_ns
        behind = time.monotonic_ns() - self._deadline_ns
        if behind >= self._period_ns:
            skipped = behind // self._period_ns
            self.missed += skipped
            self._deadline_ns += skipped * self._period_ns
        self._sleep_until(self._deadline_ns)
        return max(time.monotonic_ns() - self._deadline_ns, 0) * 1e-9

    def _sleep_until(self, deadline_ns: int) -> None:
        self._until.tv_sec, self._until.tv_nsec = divmod(deadline_ns, 1_000_000_000)
        while True:
            code = self._sleep(_CLOCK_MONOTONIC, _TIMER_ABSTIME, self._until_pointer, None)
            if code == 0:
                return
            if code != errno.EINTR:
                raise OSError(code, os.strerror(code))


_LOWEST = 1e-7  # [s] lower edge of the first bin
_PER_DECADE = 40
_BINS = 8 * _PER_DECADE  # up to 10 s


class Histogram:
    """Durations in logarithmic bins 6 % wide from 0.1 us to 10 s.

    `memory` (default: own), `SIZE` bytes and zero before the first use, may be shared with another process that reads.
    """

    SIZE = 8 * (_BINS + 2)  # bytes

    def __init__(self, memory: memoryview | None = None) -> None:
        memory = memoryview(bytearray(self.SIZE)) if memory is None else memory[: self.SIZE]
        self._counts = memory[: 8 * _BINS].cast("Q")
        self._total = memory[8 * _BINS : 8 * _BINS + 8].cast("Q")
        self._maximum = memory[8 * _BINS + 8 : self.SIZE].cast("d")

    @property
    def count(self) -> int:
        """Durations counted."""
        return self._total[0]

    @property
    def maximum(self) -> float:
        """The longest [s]."""
        return self._maximum[0]

    def add(self, duration: float) -> None:
        """Count one duration [s]; below 0.1 us counts as 0.1 us, above 10 s in the last bin."""
        index = int(math.log10(duration / _LOWEST) * _PER_DECADE) if duration > _LOWEST else 0
        self._counts[min(index, _BINS - 1)] += 1
        self._total[0] += 1
        self._maximum[0] = max(self._maximum[0], duration)

    def quantile(self, fraction: float) -> float:
        """Upper edge of the bin that holds this fraction [s], never above the maximum; 0 when empty."""
        need = fraction * self.count
        seen = 0
        for index, count in enumerate(self._counts):
            seen += count
            if count and seen >= need:
                return min(_LOWEST * 10.0 ** ((index + 1) / _PER_DECADE), self.maximum)
        return 0.0

    def copy(self) -> Histogram:
        """The same counts, in memory of their own."""
        other = Histogram()
        other._counts[:], other._total[0], other._maximum[0] = self._counts, self.count, self.maximum
        return other

    def since(self, earlier: Histogram) -> Histogram:
        """The durations counted since `earlier`, a copy of this histogram; the maximum is the upper edge of its bin."""
        other = Histogram()
        for index in range(_BINS):
            other._counts[index] = self._counts[index] - earlier._counts[index]
            if other._counts[index]:
                other._maximum[0] = min(_LOWEST * 10.0 ** ((index + 1) / _PER_DECADE), self.maximum)
        other._total[0] = self.count - earlier.count
        return other

    def clear(self) -> None:
        """Clear all counts."""
        for index in range(_BINS):
            self._counts[index] = 0
        self._total[0] = 0
        self._maximum[0] = 0.0


@dataclass(frozen=True)
class TimingSummary:
    """Quantiles of a loop since its statistics were cleared [s]."""

    steps: int
    missed: int
    period_p50: float
    period_p99: float
    period_p999: float
    period_max: float
    late_p50: float
    late_p99: float
    late_p999: float
    late_max: float


class PeriodStatistics:
    """Period and lateness of a loop of nominal `period` [s]; `add` is called once per step."""

    SIZE = 2 * Histogram.SIZE + 8  # bytes of `memory`, as of a Histogram

    def __init__(self, period: float, memory: memoryview | None = None) -> None:
        memory = memoryview(bytearray(self.SIZE)) if memory is None else memory[: self.SIZE]
        self.period = float(period)
        self.periods = Histogram(memory[: Histogram.SIZE])
        self.lateness = Histogram(memory[Histogram.SIZE : 2 * Histogram.SIZE])
        self._missed = memory[2 * Histogram.SIZE :].cast("Q")
        self._last = math.nan

    @property
    def missed(self) -> int:
        """Periods in which there was no step."""
        return self._missed[0]

    def add(self, now: float, late: float) -> None:
        """Count a step that woke at `now` [s, monotonic], `late` [s] after its deadline."""
        gap = now - self._last
        self._last = now
        self.lateness.add(late)
        if not math.isnan(gap):  # on the first step only
            self.periods.add(gap)
            if gap >= 1.5 * self.period + max(late, 0.0):
                self._missed[0] += int((gap - late) / self.period + 0.5) - 1

    def clear(self) -> None:
        """Start counting again."""
        self.periods.clear()
        self.lateness.clear()
        self._missed[0] = 0
        self._last = math.nan

    def summary(self) -> TimingSummary:
        """The quantiles so far."""
        p, late = self.periods, self.lateness
        return TimingSummary(
            steps=late.count,
            missed=self.missed,
            period_p50=p.quantile(0.5),
            period_p99=p.quantile(0.99),
            period_p999=p.quantile(0.999),
            period_max=p.maximum,
            late_p50=late.quantile(0.5),
            late_p99=late.quantile(0.99),
            late_p999=late.quantile(0.999),
            late_max=late.maximum,
        )
