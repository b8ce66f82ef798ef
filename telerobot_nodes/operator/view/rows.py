"""One line of what a person sees, and values as texts.

A source without a message for longer than its bound here is shown as stale.
"""

from __future__ import annotations

from dataclasses import dataclass

from telerobot_nodes.operator.client import Tone

STALE_AFTER = 0.5  # [s] without a message
STALE_LINK_AFTER = 2.0  # [s] the links publish two to five times a second
STALE_SLOW_AFTER = 2.5  # [s] recorder and operator's input publish once a second


@dataclass(frozen=True)
class Row:
    """One line of the status block."""

    label: str
    text: str
    tone: Tone = Tone.PLAIN


def fresh(received: float | None, now: float, bound: float) -> bool:
    """True when `received` is at most `bound` [s] ago."""
    return received is not None and now - received <= bound


def seconds(value: float) -> str:
    """A duration [s] as text."""
    if value < 0.0:
        return "not known"
    if value < 10.0:
        return f"{value:.1f} s"
    return f"{value:.0f} s" if value < 120.0 else f"{value / 60.0:.0f} min"


def size(value: float) -> str:
    """A number of bytes as text."""
    for unit, bytes_each in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if value >= bytes_each:
            return f"{value / bytes_each:.1f} {unit}"
    return f"{value:.0f} B"
