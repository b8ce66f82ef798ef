"""A recorded delay: what a link did at each time, played again and again [US5231693].

What belongs here: the file, and the delay at a time since the start. What must never enter: clocks, chance.
"""

from __future__ import annotations

import csv
import math
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from telerobot_nodes.core.values import in_range
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.link.delay_line import MAX_DELAY, LinkSettings

TIME = "t[s]"
HEADERS = ((TIME, "delay[s]"), (TIME, "up[s]", "down[s]"))
LOST = "lost"  # in place of a delay: nothing passes
MOST_SAMPLES = 200_000
MOST_BYTES = 32 * 1024 * 1024


@dataclass(frozen=True)
class DelayProfile:
    """One-way delays over time; made by `load_profile`."""

    time: tuple[float, ...]  # [s] increasing, from 0
    up: tuple[float, ...]  # [s] from operator to robot; inf: nothing passes
    down: tuple[float, ...]  # [s] from robot to operator
    _finite: tuple[float, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_finite", tuple(filter(math.isfinite, (*self.up, *self.down))))

    @property
    def mean(self) -> float:
        """Mean of all delays [s]."""
        return math.fsum(self._finite) / len(self._finite)

    @property
    def deviation(self) -> float:
        """Their standard deviation [s]."""
        mean = self.mean
        return math.sqrt(math.fsum((delay - mean) ** 2 for delay in self._finite) / len(self._finite))

    def delay(self, elapsed: float, upward: bool) -> float:
        """Delay [s] of a message sent `elapsed` [s] after the start; inf: it is lost. After its end it begins again."""
        delays = self.up if upward else self.down
        at = elapsed % self.time[-1]
        after = min(bisect_right(self.time, at), len(self.time) - 1)
        share = (at - self.time[after - 1]) / (self.time[after] - self.time[after - 1])
        first, second = delays[after - 1], delays[after]
        if math.isinf(first) or math.isinf(second):
            return math.inf
        return first + share * (second - first)

    def settings(self, settings: LinkSettings) -> LinkSettings:
        """`settings` with the mean delay and its deviation, for those who read one number."""
        values = {name: getattr(settings, name) for name in LinkSettings.__dataclass_fields__}
        return LinkSettings(**{**values, "delay": self.mean, "jitter": min(self.deviation, self.mean)})


def load_profile(file: Path) -> DelayProfile:
    """The profile in a CSV file `t[s],delay[s]` or `t[s],up[s],down[s]`; a delay may be `lost`.

    Raises InvalidValueError naming file, line and column.
    """
    try:
        size = file.stat().st_size
        if size > MOST_BYTES:
            raise InvalidValueError(f"{file}: size", size, f"allowed: {MOST_BYTES} bytes or fewer")
        with file.open(newline="", encoding="utf-8") as stream:
            return _profile(csv.reader(stream), str(file))
    except OSError as error:
        raise InvalidValueError("profile", str(file), f"allowed: a CSV file; {error.strerror or error}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise InvalidValueError(f"{file}", str(error), "allowed: CSV text in UTF-8") from None


def _profile(lines: Iterable[list[str]], source: str) -> DelayProfile:
    rows = iter(enumerate(lines, start=1))
    _, found = next(rows, (1, []))
    header = tuple(name.strip() for name in found)
    if header not in HEADERS:
        allowed = " or ".join(",".join(names) for names in HEADERS)
        raise InvalidValueError(f"{source}:1: columns", ",".join(found), f"allowed: {allowed}")
    samples: list[list[float]] = []
    for line, row in rows:
        if not row:
            continue
        if len(samples) >= MOST_SAMPLES:
            raise InvalidValueError(f"{source}:{line}: samples", len(samples) + 1, f"allowed: {MOST_SAMPLES} or fewer")
        samples.append(_row(row, header, f"{source}:{line}"))
        if len(samples) > 1 and samples[-1][0] <= samples[-2][0]:
            raise InvalidValueError(f"{source}:{line}: {TIME}", row[0], f"allowed: after {samples[-2][0]:g} [s]")
    if len(samples) < 2:
        raise InvalidValueError(f"{source}: samples", len(samples), "allowed: 2 or more")
    columns = list(zip(*samples, strict=True))
    if not any(map(math.isfinite, (*columns[1], *columns[-1]))):
        raise InvalidValueError(f"{source}: delays", LOST, "allowed: at least one that is not lost")
    return DelayProfile(tuple(time - columns[0][0] for time in columns[0]), columns[1], columns[-1])


def _row(row: list[str], header: tuple[str, ...], where: str) -> list[float]:
    if len(row) != len(header):
        raise InvalidValueError(f"{where}: columns", len(row), f"allowed: {len(header)}")
    return [_number(name, text.strip(), f"{where}: {name}") for name, text in zip(header, row, strict=True)]


def _number(name: str, text: str, where: str) -> float:
    if name != TIME and text == LOST:
        return math.inf
    try:
        value = float(text)
    except ValueError:
        raise InvalidValueError(where, text, "allowed: a number" + f" or {LOST}" * (name != TIME)) from None
    if name == TIME:
        return float(in_range(value, where, -math.inf, math.inf, "s"))
    return float(in_range(value, where, 0.0, MAX_DELAY, "s"))
