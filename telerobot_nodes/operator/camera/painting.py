"""A picture with its overlay painted into it, as a still."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

from telerobot_nodes.core.camera import decode
from telerobot_nodes.operator.camera.overlay import Mark

FILL = 56  # [-] of 255, opacity of an area
TITLE = (230, 233, 239)


def paint(picture: bytes, marks: Sequence[Mark], title: str = "") -> bytes:
    """The picture as PNG, with marks and a title. Raises InvalidValueError for a picture that is damaged."""
    from PIL import Image, ImageDraw

    still = Image.fromarray(decode(picture)).convert("RGBA")
    for mark in marks:
        layer = Image.new("RGBA", still.size)
        _draw(ImageDraw.Draw(layer), mark)
        still.alpha_composite(layer)
    pen = ImageDraw.Draw(still)
    pen.text((8, 6), title, fill=TITLE, stroke_width=2, stroke_fill=(0, 0, 0))
    buffer = io.BytesIO()
    still.convert("RGB").save(buffer, "PNG")
    return buffer.getvalue()


def _draw(pen: Any, mark: Mark) -> None:
    points = [(float(x), float(y)) for x, y in mark.pixels]
    if mark.form == "area":
        pen.polygon(points, fill=(*mark.colour, FILL), outline=(*mark.colour, 255))
    elif mark.form == "line":
        pen.line(points, fill=(*mark.colour, 255), width=3, joint="curve")
    else:
        x, y = points[0]
        pen.ellipse((x - 4, y - 4, x + 4, y + 4), fill=(*mark.colour, 255))
