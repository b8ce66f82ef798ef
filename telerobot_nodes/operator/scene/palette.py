"""Colours of the console, in one place: red, green, blue 0 .. 255."""

from __future__ import annotations

from telerobot_nodes.operator.client import Tone
from telerobot_nodes.operator.view import Light

Rgb = tuple[int, int, int]

# Near the colours of [Okabe and Ito, Color Universal Design, 2008]; moved until those drawn together are at least 20
# apart (CIE76) for every colour vision, also without blue cones.
_ORANGE: Rgb = (236, 138, 0)
_SKY: Rgb = (81, 190, 248)
_GREEN: Rgb = (16, 156, 104)
_YELLOW: Rgb = (242, 230, 64)
_BLUE: Rgb = (0, 99, 169)
_VERMILLION: Rgb = (200, 80, 0)
_PURPLE: Rgb = (205, 107, 169)

ACTUAL: Rgb = (208, 213, 221)
ESTIMATE = _SKY
PREDICTED = _ORANGE
TRIAL = _PURPLE
STALE = _VERMILLION
FORCE = _VERMILLION
MOTION: Rgb = (150, 25, 250)
TARGET: Rgb = (255, 255, 255)
PASSED = _GREEN

OTHER = _ORANGE
CONFLICT = _VERMILLION
OBSTACLE: Rgb = (181, 140, 90)
EXECUTED: Rgb = (90, 96, 106)
COMMITTED: Rgb = (255, 255, 255)
TIMINGS: tuple[tuple[str, Rgb], ...] = (  # by the values of PlanPoints.TIMING_*
    ("synced with the hand", _GREEN),
    ("scaled time", _BLUE),
    ("free of time", _YELLOW),
    ("link", _SKY),
)
UNKNOWN_TIMING: Rgb = (255, 255, 255)

TONES: dict[Tone, str] = {  # text on the dark panel
    Tone.GOOD: "#5ddba0",
    Tone.PLAIN: "#e6e9ef",
    Tone.QUIET: "#8b93a1",
    Tone.WARN: "#ffc46b",
    Tone.BAD: "#ff7b7b",
}
WORDS: dict[str, str] = {  # of a line among commands and menus, by what it means
    "good": TONES[Tone.GOOD],
    "bad": TONES[Tone.BAD],
    "asked": TONES[Tone.WARN],
    "hint": TONES[Tone.QUIET],
    "": TONES[Tone.PLAIN],
}
BANNERS: dict[Tone, str] = {  # background of the banner, white text
    Tone.GOOD: "#1c7c4e",
    Tone.PLAIN: "#35506e",
    Tone.QUIET: "#3a404b",
    Tone.WARN: "#9a6200",
    Tone.BAD: "#b32626",
}
LIGHTS: dict[Light, str] = {  # the recording light on the dark bar
    Light.ON: "#ff5c5c",
    Light.OFF: TONES[Tone.PLAIN],
    Light.FAILED: TONES[Tone.WARN],
    Light.UNKNOWN: TONES[Tone.QUIET],
}


def css(colour: Rgb) -> str:
    """The colour as CSS text."""
    return f"#{colour[0]:02x}{colour[1]:02x}{colour[2]:02x}"
