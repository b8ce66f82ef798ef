"""Picture of the law's frames [GCMSF]: the ring of transforms in a plane, and the signs of forces and motion."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.plotting.figure import BLUE, DARK_GREY, GREEN, GREY, ORANGE, PURPLE, VERMILION, picture

LENGTH = 0.07  # [m] of a frame's axes
# frames in the plane of the picture: x, y [m], angle [degrees]; where their names stand beside them [points]
FRAMES: dict[str, tuple[tuple[float, float, float], tuple[float, float]]] = {
    "WORLD": ((0.0, 0.0, 0.0), (-6, -14)),
    "BASE": ((0.2, 0.16, 0.0), (-40, 4)),
    "TN": ((0.5, 0.62, -20.0), (-22, 6)),
    "NOM": ((0.76, 0.6, -20.0), (4, 16)),
    "nominal place of NOM": ((1.0, 0.4, -45.0), (18, 10)),
    "NOM at the end": ((1.04, 0.06, -75.0), (24, -4)),
    "TN at the end": ((0.76, -0.02, -75.0), (-100, -18)),
}
LINKS = (  # from, to, name, colour, where the name stands beside the middle [points]
    ("WORLD", "BASE", "trBase", DARK_GREY, (8, -12)),
    ("BASE", "TN", "trTn: solved for", VERMILION, (-92, 2)),
    ("TN", "NOM", "trNom", DARK_GREY, (-16, 6)),
    ("NOM", "nominal place of NOM", "trDel: what sensors added", BLUE, (8, 6)),
    ("nominal place of NOM", "NOM at the end", "trDrive: what is left of the way", GREEN, (8, -2)),
    ("TN at the end", "NOM at the end", "trNom", DARK_GREY, (-12, -16)),
    ("WORLD", "TN at the end", "trTnDest", DARK_GREY, (-20, -14)),
)


def draw_ring(file: Path) -> None:
    """Write the ring, and the signs of a tool that presses on a surface."""
    with picture(file, (12.0, 4.6)) as figure:
        ring, signs = figure.subplots(1, 2, width_ratios=(1.7, 1.0))
        _draw_ring(ring)
        _draw_signs(signs)
        for axes in (ring, signs):
            axes.set_aspect("equal")
            axes.axis("off")


def _draw_ring(axes: Any) -> None:
    place = {name: _matrix(frame)[:2, 2] for name, (frame, _) in FRAMES.items()}
    for begin, end, text, colour, from_middle in LINKS:
        _arrow(axes, place[begin], place[end], colour)
        middle = 0.5 * (place[begin] + place[end])
        axes.annotate(text, middle, from_middle, textcoords="offset points", color=colour)
    for name, (frame, beside) in FRAMES.items():
        _frame(axes, _matrix(frame))
        axes.annotate(name, place[name], beside, textcoords="offset points", weight="bold")
    axes.text(-0.06, 0.78, "The ring: two ways from WORLD to NOM at the end", size=10)
    axes.set(xlim=(-0.08, 1.5), ylim=(-0.16, 0.84))


def _draw_signs(axes: Any) -> None:
    """NOM with its x axis towards a surface, as a tool that presses."""
    nom = _matrix((0.3, 0.32, -90.0))
    axes.fill_between([0.0, 0.7], [-0.06, -0.06], [0.1, 0.1], color=GREY, alpha=0.35, lw=0)
    axes.plot([0.3, 0.3], [0.5, 0.1], color=GREY, lw=9, alpha=0.5, solid_capstyle="butt")
    _frame(axes, nom, 0.12)
    rows = (
        ((0.3, 0.1), (0.3, -0.04), VERMILION, "measured wrench: of the tool on the surface, positive here"),
        ((0.14, 0.34), (0.14, 0.2), BLUE, "setpoint above the measured: the tool moves on"),
        ((0.52, 0.2), (0.52, 0.34), PURPLE, "setpoint below it: the tool yields"),
        ((0.6, 0.44), (0.6, 0.58), ORANGE, "force on the hand: minus the wrench"),
    )
    for begin, end, colour, _ in rows:
        _arrow(axes, np.array(begin), np.array(end), colour)
    for i, (_, _, colour, text) in enumerate(rows):
        axes.text(0.0, -0.12 - 0.06 * i, text, color=colour)
    axes.annotate("NOM", (0.3, 0.32), (8, 4), textcoords="offset points", weight="bold")
    axes.text(0.0, 0.64, "Signs: x of NOM points into the surface", size=10)
    axes.set(xlim=(-0.02, 0.98), ylim=(-0.36, 0.7))


def _matrix(place: tuple[float, float, float]) -> FloatArray:
    """Transform (3, 3) of the plane from x, y [m] and angle [degrees]."""
    x, y, angle = place[0], place[1], np.radians(place[2])
    return np.array([[np.cos(angle), -np.sin(angle), x], [np.sin(angle), np.cos(angle), y], [0.0, 0.0, 1.0]])


def _frame(axes: Any, T: FloatArray, length: float = LENGTH) -> None:
    for column, colour in enumerate((VERMILION, GREEN)):
        _arrow(axes, T[:2, 2], T[:2, 2] + length * T[:2, column], colour, 1.8)


def _arrow(axes: Any, begin: FloatArray, end: FloatArray, colour: str, width: float = 1.2) -> None:
    style = {"arrowstyle": "-|>", "color": colour, "lw": width, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", end, begin, arrowprops=style)
    axes.plot(*np.array([begin, end]).T, alpha=0.0)  # for the limits of the axes
