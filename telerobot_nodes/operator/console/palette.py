"""Colours of the console, in one place: red, green, blue 0 .. 255."""

from __future__ import annotations

from telerobot_nodes.operator.client import Tone

Rgb = tuple[int, int, int]

ACTUAL: Rgb = (208, 213, 221)
ESTIMATE: Rgb = (72, 187, 255)
PREDICTED: Rgb = (255, 170, 51)
TRIAL: Rgb = (196, 130, 255)
STALE: Rgb = (255, 92, 92)
FORCE: Rgb = (255, 92, 92)
TARGET: Rgb = (255, 255, 255)

OTHER: Rgb = (255, 236, 120)
CONFLICT: Rgb = (255, 48, 32)
OBSTACLE: Rgb = (191, 140, 89)
EXECUTED: Rgb = (130, 140, 155)
COMMITTED: Rgb = (255, 255, 255)
TIMINGS: tuple[tuple[str, Rgb], ...] = (  # by the values of PlanPoints.TIMING_*
    ("synced with the hand", (64, 214, 130)),
    ("scaled time", (72, 160, 255)),
    ("free of time", (255, 160, 40)),
    ("link", (240, 90, 190)),
)
UNKNOWN_TIMING: Rgb = (255, 255, 255)

TONES: dict[Tone, str] = {  # text on the dark panel
    Tone.GOOD: "#5ddba0",
    Tone.PLAIN: "#e6e9ef",
    Tone.QUIET: "#8b93a1",
    Tone.WARN: "#ffc46b",
    Tone.BAD: "#ff7b7b",
}
BANNERS: dict[Tone, str] = {  # background of the banner, white text
    Tone.GOOD: "#1c7c4e",
    Tone.PLAIN: "#35506e",
    Tone.QUIET: "#3a404b",
    Tone.WARN: "#9a6200",
    Tone.BAD: "#b32626",
}


def css(colour: Rgb) -> str:
    """The colour as CSS text."""
    return f"#{colour[0]:02x}{colour[1]:02x}{colour[2]:02x}"
